"""How the differences of one step lie in its row, and in the memory of its writer.

A step row holds ``{field: [steps since the field changed before, difference]}`` as one packed
mapping whose differences are bytes, so that a writer can take them apart again without decoding
them. What would not fit into a page of a database is compressed, and what is the last of its run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from keepset.codec import Buffer, Codec, compress, decompress, pack_plain
from keepset.errors import PolicyError
from keepset.plan.digests import check_step, damaged
from keepset.plan.rows import StepRow

UNPACKED_LIMIT = 1 << 30
"""The most bytes that a row may unpack to."""

LARGEST = 1_000_000_000
"""The most bytes of one large value, or of one step's differences, before they are compressed.
Steps that are packed together take a little more."""

_PAGE = 4096
_SMALL = 512
_HEADER = 512
"""Bytes that a header takes beside its metadata: a row, its texts, its digest."""

_PLAIN = Codec()
_RAW = b"\x00"
_FRAME = b"\x28\xb5\x2f\xfd"


class Difference(NamedTuple):
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


class TailStep(NamedTuple):
    """An unpacked step as its writer remembers it.

    Attributes:
        row: The step's row, without its changes.
        changes: The differences by field.
        size: Bytes of the differences.
        memory: Bytes of memory that it takes, nearly.
    """

    row: StepRow
    changes: Mapping[str, Difference]
    size: int
    memory: int


def header_memory(row: StepRow) -> int:
    """Bytes of memory that the header of a step takes, nearly."""
    return len(row.metadata) + _HEADER


def remembered(row: StepRow, changes: Mapping[str, Difference]) -> TailStep:
    """Remember a step; its differences are kept once, apart from each other."""
    size = sum([len(change.op) for change in changes.values()])
    bare = row._replace(changes=b"") if row.changes else row
    return TailStep(bare, changes, size, size + header_memory(row))


def frame(data: Buffer, *, compressed: bool) -> bytes:
    """Wrap bytes for a segment or a large value: a zstd frame, or a zero byte and the bytes."""
    return compress(data) if compressed else b"".join((_RAW, data))


def unframe(data: bytes, limit: int) -> bytes:
    """Give back what `frame` wrapped.

    Raises:
        DecodeError: It is neither, or larger than `limit` bytes.
    """
    return data[1:] if data[:1] == _RAW else decompress(data, limit)


def require_size(size: int) -> None:
    """Refuse what could be written, since it can be compressed, and never be read.

    Raises:
        PolicyError: ``store.too-large``: it has more than `LARGEST` bytes.
    """
    if size > LARGEST:
        raise PolicyError(
            f"a value, or what changed in one step, has {size} bytes, more than a row may hold",
            code="store.too-large",
            hint="Keep an id in the state and declare `Refetch` for the content.",
        )


def join_changes(
    seq: int, changes: Mapping[str, Difference], *, compressed: bool, stops: bool = False
) -> bytes:
    """Put a step's differences together; no bytes where nothing changed.

    Args:
        seq: The step.
        changes: Its differences by field.
        compressed: Whether they are compressed where that is worth it.
        stops: Whether the run stops with the step, which may then stay unpacked for good.

    Raises:
        PolicyError: See `require_size`.
    """
    if not changes:
        return b""
    data = pack_plain({n: [seq - change.previous, change.op] for n, change in changes.items()})
    require_size(len(data))
    return compress(data) if compressed and len(data) > (_SMALL if stops else _PAGE) else data


def split_changes(row: StepRow) -> dict[str, tuple[int, bytes]]:
    """Take a step's differences apart: for each field the seq before, and the difference.

    Raises:
        IntegrityError: The row is not what its digest says, or not a mapping of differences.
        DecodeError: The differences cannot be read.
    """
    check_step(row)
    if not row.changes:
        return {}
    data = row.changes
    if data.startswith(_FRAME):  # no packed mapping begins like this
        data = decompress(data, UNPACKED_LIMIT)
    changes = _PLAIN.unpack(data)
    if type(changes) is not dict or not all(map(_is_linked, changes.values())):
        raise damaged(f"step {row.seq}")
    return {name: (row.seq - gap, op) for name, (gap, op) in changes.items()}


def _is_linked(change: object) -> bool:
    return type(change) is list and list(map(type, change)) == [int, bytes]
