"""How a person starts this program again, from the folder and in the way that this one was."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

NAME = "keepset"


def words() -> list[str]:
    """Give the words that a command line begins with.

    The bare name is enough where a shell finds this very program by it; else it is the program's
    path, and where there is no such file, this Python and the module.
    """
    script = Path(sys.argv[0])
    if script.name != NAME or not script.is_file():
        script = Path(sys.executable).with_name(NAME)
    if not script.is_file():
        return [nearest(Path(sys.executable)), "-m", "keepset.cli"]
    found = shutil.which(NAME)
    if found and Path(found).samefile(script):
        return [NAME]
    path = nearest(script)
    return [path if os.sep in path else f".{os.sep}{path}"]


def nearest(path: Path) -> str:
    """Write a path as short as it can be: from the current folder where it lies in there."""
    whole, here = path.absolute(), Path.cwd()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole)
