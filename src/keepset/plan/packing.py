"""From steps to rows and back: how differences lie in a step row and in a segment.

A step row holds ``{field: difference}`` as one packed mapping whose values are bytes, so that a
writer can take the differences apart again without decoding them. A segment holds the differences
of one field over some steps as ``[gaps between seqs, differences]`` in one zstd frame, decoded
in one call. The headers of packed steps lie in a segment of their own, column by column, since
columns compress better than rows.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

from keepset.codec import Codec, array_header, compress, decompress
from keepset.errors import DecodeError, IntegrityError
from keepset.plan.rows import HEADER, SegmentRow, StepRow, WriteRow

STEPS_PER_SEGMENT = 64
"""How many steps are packed together; the newest step is never packed."""

BYTES_PER_SEGMENT = 8 << 20
"""Steps are packed earlier where their differences take more than this."""

SEGMENT_LIMIT = 1 << 30
"""The most bytes that a segment may unpack to."""

_PLAIN = Codec()
_RAW = b"\x00"


@dataclass(frozen=True, slots=True)
class Difference:
    """One field's difference in one step.

    Attributes:
        op: The difference, packed.
        base: Seq of the whole value that it stands on.
        previous: Seq of the field's difference before this one, 0 for none. A reader compares
            it, so that a row that is missing is noticed.
    """

    op: bytes
    base: int
    previous: int


@dataclass(frozen=True, slots=True)
class TailStep:
    """An unpacked step as its writer remembers it.

    Attributes:
        row: The step's row, without its changes.
        changes: The differences by field.
        size: Bytes of the differences.
    """

    row: StepRow
    changes: Mapping[str, Difference]
    size: int


def is_full(tail: Sequence[TailStep]) -> bool:
    """Tell whether it is time to pack the unpacked steps."""
    if len(tail) >= STEPS_PER_SEGMENT:
        return True
    return sum([step.size for step in tail]) > BYTES_PER_SEGMENT


def remembered(row: StepRow, changes: Mapping[str, Difference]) -> TailStep:
    """Remember a step; its differences are kept once, apart from each other."""
    return TailStep(replace(row, changes=b""), changes, len(row.changes))


def step_digest(row: StepRow) -> bytes:
    """Digest over all of a step row but the digest itself: SHA-256, 16 bytes."""
    head = [row.seq, row.checkpoint, row.parent, row.name, row.status, row.at]
    return _digest(_PLAIN.pack(head), row.metadata, row.changes)


def segment_digest(row: SegmentRow) -> bytes:
    """Digest over all of a segment row but the digest itself: SHA-256, 16 bytes."""
    return _digest(_PLAIN.pack([row.field, row.first, row.last, row.base]), row.data)


def _digest(*parts: bytes) -> bytes:
    state = hashlib.sha256()
    for part in parts:
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.digest()[:16]


def join_changes(seq: int, changes: Mapping[str, Difference]) -> bytes:
    """Put a step's differences together; no bytes where nothing changed."""
    if not changes:
        return b""
    return _PLAIN.pack({n: [seq - change.previous, change.op] for n, change in changes.items()})


def split_changes(row: StepRow) -> dict[str, tuple[int, bytes]]:
    """Take a step's differences apart: for each field the seq before, and the difference.

    Raises:
        IntegrityError: The row is not what its digest says, or not a mapping of differences.
    """
    check_step(row)
    if not row.changes:
        return {}
    changes = _PLAIN.unpack(row.changes)
    if type(changes) is not dict or not all(map(_is_linked, changes.values())):
        raise _damaged(f"step {row.seq}")
    return {name: (row.seq - gap, op) for name, (gap, op) in changes.items()}


def _is_linked(change: object) -> bool:
    return type(change) is list and list(map(type, change)) == [int, bytes]


def check_step(row: StepRow) -> None:
    """Compare a step row with its digest.

    Raises:
        IntegrityError: They do not match.
    """
    if step_digest(row) != row.digest:
        raise _damaged(f"step {row.seq}")


def frame(data: bytes, *, compressed: bool) -> bytes:
    """Wrap bytes for a segment or a large value: a zstd frame, or a zero byte and the bytes."""
    return compress(data) if compressed else _RAW + data


