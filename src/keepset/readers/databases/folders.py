"""Temporary folders that hold what is private, and do not outlive their process for long."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_LOCK: Final = ".in-use"
"""Locked for as long as the process lives, however it ends."""


@contextmanager
def private_folder(prefix: str) -> Iterator[Path]:
    """Give a temporary folder that only this user can read, and remove it at the end.

    A process that is killed cannot remove its own: those of the same name that nobody uses any
    more are removed first.

    Args:
        prefix: What its name begins with, and that of no other kind of folder.
    """
    _sweep(Path(tempfile.gettempdir()), prefix)
    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        lock = os.open(Path(name) / _LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield Path(name)
        finally:
            os.close(lock)


def _sweep(among: Path, prefix: str) -> None:
    """Remove what was left; what cannot be looked at or removed is somebody else's."""
    for folder in among.glob(f"{prefix}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if any(one.name != _LOCK for one in folder.iterdir()):
                    shutil.rmtree(folder)
            finally:
                os.close(lock)
