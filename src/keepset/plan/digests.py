"""What tells a row that was changed: a digest over all of it but the digest itself."""

from __future__ import annotations

import hashlib
import struct

from keepset.codec import pack_plain
from keepset.errors import IntegrityError
from keepset.plan.rows import SegmentRow, StepRow, WriteRow

_BEGUN = hashlib.sha256()
"""To copy it takes less time than to begin with another one."""


_APART = 1 << 20
"""Bytes from which on a part is not copied to stand with the others."""

_length = struct.Struct(">Q").pack


def _digest(*parts: bytes) -> bytes:
    """Digest parts, each behind its length; only the last one may be large."""
    pieces = [piece for part in parts for piece in (_length(len(part)), part)]
    if len(parts[-1]) < _APART:
        return hashlib.sha256(b"".join(pieces)).digest()[:16]
    state = hashlib.sha256(b"".join(pieces[:-1]))
    state.update(parts[-1])
    return state.digest()[:16]


def step_digest(row: StepRow) -> bytes:
    """Digest over all of a step row but the digest itself: SHA-256, 16 bytes."""
    head = (row.seq, row.checkpoint, row.parent, row.name, row.status, row.at)
    return digest_of_step(head, row.metadata, row.changes)


def digest_of_step(
    head: tuple[int, str, str, str, str, int], metadata: bytes, changes: bytes
) -> bytes:
    """Digest over a step's columns before it is a row.

    Args:
        head: Its seq, id, parent, name, status and time.
        metadata: Its metadata.
        changes: Its differences.
    """
    return _digest(pack_plain(list(head)), metadata, changes)


def segment_digest(row: SegmentRow) -> bytes:
    """Digest over all of a segment row but the digest itself: SHA-256, 16 bytes."""
    head = [row.field, row.first, row.last, row.base, row.start]
    return _digest(pack_plain(head), row.data)


def write_digest(row: WriteRow) -> bytes:
    """Digest over all of a pending write but the digest itself: SHA-256, 16 bytes."""
    return digest_of_write((row.task, row.path, row.index, row.channel, row.status), row.value)


def digest_of_write(head: tuple[str, str, int, str, str], value: bytes) -> bytes:
    """Digest over a pending write's columns before it is a row.

    Args:
        head: Its task, path, index, channel and status.
        value: Its value.
    """
    return _digest(pack_plain(list(head)), value)


def check_step(row: StepRow) -> None:
    """Compare a step row with its digest.

    Raises:
        IntegrityError: They do not match.
    """
    if step_digest(row) != row.digest:
        raise damaged(f"step {row.seq}")


def check_segment(row: SegmentRow) -> None:
    """Compare a segment row with its digest.

    Raises:
        IntegrityError: They do not match.
    """
    if segment_digest(row) != row.digest:
        raise damaged(place(row))


def check_write(row: WriteRow) -> None:
    """Compare a pending write with its digest.

    Raises:
        IntegrityError: They do not match.
    """
    if write_digest(row) != row.digest:
        raise damaged("a pending write")


def place(row: SegmentRow) -> str:
    """Name a segment in a message."""
    return f"segment {row.field or 'of headers'} from step {row.first}"


def damaged(what: str) -> IntegrityError:
    """Make the error for a row that is not what was written."""
    return IntegrityError(
        f"{what} is not what was written",
        code="integrity.digest",
        hint="Run `keepset verify` to see what else is damaged, and restore from a backup.",
    )
