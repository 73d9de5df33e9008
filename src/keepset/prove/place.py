"""The folder of a trial: empty, current, and with a place for temporary files beside it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_WORLD = "world"


_current: Path | None = None


def place() -> Path:
    """Give the folder of the trial that is under way; the current folder where there is none."""
    return _current or Path.cwd()


def enter(folder: Path) -> None:
    """Make the empty folder of a trial and go there."""
    global _current  # noqa: PLW0603 - as the current folder, it is of the process
    shutil.rmtree(folder, ignore_errors=True)
    _current = folder.resolve()
    go_back()
    (folder / "tmp").mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")


def go_back() -> None:
    """Go where a life begins, wherever a step has gone; a folder that was taken away is empty."""
    if _current is not None:
        (_current / _WORLD).mkdir(parents=True, exist_ok=True)
        os.chdir(_current / _WORLD)


@contextmanager
def entered() -> Iterator[None]:
    """Be in the empty folder of a trial for a while; afterwards all is as it was."""
    global _current  # noqa: PLW0603 - the same
    before, current = (Path.cwd(), tempfile.tempdir, os.environ.get("TMPDIR")), _current
    folder = Path(tempfile.mkdtemp(prefix="keepset-prove-"))
    try:
        enter(folder / "trial")
        yield
    finally:
        _current = current
        os.chdir(before[0])
        tempfile.tempdir = before[1]
        os.environ.pop("TMPDIR", None)
        if before[2] is not None:
            os.environ["TMPDIR"] = before[2]
        shutil.rmtree(folder, ignore_errors=True)
