"""Bytes: of files, of what goes to the disk, and the fewest that a history can be packed into."""

from __future__ import annotations

import lzma
import resource
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from keepset.cli.bench.workload import History
from keepset.codec import Codec

COMPANIONS = ("", "-wal", "-shm", "-journal")
"""What follows the path of a SQLite database in the names of its files."""
_COUNTERS = Path("/proc/self/io")
_BLOCK = 512


def settle(path: Path) -> int:
    """Move the log into the database, cut it to nothing, and give the bytes that are left.

    What is free inside the database counts: nothing is vacuumed.
    """
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return size(path)


def size(path: Path) -> int:
    """Give the bytes of a database and its companion files."""
    files = (path.with_name(path.name + companion) for companion in COMPANIONS)
    return sum(file.stat().st_size for file in files if file.exists())


def written() -> tuple[int, str] | None:
    """Give the bytes that this process has sent to the disk so far, and who counted them.

    Linux counts a page of a file each time it turns from clean to changed; ``/proc/self/io`` and,
    where that may not be read, `resource.getrusage` tell the same count (see proc(5)). Other
    systems count operations, not bytes: None there.
    """
    if not sys.platform.startswith("linux"):
        return None
    try:
        lines = _COUNTERS.read_text("ascii").splitlines()
    except OSError:
        blocks = resource.getrusage(resource.RUSAGE_SELF).ru_oublock
        return blocks * _BLOCK, "getrusage"
    counted = dict(line.split(": ") for line in lines)
    return int(counted["write_bytes"]), "/proc/self/io"


def changed(history: History) -> Iterator[bytes]:
    """Give the packed bytes of all that a history says: its start, then each step's change."""
    codec = Codec()
    yield codec.pack(history.start)
    for change in history.changes:
        yield codec.pack(dict(change))


def floor(history: History) -> tuple[int, int]:
    """Give the bytes of all that changed, and of it in one piece as ``xz -9e`` packs it.

    No saver can reach that: it packs the whole history at once, when all of it is known.
    """
    everything = b"".join(changed(history))
    packed = lzma.compress(everything, preset=9 | lzma.PRESET_EXTREME)
    return len(everything), len(packed)
