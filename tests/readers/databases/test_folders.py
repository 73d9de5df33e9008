"""A private copy does not outlive the process that made it for longer than until the next one."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from keepset.readers.databases.folders import private_folder

PREFIX = "keepset-audit-"
CHILD = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from keepset.readers.databases.folders import private_folder
with private_folder("keepset-audit-") as folder:
    (folder / "copy.sqlite").write_text("private")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def among(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_what_was_killed_leaves_nothing_behind_once_the_next_one_comes(among: Path) -> None:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", CHILD, str(among)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as child:
        assert child.stdout is not None
        left = Path(child.stdout.readline().strip())
        with private_folder(PREFIX) as own:
            assert left.is_dir(), "it is in use"
            assert own != left
            assert own.stat().st_mode & 0o077 == 0
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert (left / "copy.sqlite").exists()
        with private_folder(PREFIX):
            assert not left.exists()
    assert list(among.iterdir()) == []


def test_nothing_else_is_removed(among: Path, tmp_path: Path) -> None:
    other = among / f"{PREFIX}of-somebody"
    other.mkdir()
    (other / "notes").write_text("without a lock, so it is none of ours")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".in-use").touch()
    (elsewhere / "data").touch()
    (among / f"{PREFIX}link").symlink_to(elsewhere)
    with private_folder(PREFIX):
        assert (other / "notes").exists()
        assert (elsewhere / "data").exists()
