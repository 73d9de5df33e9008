"""The rules that a proof recommends are written into the module whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.terminal import start

MODULE = '''"""A workflow."""  # kept as it is
from typing import TypedDict

import keepset as ks


class Sum(TypedDict, total=False):
    word: str
    size: int
    answer: str


def count(state: Sum) -> Sum:
    return {"size": len(state["word"])}


def say(state: Sum) -> Sum:
    return {"answer": "x" * len(state["word"])}


flow = ks.Workflow(Sum, steps=[count, say])
'''
WORDS = ("prove", "summing:flow", "--jobs", "1", "--input", '{"word": "w"}', "--output", "answer")


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "code" / "summing_of_ours.py"
    path.parent.mkdir()
    path.write_text(MODULE)
    path.chmod(0o640)
    (tmp_path / "summing.py").symlink_to(path)
    return path


def test_who_reads_the_module_meanwhile_reads_all_of_the_old_or_all_of_the_new(
    module: Path, tmp_path: Path
) -> None:
    with module.open() as reading:
        assert reading.read(10) == MODULE[:10]
        said = start(*WORDS, "--write-contract", "--apply", folder=tmp_path)
        assert said.code == 0, said.err
        assert reading.read() == MODULE[10:]
    after = module.read_text()
    assert "size: Annotated[int, ks.Drop()]" in after
    assert after.startswith('"""A workflow."""  # kept as it is\n')
    assert module.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "summing.py").is_symlink()
    assert [one.name for one in module.parent.glob(".*")] == []


def test_without_apply_it_is_shown_and_the_module_stays(module: Path, tmp_path: Path) -> None:
    said = start(*WORDS, "--write-contract", folder=tmp_path)
    assert "+    size: Annotated[int, ks.Drop()]" in said.err
    assert module.read_text() == MODULE


def test_a_class_that_cannot_be_edited_is_told_before_anything_is_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    body = MODULE.replace("    return", f'    open({str(ran)!r}, "w").close()\n    return')
    (tmp_path / "summing.py").write_text(f"exec({body!r})\n")
    refused = start(*WORDS, "--write-contract", folder=tmp_path)
    assert (refused.code, "[source.no-class]" in refused.err) == (2, True)
    assert not ran.exists()


def test_a_page_is_not_written_over_the_module_that_is_changed(
    module: Path, tmp_path: Path
) -> None:
    words = ("--write-contract", "--apply", "--html", module, "--replace")
    refused = start(*WORDS, *words, folder=tmp_path)
    assert (refused.code, "[file.twice]" in refused.err) == (2, True)
    assert module.read_text() == MODULE


def test_written_out_to_a_file_that_is_there_it_has_to_be_said(
    module: Path, tmp_path: Path
) -> None:
    there = tmp_path / "state.py"
    there.write_text("mine")
    refused = start(*WORDS, "--write-contract", there, folder=tmp_path)
    assert (refused.code, "[file.there]" in refused.err) == (2, True)
    assert there.read_text() == "mine"
    said = start(*WORDS, "--write-contract", there, "--replace", folder=tmp_path)
    assert said.code == 0, said.err
    assert "class Sum" in there.read_text()
    assert module.read_text() == MODULE
