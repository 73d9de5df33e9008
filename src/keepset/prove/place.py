"""The folder of a trial: empty, current, and with a place for temporary files beside it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_WORLD = "world"


def place() -> Path:
    """Give the folder of the trial that is under way; the current folder where there is none."""
    here = Path.cwd()
    return here.parent if here.name == _WORLD else here


def enter(folder: Path) -> None:
    """Make the empty folder of a trial and go there."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / _WORLD).mkdir(parents=True)
    (folder / "tmp").mkdir()
    os.chdir(folder / _WORLD)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")


@contextmanager
def entered() -> Iterator[None]:
    """Be in the empty folder of a trial for a while; afterwards all is as it was."""
    before = Path.cwd(), tempfile.tempdir, os.environ.get("TMPDIR")
    folder = Path(tempfile.mkdtemp(prefix="keepset-prove-"))
    try:
        enter(folder / "trial")
        yield
    finally:
        os.chdir(before[0])
        tempfile.tempdir = before[1]
        os.environ.pop("TMPDIR", None)
        if before[2] is not None:
            os.environ["TMPDIR"] = before[2]
        shutil.rmtree(folder, ignore_errors=True)
