"""The contract that an audit writes is sound, type-checks, and says why at each field."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from keepset.audit.report import Audit
from keepset.cli.audit.contract import contract_text, write_contract
from keepset.errors import UsageError
from keepset.providers.files import Wanted
from keepset.readers.ports import Foreign
from tests.audit import naive
from tests.audit.memory import MemoryReader
from tests.audit.test_survey import Rows, audit, state
from tests.cli.terminal import start


def odd() -> Audit:
    """Fields of every kind, and with names that no class could have."""
    response = {"choices": [{"message": {"content": "x"}}], "usage": {"total_tokens": 3}}
    plain = {"count": 3, "price": 1.5, "done": True, "data": b"x", "maybe": None, "tags": ["a"]}
    objects = {"order": Foreign("app.Order", {"id": 1}), "answer": response}
    names = {"class": "x", 'a"""b': "x", "load_docs": "x"}
    left = {"client": "<httpx.Client object at 0x7f00aa11bb22>"}
    values = {**plain, **objects, **names, **left}
    return audit(Rows(*(state("a", 0, name, value) for name, value in values.items())))


def test_it_passes_check_and_a_strict_type_checker(tmp_path: Path) -> None:
    for name, found in (("odd", odd()), ("naive", audit(MemoryReader(naive.saver())))):
        write_contract(found, Wanted(tmp_path / f"{name}_state.py"))
        said = start("check", f"{name}_state:State", folder=tmp_path)
        assert (said.code, said.out) == (0, "State, unversioned: 0 errors, 0 warnings\n")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", tmp_path],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert checked.returncode == 0, checked.stdout


def test_each_field_has_the_rule_of_its_verdict_and_the_reason_above_it() -> None:
    text = contract_text(audit(MemoryReader(naive.saver())))
    for rule in (
        r"question: Annotated\[str, ks.Keep\(\)\]",
        r"doc_ids: Annotated\[list\[Any\], ks.Keep\(max_bytes=4_096\)\]",
        r'docs: Annotated\[list\[Any\], ks.Refetch\(load_docs, using="doc_ids"\)\]',
        r"db: Annotated\[str, ks.Reopen\(open_db\)\]",
        r'api_key: Annotated\[str, ks.Secret\("env:API_KEY"\)\]',
        r"workdir: Annotated\[str, ks.Scratch\(make_workdir\)\]",
        r'messages: .* ks.Keep\(max_bytes=4_096, without=\("\*.response_metadata", ',
    ):
        assert re.search(rf"    # .*\n    {rule}", text), rule
    assert "large (20.3 KB), and fetched again from doc_ids" in text
    assert naive.KEY not in text


def test_a_whole_model_response_is_extracted_from() -> None:
    assert 'ks.Extract("choices[0].message.content")' in contract_text(odd())


def test_an_object_of_a_class_is_any_whatever_it_is_made_of() -> None:
    text = contract_text(odd())
    assert "    order: Annotated[Any, ks.Keep()]" in text
    assert "    tags: Annotated[list[Any], ks.Keep(max_bytes=4_096)]" in text
    assert "    price: Annotated[float, ks.Keep()]" in text


def test_the_budget_of_a_collection_is_some_times_the_largest_that_was_met() -> None:
    rows = [state("a", step, "log", ["x"], size=size) for step, size in enumerate((9_000, 70_000))]
    assert "ks.Keep(max_bytes=524_288)" in contract_text(audit(Rows(*rows)))


def test_a_name_that_no_class_could_have_is_told_in_a_comment() -> None:
    text = contract_text(odd())
    assert "# class cannot be the name of a field" in text
    assert "# a'''b cannot be the name of a field" in text


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "state.py"
    path.write_text("mine", "utf-8")
    with pytest.raises(UsageError) as refused:
        write_contract(odd(), Wanted(path))
    assert refused.value.code == "file.there"
    assert path.read_text("utf-8") == "mine"


def test_a_store_without_state_has_no_contract(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        write_contract(audit(Rows()), Wanted(tmp_path / "state.py"))
    assert refused.value.code == "audit.no-state"
    assert not (tmp_path / "state.py").exists()
