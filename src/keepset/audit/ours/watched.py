"""A store of ours as an audit opens it: to look at, with nothing left beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, TypeVar, cast

from keepset.backends.sqlite import SQLiteBackend, open_sqlite
from keepset.errors import KeepsetError
from keepset.plan.requests import Flow, Read
from keepset.readers.databases.files import Glance

R = TypeVar("R")

_TRIES: Final = 5


class Watched:
    """Executes reads on a store; where somebody begins to write to it, with the log of the writer.

    SQLite would leave a log and its index beside a file that nobody has open. So such a file is
    opened as one that does not change, and looked at after each read.

    Args:
        path: The database.
        is_still: Whether it has no log, so that nobody seems to write it.
    """

    def __init__(self, path: Path, *, is_still: bool) -> None:
        """Open it.

        Raises:
            KeepsetError: It cannot be opened, or is of a newer keepset.
        """
        self._path = path
        self._glance = Glance(path) if is_still else None
        self._backend = self._opened(is_still=is_still)

    def _opened(self, *, is_still: bool) -> SQLiteBackend:
        return open_sqlite(self._path, readonly=True, still=is_still)

    def run(self, flow: Flow[R]) -> R:
        """Run a flow that does nothing but read."""
        try:
            request = next(flow)
            while True:
                request = flow.send(self.execute(cast("Read[Any]", request)))
        except StopIteration as stop:
            result: R = stop.value
            return result

    def execute(self, plan: Read[R]) -> R:
        """Execute a read; what it gives is of one moment.

        Raises:
            KeepsetError: What the plan, or SQLite, raises.
        """
        for _ in range(_TRIES):
            try:
                found = self._backend.execute(plan)
            except KeepsetError:
                if not self._is_written():
                    raise
            else:
                if not self._is_written():
                    return found
            self._open_again()
        return self._backend.execute(plan)

    def _open_again(self) -> None:
        """Open it with the log that a writer has; as one that is still where he has gone again."""
        self._backend.close()
        glance = Glance(self._path)
        self._glance = None if glance.has_log else glance
        self._backend = self._opened(is_still=not glance.has_log)

    def _is_written(self) -> bool:
        return self._glance is not None and self._glance.has_changed()

    def close(self) -> None:
        """Let go of the file."""
        self._backend.close()