def unframe(data: bytes, limit: int) -> bytes:
    """Give back what `frame` wrapped.

    Raises:
        DecodeError: It is neither, or larger than `limit` bytes.
    """
    return data[1:] if data[:1] == _RAW else decompress(data, limit)


def pack_segments(tail: Sequence[TailStep], *, compressed: bool) -> tuple[SegmentRow, ...]:
    """Pack steps into one segment for each field that changed in them, and one for the headers.

    Args:
        tail: The steps, in order of seq; at least one.
        compressed: Whether the segments are zstd frames.
    """
    columns: dict[str, list[tuple[int, Difference]]] = {}
    for step in tail:
        for name, difference in step.changes.items():
            columns.setdefault(name, []).append((step.row.seq, difference))
    rows = [step.row for step in tail]
    segments = [_headers_segment(rows, sorted(columns), compressed=compressed)]
    for name, column in columns.items():
        seqs = [seq for seq, _ in column]
        ops = [difference.op for _, difference in column]
        links = _PLAIN.pack(_gaps(seqs)) + _PLAIN.pack(seqs[0] - column[0][1].previous)
        body = b"".join((array_header(3), links, array_header(len(ops)), *ops))
        segments.append(_segment(name, seqs, column[0][1].base, frame(body, compressed=compressed)))
    return tuple(segments)


def _segment(name: str, seqs: Sequence[int], base: int, data: bytes) -> SegmentRow:
    row = SegmentRow(name, seqs[0], seqs[-1], base, data, b"")
    return SegmentRow(row.field, row.first, row.last, row.base, row.data, segment_digest(row))


@dataclass(frozen=True, slots=True)
class FieldSegment:
    """One field's differences over some steps, unpacked.

    Attributes:
        previous: Seq of the field's difference before the first one here, 0 for none.
        pairs: Seq and difference, in order of seq.
        each: Bytes of a difference, on the average.
    """

    previous: int
    pairs: Sequence[tuple[int, list[Any]]]
    each: int


