"""A reader of stores in SQLite that knows nothing of keepset but its documentation.

docs/sqlite.md, docs/differences.md and docs/codec.md are all that it is written from. An extension
of the codec stays what it is: a number and bytes.
"""

from __future__ import annotations

import itertools
import sqlite3
import uuid
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import ormsgpack
import zstandard

MISSING: Any = object()
WHOLE, ABSENT, LIST, MAP, TEXT, INSIDE, ALL, BLOB, PLACE = range(9)
BUNDLE = -2147483648
REFERENCE = 14


class Ext(NamedTuple):
    """A value that MessagePack has no type for."""

    number: int
    data: bytes


class Header(NamedTuple):
    """What is said of a checkpoint."""

    seq: int
    id: str
    parent: str
    name: str
    status: str
    at: int
    metadata: Any


class Line(NamedTuple):
    """One line of a run's history."""

    id: int
    namespace: str
    branch: int
    parent: int | None
    parent_seq: int
    depth: int


def unpack(data: bytes) -> Any:
    return ormsgpack.unpackb(data, ext_hook=Ext)


def unframe(data: bytes) -> bytes:
    return data[1:] if data[:1] == b"\0" else zstandard.decompress(data)


class Store:
    """A file."""

    def __init__(self, path: str) -> None:
        self._db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        assert self._one("PRAGMA application_id") == 0x6B736574
        self.version = self._one("PRAGMA user_version")

    def _one(self, sql: str, *given: Any) -> Any:
        return self._db.execute(sql, given).fetchone()[0]

    def runs(self) -> list[tuple[str, str]]:
        return self._db.execute("SELECT tenant, run_id FROM run").fetchall()

    def run(self, tenant: str, run_id: str) -> Run:
        sql = "SELECT id FROM run WHERE tenant = ? AND run_id = ?"
        return Run(self._db, self._one(sql, tenant, run_id))

    def close(self) -> None:
        self._db.close()


class Run:
    """One run, all of whose rows are read at once."""

    def __init__(self, db: sqlite3.Connection, number: int) -> None:
        self._db, self._number = db, number
        sql = "SELECT id, namespace, branch, parent, parent_seq, depth FROM line WHERE run = ?"
        self.lines = {row[0]: Line(*row) for row in db.execute(sql, (number,))}
        self.headers: dict[int, list[Header]] = {}
        self._ops: dict[int, dict[str, dict[int, bytes]]] = {}
        for line in self.lines:
            self._read(line)

    def _read(self, line: int) -> None:
        headers: dict[int, Header] = {}
        ops: dict[str, dict[int, bytes]] = defaultdict(dict)
        for field, first, body in self._segments(line):
            if field:
                gaps, _, packed = _three(body)
                ops[field] |= zip(itertools.accumulate(gaps), packed, strict=True)
            else:
                headers |= {one.seq: one for one in _headers(unpack(body))}
            assert first in (ops[field] if field else headers)
        sql = (
            "SELECT id & 4294967295, checkpoint, parent, name, status, at, metadata, changes"
            " FROM step WHERE id >> 32 = ? ORDER BY id"
        )
        for row in self._db.execute(sql, (line,)):
            *head, metadata, changes = row
            headers[row[0]] = Header._make([*head, unpack(metadata) if metadata else {}])
            for name, (_, op) in _changes(changes).items():
                ops[name][row[0]] = op
        self.headers[line] = [headers[seq] for seq in sorted(headers)]
        self._ops[line] = ops

    def _segments(self, line: int) -> Iterator[tuple[str, int, bytes]]:
        sql = "SELECT field, first, start, data FROM segment WHERE line = ? ORDER BY field, first"
        group: list[tuple[int, bytes]] = []
        known: tuple[str, int] | None = None
        for field, first, start, data in self._db.execute(sql, (line,)):
            if (field, start) != known:
                known, group = (field, start), []
            body = _refer(data, first, group) if data[:1] == b"\1" else unframe(data)
            group.append((first, body))
            yield field, first, body

    # --- states -----------------------------------------------------------------------------------

    def state(self, line: int, seq: int) -> dict[str, Any]:
        """Give what all fields are at a position of a line."""
        found: dict[str, list[bytes]] = defaultdict(list)
        for own, until in reversed([*self._past(line, seq)]):
            for name, ops in self._ops[own].items():
                found[name] += [ops[at] for at in sorted(ops) if at <= until]
        values = {name: self._value([unpack(op) for op in ops]) for name, ops in found.items()}
        return {name: value for name, value in values.items() if value is not MISSING}

    def _past(self, line: int, seq: int) -> Iterator[tuple[int, int]]:
        while True:
            yield line, seq
            row = self.lines[line]
            if row.parent is None or row.depth == 0:
                return
            line, seq = row.parent, min(seq, row.parent_seq)

    def _value(self, ops: list[Any]) -> Any:
        alone = [at for at, op in enumerate(ops) if op[0] in (WHOLE, ABSENT, BLOB)]
        value = MISSING
        for op in ops[alone[-1] :] if alone else ():
            value = self._apply(value, op)
        return value

    def _apply(self, value: Any, op: list[Any]) -> Any:
        code, *parts = op
        if code in (WHOLE, PLACE):
            return self._placed(parts.pop(0) if code == WHOLE else value, parts)
        if code in (LIST, TEXT):
            return _spliced(value, parts)
        if code == MAP:
            return _mapped(value, *parts)
        if code in (ABSENT, BLOB):
            return self._large(parts[0]) if code == BLOB else MISSING
        if code == INSIDE:
            for key, part in zip(parts[::2], parts[1::2], strict=True):
                value[key] = self._apply(value[key], part)
            return value
        assert code == ALL
        for part in parts:
            value = self._apply(value, part)
        return value

    def _placed(self, value: Any, parts: list[Any]) -> Any:
        for key, reference in zip(parts[::2], parts[1::2], strict=True):
            value[key] = self._large(reference)
        return value

    def _large(self, reference: Ext) -> Any:
        assert reference.number == REFERENCE
        return unpack(self._bytes(reference.data[8:]))

    def _bytes(self, digest: bytes) -> bytes:
        sql = "SELECT data FROM blob WHERE run = ? AND digest = ?"
        (data,) = self._db.execute(sql, (self._number, digest)).fetchone()
        if data[:1] != b"\1":
            return unframe(data)
        parts = unpack(unframe(data[1:]))
        return b"".join(p if isinstance(p, bytes) else self._bytes(p[0]) for p in parts)

    # --- pending writes ---------------------------------------------------------------------------

    def writes(self, line: int, seq: int) -> list[tuple[str, str, int, str, Any]]:
        """Give what tasks wrote after a checkpoint: task, path, ordinal, channel, value."""
        found: dict[tuple[str, int], Any] = {}
        sql = "SELECT value FROM write WHERE step >> 32 = ? AND ordinal = ?"
        for (value,) in self._db.execute(sql, (line, BUNDLE)):
            for at, task, *row in unpack(unframe(value)):
                if at == seq:
                    name = str(uuid.UUID(bytes=task)) if isinstance(task, bytes) else task
                    found[name, row[1]] = (name, *row)
        sql = "SELECT task, path, ordinal, channel, value FROM write WHERE step = ?"
        for own in self._db.execute(sql, (line << 32 | seq,)):
            key = (own[0], own[2])
            if own[2] != BUNDLE and (own[2] < 0 or key not in found):
                found[key] = own
        rows = sorted(found.values(), key=lambda row: (row[1], row[0], row[2]))
        return [(*row[:4], self._written(line, seq, row[3], row[4])) for row in rows]

    def _written(self, line: int, seq: int, channel: str, value: bytes) -> Any:
        if value[:2] == b"\xc1\xc1":
            gap, *place = unpack(value[2:])
            held = self.state(line, seq + gap)[channel]
            if not place:
                return held
            start, *count = place
            return held[start : start + count[0]] if count else held[start]
        return self._large(unpack(value[1:])) if value[:1] == b"\xc1" else unpack(value)


