"""Write runs to a file of JSON, a line for each checkpoint."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final, TypedDict

from keepset.adapters.jsonl.values import spelled
from keepset.adapters.moved import Moved, Outcome
from keepset.backends.driver import drive
from keepset.contracts import contract, contract_of
from keepset.errors import ConflictError, KeepsetError, StoreError, UsageError
from keepset.plan.guard import Guard
from keepset.plan.headers import unpack_metadata
from keepset.plan.requests import Flow
from keepset.readers.databases.files import is_sqlite
from keepset.run.entering import Entering
from keepset.run.hosted import HostReader, Known, Stored, Surface
from keepset.run.hosted.walking import Walk, loaded, walk
from keepset.run.reporting import Report
from keepset.run.services import Services
from keepset.run.stored import contract_row
from keepset.store import Store

_PAGE: Final = 16
_ATTEMPTS: Final = 8
_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK})
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
            return Moved(run_id, Outcome.UNREAD, why="there is no such run")
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
        UsageError: ``export.file-there``, ``export.own-store``.
        StoreError: ``export.target``: it cannot be written.
    """
    path = Path(place)
    _require_other(path)
    if path.exists() and not replaces:
        raise _there(path)
    if not is_applied:
        yield Lines(store.services, None)
        return
    try:
        # A name that nobody has: what was killed may have left one, and ids of processes come again
        handle, name = tempfile.mkstemp("", f"{path.name}.part-", path.absolute().parent)
        part = Path(name)
        try:
            with open(handle, "wb") as file:  # noqa: PTH123 - a descriptor
                yield Lines(store.services, file)
                file.flush()
                os.fsync(file.fileno())
            _land(part, path, replaces=replaces)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"the target cannot be written: {error.strerror}",
            code="export.target",
            hint="Nothing is half there: look at its folder, and at the room on its disk.",
        ) from error


def _land(part: Path, path: Path, *, replaces: bool) -> None:
    """Give a file its name, in one step; one that has come there meanwhile is not replaced."""
    if replaces:
        part.replace(path)
        return
    try:
        path.hardlink_to(part)
    except FileExistsError as error:
        raise _there(path) from error
    except OSError as error:  # a file system without such links
        if error.errno not in _NO_LINKS or path.exists():
            raise
        part.replace(path)


def _require_other(path: Path) -> None:
    """Refuse a database, which is the store itself or as dear as one: --replace means lines."""
    if path.is_file() and is_sqlite(path):  # of a pipe there may be nothing to read, ever
        raise UsageError(
            f"{path} is a database of SQLite's",
            code="export.own-store",
            hint="Name another file: lines of JSON go into one of their own.",
        )


def _there(path: Path) -> UsageError:
    return UsageError(
        f"{path} is there already",
        code="export.file-there",
        hint="Name another file, or say --replace.",
    )
