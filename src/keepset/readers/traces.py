"""Files of JSON: one document, a list of them, or one on each line."""

from __future__ import annotations

import io
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, Protocol

import msgspec

from keepset.readers.arrays import Piece, pieces
from keepset.readers.decoding import from_json
from keepset.readers.decoding.bounds import LARGEST
from keepset.readers.decoding.entries import entries
from keepset.readers.ports import Item, Overview, RunFacts, Surface, Unreadable
from keepset.readers.times import time_in

KIND: Final = "json"

_RUN: Final = ("thread_id", "run_id", "session_id")
_STEP: Final = ("step", "index", "ts")
_TIME: Final = ("ts", "timestamp", "created_at", "time")
_SURFACES: Final[dict[str, Surface]] = {
    "error": "error",
    "input": "input",
    "inputs": "input",
    "metadata": "metadata",
}
_ONE_RUN: Final = "(file)"
_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])
_LOOK: Final = 1 << 16
_BEGIN: Final = (b"{", b"[")
_BLANK: Final = b" \t\r\n\xef\xbb\xbf"


@dataclass(slots=True)
class _Run:
    """Where the documents of a run begin, and what is told of them without a second look."""

    places: array[int] = field(default_factory=lambda: array("Q"))
    size: int = 0
    first: float | None = None
    last: float | None = None


class JsonOpener:
    """Recognises files that begin as JSON does."""

    def recognises(self, place: str) -> bool:
        """Tell whether a file begins with an object or a list."""
        try:
            with Path(place).open("rb") as file:
                return file.read(_LOOK).lstrip(_BLANK)[:1] in _BEGIN
        except OSError:
            return False

    @contextmanager
    def open(self, place: str) -> Iterator[JsonReader]:
        """Open a file to read."""
        with Path(place).open("rb") as file:
            yield JsonReader(file, Path(place).stat().st_size)


class JsonReader:
    """Reads documents; those of a run are found by where they begin.

    Of each document eight bytes are kept, and each is read when it is asked for.

    Args:
        file: The file.
        size: Its bytes.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        """Go once over the file to see which runs there are."""
        self._size = size
        self._documents, self._shape = _documents(file, size)
        self._runs = self._found()

    @property
    def kind(self) -> str:
        """JSON."""
        return KIND

    def overview(self) -> Overview:
        """Count documents and runs."""
        number = sum(len(run.places) for run in self._runs.values())
        return Overview(KIND, self._shape, self._size, {"documents": number}, len(self._runs))

    def runs(self) -> Iterator[RunFacts]:
        """Give every run, in the order in which they begin."""
        for name, run in self._runs.items():
            yield RunFacts(name, len(run.places), run.size, run.first, run.last)

    def items(self, run: str) -> Iterator[Item]:
        """Give the entries of each document of a run."""
        if run not in self._runs:
            return
        for number, place in enumerate(self._runs[run].places):
            line = self._documents.read(place)
            named = dict(entries(line) or ())
            written = _written(named)
            step = _step(named, number)
            for name, text in named.items():
                if name in _RUN or name in _STEP:
                    continue
                where = _SURFACES.get(name, "state")
                value = from_json(text)
                yield Item(run, "", step, where, name, len(text), "json", value, written)
            if not named:
                yield Item(run, "", step, "state", "value", len(line), "json", from_json(line))

    def orphans(self) -> Mapping[str, int]:
        """Count lines that are no JSON: they belong to no run that can be told."""
        broken: Counter[str] = Counter()
        for run in self._runs.values():
            for place in run.places:
                if isinstance(from_json(self._documents.read(place)), Unreadable):
                    broken["documents"] += 1
        return broken

    def _found(self) -> dict[str, _Run]:
        found: dict[str, _Run] = {}
        for place, text, size in self._documents.each():
            named = dict(entries(text) or ())
            run = found.setdefault(_name(named), _Run())
            run.places.append(place)
            run.size += size
            if (written := _written(named)) is not None:
                run.first = written if run.first is None else min(run.first, written)
                run.last = written if run.last is None else max(run.last, written)
        return found


class _Documents(Protocol):
    """The documents of a file, each known by where it begins."""

    def each(self) -> Iterator[Piece]:
        """Give all of them; no other is read meanwhile."""
        ...

    def read(self, place: int) -> bytes:
        """Read one; of one that is larger than a value may be, its beginning."""
        ...


class _Lines:
    """One document on each line."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def each(self) -> Iterator[Piece]:
        place = 0
        self._file.seek(0)
        while line := self._file.readline(LARGEST + 2):
            begin, place = place, self._past(line)
            if line.strip():
                yield Piece(begin, line, place - begin)

    def read(self, place: int) -> bytes:
        self._file.seek(place)
        return self._file.readline(LARGEST + 2).rstrip(b"\r\n")

    def _past(self, line: bytes) -> int:
        """Go past a line of which only the beginning was read."""
        while line and not line.endswith(b"\n"):
            line = self._file.readline(LARGEST)
        return self._file.tell()


class _Items:
    """The items of one array, however large it is."""

    def __init__(self, file: BinaryIO, begin: int) -> None:
        self._file = file
        self._begin = begin

    def each(self) -> Iterator[Piece]:
        yield from pieces(self._file, self._begin, LARGEST + 2)

    def read(self, place: int) -> bytes:
        found = next(pieces(self._file, place, LARGEST + 2), None)
        return found.text.strip() if found else b""


def _documents(file: BinaryIO, size: int) -> tuple[_Documents, str]:
    """Give the documents of a file, and tell how they lie in it."""
    first = file.readline(LARGEST)
    is_whole = not isinstance(from_json(first), Unreadable)
    if is_whole and file.tell() < size and file.read(_LOOK).strip():
        return _Lines(file), "one document on each line"
    if size > LARGEST:
        begin = _bracket(file)
        if begin:
            return _Items(file, begin), "a list of documents"
        # what is larger than a value may be is told as one value that cannot be read
        return (
            (_Lines(file), "one document") if is_whole else (_one(b"[too large]"), "one document")
        )
    file.seek(0)
    text = file.read()
    try:
        return _one(*(bytes(one) for one in _LIST.decode(text))), "a list of documents"
    except (msgspec.MsgspecError, RecursionError):
        return _one(text), "one document"


def _bracket(file: BinaryIO) -> int:
    """Give the place behind the bracket with which an array begins; 0 where there is none."""
    file.seek(0)
    head = file.read(_LOOK)
    begin = head.find(b"[") + 1
    return begin if begin and not head[: begin - 1].strip(_BLANK) else 0


def _one(*documents: bytes) -> _Documents:
    """Put documents on lines of their own: JSON has no line ends but between its parts."""
    lines = (one.replace(b"\r", b" ").replace(b"\n", b" ") for one in documents)
    return _Lines(io.BytesIO(b"\n".join(lines) + b"\n"))


def _name(named: Mapping[str, bytes]) -> str:
    for key in _RUN:
        if key in named and (value := from_json(named[key])) not in (None, ""):
            return value if isinstance(value, str) else str(value)[:256]
    return _ONE_RUN


def _step(named: Mapping[str, bytes], number: int) -> str:
    for key in _STEP:
        if key in named:
            value = from_json(named[key])
            if isinstance(value, int):
                return f"{value:015}"
            if isinstance(value, (str, float)):
                return str(value)
    return f"{number:015}"


def _written(named: Mapping[str, bytes]) -> float | None:
    for key in _TIME:
        if key in named and (found := time_in(from_json(named[key]))) is not None:
            return found
    return None
