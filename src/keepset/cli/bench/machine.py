"""What was measured on, as far as it bears on the figures; no names and no paths."""

from __future__ import annotations

import os
import platform
import sqlite3
from importlib.metadata import version
from pathlib import Path

from keepset.backends.sqlite.network import file_system

IN_MEMORY = {"tmpfs", "ramfs", "devtmpfs"}
"""File systems on which nothing waits for a disk."""


About = dict[str, str | int | float]
BUSY = 0.5
"""Processes that wait for each processor, from which on what is timed is the waiting."""


def machine(folder: Path) -> About:
    """Tell what bears on the figures.

    Args:
        folder: Where the files are made.
    """
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count() or 1,
        "load_before": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "file_system": file_system(folder),
        "keepset": version("keepset"),
    }


def is_busy(about: About) -> bool:
    """Whether others used the machine in the minute before."""
    return float(about["load_before"]) > BUSY * float(about["cpus"])
