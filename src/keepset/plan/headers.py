"""The headers of packed steps: segments of their own, column by column.

Columns compress better than rows. An id that keepset made is a UUIDv7: its time is that of the
step, so that only the other ten bytes are written; of another UUID its 16 bytes are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import sub
from typing import Any

from keepset.codec import Codec, pack_plain
from keepset.errors import DecodeError
from keepset.plan.digests import check_segment, check_step, damaged, place, segment_digest
from keepset.plan.rows import HEADER, SegmentRow, StepRow
from keepset.plan.steps import UNPACKED_LIMIT, frame, header_memory, unframe

_PLAIN = Codec()
_UUID, _SHORT = 16, 10
_TIME = 6
_TEXT = 36
_KINDS = (
    frozenset({str, type(None)}),
    frozenset({str}),
    frozenset({str}),
    frozenset({int}),
    frozenset({bytes}),
)
"""What a parent, a name, a status, a time and the metadata are."""
_TIMES = 3


@dataclass(frozen=True, slots=True)
class PackedHeaders:
    """Headers of packed steps that share a segment.

    Attributes:
        rows: The steps' rows; their `changes` do not count.
        ids: Their ids, as briefly as they can be told again.
        changed: The fields that changed in these steps, each with the seq of its last difference
            in them. A reader looks for a segment of the field with that difference in it.
        memory: Bytes of memory that they take, nearly.
    """

    rows: tuple[StepRow, ...]
    ids: tuple[str | bytes, ...]
    changed: Mapping[str, int]
    memory: int

    @classmethod
    def of(cls, rows: Sequence[StepRow], changed: Mapping[str, int]) -> PackedHeaders:
        """Make headers of steps."""
        ids = tuple([_shorten(row.checkpoint, row.at) for row in rows])
        return cls(tuple(rows), ids, changed, sum(map(header_memory, rows)))

    def with_more(self, more: PackedHeaders) -> PackedHeaders:
        """Add the headers of later steps."""
        rows, ids = (*self.rows, *more.rows), (*self.ids, *more.ids)
        changed = {**self.changed, **more.changed}
        return PackedHeaders(rows, ids, changed, self.memory + more.memory)

    def pack(self, *, compressed: bool) -> SegmentRow:
        """Make the segment."""
        rows = self.rows
        seqs = [row.seq for row in rows]
        columns = [
            gaps_of(seqs),
            _join_ids(self.ids),
            [
                None if row.parent == prior else row.parent
                for row, prior in zip(rows, _before(rows), strict=True)
            ],
            [row.name for row in rows],
            [row.status for row in rows],
            gaps_of([row.at for row in rows]),
            [row.metadata for row in rows],
            {name: seqs[-1] - seq for name, seq in self.changed.items()},
        ]
        data = frame(pack_plain(columns), compressed=compressed)
        return signed(SegmentRow(HEADER, seqs[0], seqs[-1], seqs[0], seqs[0], data, b""))


def signed(row: SegmentRow) -> SegmentRow:
    """Give a segment its digest."""
    digest = segment_digest(row)
    return SegmentRow(row.field, row.first, row.last, row.base, row.start, row.data, digest)


def gaps_of(numbers: Sequence[int]) -> list[int]:
    """Write rising numbers as the first one and what each adds to the one before."""
    return [numbers[0], *map(sub, numbers[1:], numbers)]


def _before(rows: Sequence[StepRow]) -> list[str]:
    return ["", *(row.checkpoint for row in rows[:-1])]


def _join_ids(ids: Sequence[str | bytes]) -> bytes | list[str | bytes]:
    """Put ids one after the other where all are of keepset itself."""
    short = [own for own in ids if isinstance(own, bytes) and len(own) == _SHORT]
    return b"".join(short) if len(short) == len(ids) else list(ids)


def _shorten(own: str, at: int) -> str | bytes:
    if len(own) != _TEXT:
        return own
    try:
        raw = bytes.fromhex(own.replace("-", ""))
    except ValueError:
        return own
    if len(raw) != _UUID or _as_text(raw) != own:
        return own
    return raw[_TIME:] if raw[:_TIME] == _time(at) else raw


def _time(at: int) -> bytes:
    return at.to_bytes(_TIME, "big") if 0 <= at < 1 << 8 * _TIME else b""


def _as_text(raw: bytes) -> str:
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _unpack_ids(ids: object, times: Sequence[int]) -> list[str | None]:
    """Give the ids back; None for what is none."""
    if type(ids) is bytes:
        ids = [ids[at : at + _SHORT] for at in range(0, len(ids), _SHORT)]
    if type(ids) is not list or len(ids) != len(times):
        return [None]
    return [_lengthen(own, at) for own, at in zip(ids, times, strict=True)]


def _lengthen(own: object, at: int) -> str | None:
    if type(own) is bytes:
        raw = _time(at) + own if len(own) == _SHORT else own
        return _as_text(raw) if len(raw) == _UUID else None
    return own if type(own) is str else None


def unpack_headers(row: SegmentRow) -> list[StepRow]:
    """Unpack the headers of packed steps, in order of seq; their `changes` are empty.

    Raises:
        IntegrityError: The row is not what its digest says.
        DecodeError: It is not a segment of headers.
    """
    return _read(row)[0]


def packed_beside(row: SegmentRow) -> Mapping[str, int]:
    """Name the fields that changed in packed steps, each with the seq of its last difference.

    Raises:
        IntegrityError: The row is not what its digest says.
        DecodeError: It is not a segment of headers.
    """
    return _read(row)[1]


def end_ids(row: SegmentRow) -> tuple[str, str]:
    """Unpack the ids of the first and of the last checkpoint in a segment, in a tenth of the time.

    Raises:
        IntegrityError: The row is not what its digest says.
        DecodeError: It is not a segment of headers.
    """
    seqs, ids, lists, _ = _columns(row)
    if type(ids) is bytes:
        ids = [ids[:_SHORT], ids[-_SHORT:]]
    elif type(ids) is not list or len(ids) != len(seqs):
        raise damaged(place(row))
    gaps = lists[_TIMES]
    first, last = _lengthen(ids[0], gaps[0]), _lengthen(ids[-1], sum(gaps))
    if first is None or last is None:
        raise damaged(place(row))
    return first, last


def _columns(row: SegmentRow) -> tuple[list[int], Any, list[list[Any]], Any]:
    """Give the seqs, the ids as they are written, the lists of `_KINDS`, and what changed."""
    check_segment(row)
    columns = _PLAIN.unpack(unframe(row.data, UNPACKED_LIMIT))
    if type(columns) is not list or len(columns) != len(_KINDS) + 3:
        raise damaged(place(row))
    gaps, ids, *lists, changed = columns
    seqs = read_seqs(gaps, row)
    for column, kinds in zip(lists, _KINDS, strict=True):
        if type(column) is not list or len(column) != len(seqs):
            raise damaged(place(row))
        if not kinds.issuperset(map(type, column)):
            raise damaged(place(row))
    return seqs, ids, lists, changed


def _read(row: SegmentRow) -> tuple[list[StepRow], dict[str, int]]:
    seqs, ids, lists, changed = _columns(row)
    parents, names, statuses, gaps, metadata = lists
    times = list(accumulate(gaps))
    checkpoints = _unpack_ids(ids, times)
    if None in checkpoints or not _are_ends(changed):
        raise damaged(place(row))
    rows = [
        StepRow(seq, own, prior if parent is None else parent, name, status, at, meta, b"", b"")
        for seq, own, parent, prior, name, status, at, meta in zip(
            seqs,
            checkpoints,
            parents,
            ["", *checkpoints[:-1]],
            names,
            statuses,
            times,
            metadata,
            strict=True,
        )
    ]
    return rows, {name: row.last - gap for name, gap in changed.items()}


def _are_ends(changed: object) -> bool:
    return type(changed) is dict and all(
        type(name) is str and type(gap) is int for name, gap in changed.items()
    )


def read_seqs(gaps: object, row: SegmentRow) -> list[int]:
    """Read the seqs of a segment's steps; they must rise, and be those that the row says.

    Raises:
        IntegrityError: They are not.
    """
    if type(gaps) is not list or set(map(type, gaps)) != {int}:
        raise damaged(place(row))
    seqs = list(accumulate(gaps))
    if seqs[0] != row.first or seqs[-1] != row.last or min(gaps[1:], default=1) < 1:
        raise damaged(place(row))
    return seqs


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
