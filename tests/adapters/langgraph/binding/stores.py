"""Look into everything that a store of a test has written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import keepset as ks
from keepset.adapters.langgraph.saver import KeepsetSaver

CONFIG: Any = {"configurable": {"thread_id": "one"}}
DURABILITIES = ("sync", "async", "exit")


@contextmanager
def saver(folder: Path) -> Iterator[KeepsetSaver]:
    """Open a saver on a file in which nothing is compressed."""
    with ks.open(f"sqlite:///{folder / 'graph.db'}", compression=False) as store:
        yield KeepsetSaver(store)


def found(text: str, folder: Path) -> bool:
    """Tell whether a text stands anywhere in the files of a store."""
    return any(text.encode() in path.read_bytes() for path in folder.glob("graph.db*"))
