"""Disks that are small or cannot be written to, where the one who runs the tests may make them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _mount(*arguments: str) -> None:
    program = shutil.which("mount")
    if program is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can mount a disk of its own")
    done = subprocess.run([program, *arguments], capture_output=True, check=False, text=True)
    if done.returncode:
        pytest.skip(f"mounting is not possible here: {done.stderr.strip()}")


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """Mount a disk of some bytes in memory at a folder."""
    _mount("-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)  # noqa: S607 - beside mount


def make_read_only(folder: Path) -> None:
    """Let nobody write to a mounted disk any more."""
    _mount("-o", "remount,ro", str(folder))


@contextmanager
def unwritable(path: Path) -> Iterator[None]:
    """Take away the right to write; from root, who has every right, by a mark on the file."""
    mode = path.stat().st_mode
    if os.geteuid():
        path.chmod(mode & ~0o222)
    else:
        _mark("+i", path)
    try:
        yield
    finally:
        if os.geteuid():
            path.chmod(mode)
        else:
            _mark("-i", path)


def _mark(change: str, path: Path) -> None:
    program = shutil.which("chattr")
    if program is None:
        pytest.skip("there is no chattr to keep root from writing")
    done = subprocess.run([program, change, str(path)], capture_output=True, check=False, text=True)
    if done.returncode:
        pytest.skip(f"files cannot be marked here: {done.stderr.strip()}")
