"""The tracked files of this tree, as the house tests read them."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "keepset"


@cache
def tracked() -> tuple[Path, ...]:
    """Every file that git tracks and that is there, in order."""
    names = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607 - git is where the user has it
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split("\0")
    return tuple(path for name in names if name and (path := ROOT / name).is_file())


def texts() -> list[tuple[str, str]]:
    """Name and text of every tracked file that is text."""
    found = []
    for path in tracked():
        data = path.read_bytes()
        if b"\0" not in data:
            found.append((name(path), data.decode("utf-8", "replace")))
    return found


def name(path: Path) -> str:
    """A file's name from the root of the tree."""
    return path.relative_to(ROOT).as_posix()


@cache
def modules(folder: str) -> tuple[tuple[str, str, ast.Module], ...]:
    """Name, text and syntax tree of every Python file under a folder of the tree."""
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        text = path.read_text("utf-8")
        found.append((name(path), text, ast.parse(text)))
    return tuple(found)


def pages() -> list[Path]:
    """Every page of the documentation that is in the tree, the README first."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