def _refer(data: bytes, first: int, group: list[tuple[int, bytes]]) -> bytes:
    back, size = int.from_bytes(data[1:5], "big"), int.from_bytes(data[5:9], "big")
    content = b"".join(body for begin, body in group if begin >= first - back)[:size]
    known = zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdDecompressor(dict_data=known).decompress(data[9:])


def _three(body: bytes) -> tuple[list[int], int, list[bytes]]:
    gaps, gap, ops = unpack(body)
    return gaps, gap, [_pack(op) for op in ops]


def _pack(value: Any) -> bytes:
    """Pack again, so that each reader of an op has one of its own."""
    options = ormsgpack.OPT_PASSTHROUGH_TUPLE
    return ormsgpack.packb(value, lambda ext: ormsgpack.Ext(ext.number, ext.data), options)


def _changes(data: bytes) -> dict[str, Any]:
    if not data:
        return {}
    found: dict[str, Any] = unpack(zstandard.decompress(data) if data[:1] == b"\x28" else data)
    return found


def _headers(columns: list[Any]) -> Iterator[Header]:
    gaps, ids, parents, names, statuses, times, metadata, _ = columns
    seqs, at = [*itertools.accumulate(gaps)], [*itertools.accumulate(times)]
    if isinstance(ids, bytes):
        ids = [ids[start : start + 10] for start in range(0, len(ids), 10)]
    before = ""
    for number, own in enumerate(ids):
        name = own
        if isinstance(own, bytes):
            raw = at[number].to_bytes(6, "big") + own if len(own) == 10 else own
            name = str(uuid.UUID(bytes=raw))
        parent = before if parents[number] is None else parents[number]
        said = unpack(metadata[number]) if metadata[number] else {}
        yield Header(seqs[number], name, parent, names[number], statuses[number], at[number], said)
        before = name


def _spliced(value: Any, parts: list[Any]) -> Any:
    made, reached = value[:0], 0
    for at in range(0, len(parts), 3):
        position, deleted, put = parts[at : at + 3]
        made = made + value[reached:position] + put
        reached = position + deleted
    return made + value[reached:]


def _mapped(
    value: dict[str, Any], gone: list[str], sets: dict[str, Any], last: list[str] | None = None
) -> dict[str, Any]:
    for key in gone:
        del value[key]
    value.update(sets)
    for key in last or ():
        value[key] = value.pop(key)
    return value