def unpack_segment(row: SegmentRow, codec: Codec) -> FieldSegment:
    """Unpack a field's segment.

    Raises:
        IntegrityError: The row is not what its digest says.
        DecodeError: The codec cannot read a value in it.
    """
    (seqs, gap, ops), size = _columns(row, codec, 3)
    if type(ops) is not list or len(ops) != len(seqs) or type(gap) is not int:
        raise _damaged(_place(row))
    pairs = list(zip(seqs, ops, strict=True))
    return FieldSegment(row.first - gap, pairs, size // len(pairs))


def _columns(row: SegmentRow, codec: Codec, count: int) -> tuple[list[Any], int]:
    if segment_digest(row) != row.digest:
        raise _damaged(_place(row))
    body = unframe(row.data, SEGMENT_LIMIT)
    columns = codec.unpack(body)
    if type(columns) is not list or len(columns) != count:
        raise _damaged(_place(row))
    gaps = columns[0]
    if type(gaps) is not list or not gaps or not all(type(gap) is int for gap in gaps):
        raise _damaged(_place(row))
    seqs = list(accumulate(gaps))
    if seqs[0] != row.first or seqs[-1] != row.last or any(a >= b for a, b in pairwise(seqs)):
        raise _damaged(_place(row))
    return [seqs, *columns[1:]], len(body)


def _headers_segment(
    rows: Sequence[StepRow], names: Sequence[str], *, compressed: bool
) -> SegmentRow:
    seqs = [row.seq for row in rows]
    before = ["", *(row.checkpoint for row in rows[:-1])]
    columns: list[Any] = [
        _gaps(seqs),
        [row.checkpoint for row in rows],
        [
            None if row.parent == prior else row.parent
            for row, prior in zip(rows, before, strict=True)
        ],
        [row.name for row in rows],
        [row.status for row in rows],
        _gaps([row.at for row in rows]),
        [row.metadata for row in rows],
        list(names),
    ]
    return _segment(HEADER, seqs, seqs[0], frame(_PLAIN.pack(columns), compressed=compressed))


def unpack_headers(row: SegmentRow) -> list[StepRow]:
    """Unpack the headers of packed steps, in order of seq; their `changes` are empty.

    Raises:
        IntegrityError: The row is not what its digest says.
        DecodeError: It is not a segment of headers.
    """
    return _headers(row)[0]


def packed_beside(row: SegmentRow) -> list[str]:
    """Name the fields of which segments were packed beside a segment of headers.

    Raises:
        IntegrityError: The row is not what its digest says.
        DecodeError: It is not a segment of headers.
    """
    return _headers(row)[1]


def _headers(row: SegmentRow) -> tuple[list[StepRow], list[str]]:
    columns, _ = _columns(row, _PLAIN, 8)
    if not all(type(column) is list for column in columns):
        raise _damaged(_place(row))
    seqs, ids, parents, names, statuses, gaps, metadata, fields = columns
    lists = (ids, parents, names, statuses, gaps, metadata)
    kinds = (str, str | None, str, str, int, bytes)
    for column, kind in zip(lists, kinds, strict=True):
        if len(column) != len(seqs) or not all(isinstance(item, kind) for item in column):
            raise _damaged(_place(row))
    if not all(type(name) is str for name in fields):
        raise _damaged(_place(row))
    rows = [
        StepRow(seq, own, prior if parent is None else parent, name, status, at, meta, b"", b"")
        for seq, own, parent, prior, name, status, at, meta in zip(
            seqs,
            ids,
            parents,
            ["", *ids[:-1]],
            names,
            statuses,
            accumulate(gaps),
            metadata,
            strict=True,
        )
    ]
    return rows, fields


def all_headers(steps: Iterable[StepRow], segments: Iterable[SegmentRow]) -> list[StepRow]:
    """Give the headers of packed and unpacked steps together, in order of seq.

    Raises:
        IntegrityError: A row is not what its digest says.
        DecodeError: A segment of headers cannot be read.
    """
    headers: list[StepRow] = []
    for segment in segments:
        if segment.field == HEADER:
            headers += unpack_headers(segment)
    for step in steps:
        check_step(step)
        headers.append(step)
    return sorted(headers, key=lambda row: row.seq)


def find_header(
    steps: Sequence[StepRow], segments: Iterable[SegmentRow], checkpoint: str
) -> StepRow | None:
    """Find the header of one checkpoint of a line, unpacking as little as that takes.

    Ids that rise, as those of keepset itself do, are searched by halves; in any other order the
    newest ones are looked at first.

    Args:
        steps: The line's unpacked steps.
        segments: The line's segments.
        checkpoint: The checkpoint's id.

    Raises:
        IntegrityError: A row that was looked at is not what its digest says.
        DecodeError: A segment of headers cannot be read.
    """
    for step in reversed(steps):
        if step.checkpoint == checkpoint:
            check_step(step)
            return step
    packed = sorted((row for row in segments if row.field == HEADER), key=lambda row: row.first)
    at = bisect_right(packed, checkpoint, key=lambda row: unpack_headers(row)[0].checkpoint)
    for segment in [*packed[max(at - 1, 0) : at], *reversed(packed)]:
        for row in unpack_headers(segment):
            if row.checkpoint == checkpoint:
                return row
    return None


def unpack_metadata(row: StepRow, codec: Codec) -> dict[str, Any]:
    """Give the host's metadata of a step."""
    if not row.metadata:
        return {}
    metadata = codec.unpack(row.metadata)
    if type(metadata) is not dict:
        raise DecodeError(
            f"the metadata of step {row.seq} is not a mapping",
            code="decode.metadata",
            hint="Run `keepset verify` to see what else is damaged.",
        )
    return metadata


def _gaps(numbers: Sequence[int]) -> list[int]:
    return [numbers[0], *(b - a for a, b in pairwise(numbers))]


def _place(row: SegmentRow) -> str:
    return f"segment {row.field or 'of headers'} from step {row.first}"


def _damaged(place: str) -> IntegrityError:
    return IntegrityError(
        f"{place} is not what was written",
        code="integrity.digest",
        hint="Run `keepset verify` to see what else is damaged, and restore from a backup.",
    )


def write_digest(row: WriteRow) -> bytes:
    """Digest over all of a pending write but the digest itself: SHA-256, 16 bytes."""
    return _digest(_PLAIN.pack([row.task, row.path, row.index, row.channel]), row.value)


def check_write(row: WriteRow) -> None:
    """Compare a pending write with its digest.

    Raises:
        IntegrityError: They do not match.
    """
    if write_digest(row) != row.digest:
        raise _damaged("a pending write")
