"""A file that was asked for is there whole or not at all, and nobody else's is lost for it."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from pathlib import Path

import pytest

from keepset.errors import KeepsetError
from keepset.providers.files import Wanted, require_all

WRITER = """
import sys, time
from pathlib import Path
from keepset.providers.files import Wanted
with Wanted(Path(sys.argv[1])).writing() as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""

AS_NOBODY = """
import os, sys
from pathlib import Path
from keepset.providers.files import Wanted
if not os.geteuid():
    os.setgid(65534)
    os.setuid(65534)  # root may do all
Wanted(Path(sys.argv[1])).write("new")
os._exit(0)  # what measures the tests could not write what it has measured
"""


def _refusal(file: Wanted, text: str = "new") -> str:
    with pytest.raises(KeepsetError) as refused:
        file.write(text)
    with pytest.raises(KeepsetError) as before:
        file.require()
    assert before.value.code == refused.value.code
    return refused.value.code


def _names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))  # noqa: PTH208 - hidden files count as well


def _is_ours(begin: bytes) -> bool:
    return begin.startswith(b"ours")


def test_a_file_is_there_when_all_of_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "report"
    with Wanted(path).writing() as file:
        file.write(b"a")
        assert not path.exists()
    assert path.read_bytes() == b"a"
    assert _names(tmp_path) == ["report"]


@pytest.mark.parametrize("replaces", [False, True])
def test_where_it_fails_what_was_there_stays_and_nothing_is_left(
    tmp_path: Path, *, replaces: bool
) -> None:
    path = tmp_path / "report"
    if replaces:
        path.write_text("before")

    def fail() -> None:
        with Wanted(path, replaces=replaces).writing() as file:
            file.write(b"half")
            file.flush()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert _names(tmp_path) == (["report"] if replaces else [])
    assert not replaces or path.read_text() == "before"


def test_a_file_is_replaced_if_that_is_said_or_the_same_command_has_made_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "report"
    path.write_text("ours, of yesterday")
    assert _refusal(Wanted(path)) == "file.there"
    Wanted(path, is_ours=_is_ours).write("somebody's now")
    assert _refusal(Wanted(path, is_ours=_is_ours)) == "file.there"
    assert path.read_text() == "somebody's now"
    Wanted(path, replaces=True, is_ours=_is_ours).write("ours")
    assert path.read_text() == "ours"


def test_a_file_that_comes_there_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "report"

    def write() -> None:
        with Wanted(path, is_ours=_is_ours).writing() as file:
            file.write(b"ours")
            path.write_text("somebody's")

    with pytest.raises(KeepsetError) as refused:
        write()
    assert refused.value.code == "file.there"
    assert (path.read_text(), _names(tmp_path)) == ("somebody's", ["report"])


def test_a_database_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table t (a)")
    before = path.read_bytes()
    assert _refusal(Wanted(path, replaces=True)) == "file.database"
    assert path.read_bytes() == before


def test_a_link_stays_one_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    link, real = tmp_path / "link", tmp_path / "far" / "real"
    link.symlink_to(real)
    Wanted(link).write("new")
    Wanted(link, replaces=True).write("newer")
    assert (link.is_symlink(), real.read_text()) == (True, "newer")
    assert _names(tmp_path / "far") == ["real"]


@pytest.mark.parametrize(("is_private", "mode"), [(False, 0o640), (True, 0o600)])
def test_a_new_file_has_the_usual_rights_or_is_its_owners_alone(
    tmp_path: Path, mode: int, *, is_private: bool
) -> None:
    before = os.umask(0o027)
    try:
        Wanted(tmp_path / "new", is_private=is_private).write("x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == mode


def test_a_file_that_is_replaced_keeps_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("before")
    path.chmod(0o754)
    Wanted(path, replaces=True).write("after")
    assert stat.S_IMODE(path.stat().st_mode) == 0o754


def test_a_pipe_is_written_to_unless_a_plain_file_is_needed(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    Wanted(pipe).write("through")
    reader.join(60)
    assert read == ["through"]
    assert _refusal(Wanted(pipe, is_plain=True)) == "file.cannot-write"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("name", ["none/report", "folder", "file/report"])
def test_a_place_that_takes_no_file_is_told_before(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    assert _refusal(Wanted(tmp_path / name, replaces=True)) == "file.cannot-write"
    assert _names(tmp_path) == ["file", "folder"]


@pytest.mark.parametrize("name", ["x" * 255, "\u4e2d" * 85], ids=["x", "zhong"])
def test_a_file_may_have_as_long_a_name_as_any(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    Wanted(path).write("new")
    assert (path.read_text(), _names(tmp_path)) == ("new", [name])


def test_a_file_is_made_in_a_folder_that_one_may_write_to_and_not_look_into() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # others may reach it
        folder = Path(name)
        folder.chmod(0o333)
        command = [sys.executable, "-c", AS_NOBODY, str(folder / "report")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        folder.chmod(0o700)
        assert (done.stderr, _names(folder)) == ("", ["report"])


def test_what_a_writer_that_was_killed_has_left_is_removed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "report"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "writing\n"
    (mine,) = _names(tmp_path)
    other = tmp_path / ".report.txt.0123456789abcdef.part"
    other.write_text("of another file")
    Wanted(tmp_path / "report", replaces=True).write("first")
    assert mine in _names(tmp_path), "it is still being written"
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    assert mine in _names(tmp_path)
    Wanted(tmp_path / "report", replaces=True).write("second")
    assert _names(tmp_path) == [other.name, "report"]


@pytest.mark.parametrize("step", ["open", "fsync", "link"])
def test_an_interrupt_at_any_step_leaves_nothing_beside_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    taken = getattr(os, step)

    def interrupted(*given: object, **named: object) -> object:
        result = taken(*given, **named)
        if any(name.suffix == ".part" for name in tmp_path.iterdir()):
            signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(os, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        Wanted(tmp_path / "a").write("all of it")
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir() if path.name != "a"] == []


def test_two_things_are_not_written_to_one_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "report")
    with pytest.raises(KeepsetError) as refused:
        require_all([Wanted(tmp_path / "report"), Wanted(tmp_path / "link")])
    assert refused.value.code == "file.twice"
    nothing = Path(os.devnull)
    require_all([Wanted(nothing), Wanted(nothing), Wanted(tmp_path / "report")])
