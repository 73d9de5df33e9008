"""Write runs to a file of JSON, a line for each checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final, TypedDict

from keepset.adapters.jsonl.values import spelled
from keepset.adapters.moved import Moved, Outcome
from keepset.backends.driver import drive
from keepset.contracts import contract, contract_of
from keepset.errors import ConflictError, KeepsetError, StoreError
from keepset.plan.guard import Guard
from keepset.plan.headers import unpack_metadata
from keepset.plan.requests import Flow
from keepset.providers.files import Wanted
from keepset.run.entering import Entering
from keepset.run.hosted import HostReader, Known, Stored, Surface
from keepset.run.hosted.walking import Walk, loaded, walk
from keepset.run.reporting import Report
from keepset.run.services import Services
from keepset.run.stored import contract_row
from keepset.store import Store

_PAGE: Final = 16
_ATTEMPTS: Final = 8
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)


@contract(name="lines")
class _Anything(TypedDict):
    """What is known of a run before it is looked at."""


class Lines:
    """Writes runs to a file.

    A run of which not all could be read leaves nothing in the file.
    """

    def __init__(self, services: Services, file: BinaryIO | None) -> None:
        """Take a file; None for a dry run."""
        self._services = services
        self._file = file
        root = contract_of(_Anything)
        codec = services.inspector
        guard = Guard(services.scanner, codec, services.mode)
        report, entering = Report("lines"), Entering(services, root, codec)
        self._surface = Surface(services, root, guard, report, entering)
        self._root = contract_row(root)

    def run(self, run_id: str) -> Moved:
        """Write one run, and say what became of it.

        Raises:
            StoreError: The store or the file refuses.
        """
        begin = 0 if self._file is None else self._file.tell()
        for left in reversed(range(_ATTEMPTS)):
            try:
                return self._once(run_id)
            except KeepsetError as error:
                self._cut(begin)
                if isinstance(error, StoreError):
                    raise
                if isinstance(error, ConflictError) and left:
                    continue
                return Moved(run_id, Outcome.UNREAD, why=f"{error.message} [{error.code}]")
            except BaseException:
                self._cut(begin)
                raise
        raise AssertionError(run_id)

    def _cut(self, begin: int) -> None:
        if self._file is not None:
            self._file.seek(begin)
            self._file.truncate()

    def _once(self, run_id: str) -> Moved:
        reader = HostReader(Known(self._services, run_id, self._root, bound=False))
        found: Walk | None = self._drive(walk(reader))
        if found is None:
            return Moved(run_id, Outcome.LEFT, why="there is no run of this id")
        size = number = 0
        for part in found.parts(_PAGE):
            for stored in self._drive(loaded(reader, found.run, part, lambda _: self._surface)):
                line = _line(found, number, stored, self._surface)
                size += len(line)
                number += 1
                if self._file is not None:
                    self._file.write(line)
        return Moved(run_id, Outcome.TAKEN, number, size)

    def _drive(self, flow: Flow[Any]) -> Any:
        return drive(flow, self._services.backend)


def _line(found: Walk, number: int, stored: Stored, surface: Surface) -> bytes:
    codec, header, run = surface.guard.codec, stored.header, found.run
    said = unpack_metadata(header, codec)
    made = {
        "run_id": run.key.run_id,
        "index": number,
        "contract": {
            "name": run.contract.name,
            "epoch": run.contract.epoch,
            "shape": run.contract.shape,
        },
        "namespace": stored.line.namespace,
        "line": stored.line.branch,
        "seq": header.seq,
        "checkpoint": header.checkpoint,
        "parent": header.parent,
        "name": header.name,
        "status": header.status,
        "time": _time(header.at),
        "metadata": spelled(codec.pack(said)),
        "state": {name: spelled(codec.pack(value)) for name, value in stored.values.items()},
        "writes": [
            {
                "task": write.task,
                "path": write.path,
                "index": write.index,
                "channel": write.channel,
                "value": spelled(codec.pack(write.value)),
            }
            for write in stored.writes
        ],
    }
    return json.dumps(made, allow_nan=False).encode("ascii") + b"\n"


def _time(at: int) -> str:
    """Write a stored time; one that no calendar has as the first or the last that one has."""
    return (_EPOCH + timedelta(milliseconds=max(0, min(at, _LATEST)))).isoformat()


@contextmanager
def writing(store: Store, place: str, *, is_applied: bool, replaces: bool) -> Iterator[Lines]:
    """Open the file that runs go to; it is there when all of them are in it.

    Args:
        store: The store.
        place: Path of the file.
        is_applied: Whether anything is written.
        replaces: Whether a file that is there is replaced.

    Raises:
        UsageError: ``file.there``, ``file.database``.
        StoreError: ``file.cannot-write``.
    """
    wanted = Wanted(Path(place), replaces=replaces, is_private=True, is_plain=True)
    if not is_applied:
        wanted.require()
        yield Lines(store.services, None)
        return
    with wanted.writing() as file:
        yield Lines(store.services, file)
