"""Large values: moved out of the differences, stored once per run under their digests."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from keepset.codec import BlobRef, Buffer, Codec
from keepset.errors import IntegrityError
from keepset.plan.pieces import cut
from keepset.plan.rows import BlobRow, WriteRow
from keepset.plan.steps import frame, require_size

MOVED = b"\xc1"
"""Begins a pending write whose value was moved out; no packed value begins like this."""


class Large:
    """Takes large packed values, and gives the references that stand in their places.

    Attributes:
        refs: Digests of all values that were taken.
        rows: Those that are not known to be stored.
    """

    def __init__(self, codec: Codec, known: Collection[bytes], *, compressed: bool) -> None:
        """Begin with no value.

        Args:
            codec: Packs the references.
            known: Digests of values that are stored already.
            compressed: Whether the values are compressed.
        """
        self.refs: set[bytes] = set()
        self.rows: dict[bytes, BlobRow] = {}
        self._codec = codec
        self._known = known
        self._compressed = compressed

    def apart(self) -> Large:
        """Make a second one, for values of which it is not decided yet whether they are stored."""
        known = {*self._known, *self.rows}
        return Large(self._codec, known, compressed=self._compressed)

    def take(self, other: Large) -> None:
        """Take over what another one has taken."""
        self.refs |= other.refs
        self.rows |= other.rows

    def move(self, packed: Buffer) -> bytes:
        """Take a packed value and give the packed reference to it.

        Raises:
            PolicyError: See `require_size`.
        """
        require_size(len(packed))
        digest = hashlib.sha256(packed).digest()
        self.refs.add(digest)
        if not self._is_known(digest):
            self._add(digest, packed)
        return self._codec.pack(BlobRef(digest, len(packed)))

    def _add(self, digest: bytes, packed: Buffer) -> None:
        """Add a value as its pieces, where there are long texts in it or it is very long."""
        found = cut(packed)
        if found is None:
            data = frame(packed, compressed=self._compressed)
        else:
            pieces, long = found
            data = pieces.data(compressed=self._compressed)
            self.refs |= long.keys()
            for part, text in long.items():
                if not self._is_known(part):
                    whole = frame(text, compressed=self._compressed)
                    self.rows[part] = BlobRow(part, len(text), whole)
        self.rows[digest] = BlobRow(digest, len(packed), data)

    def _is_known(self, digest: bytes) -> bool:
        return digest in self._known or digest in self.rows


def moved(row: WriteRow, codec: Codec) -> list[BlobRef]:
    """Give the reference of a pending write whose value was moved out; none of another one.

    Raises:
        IntegrityError: It begins like one and is none.
    """
    if row.value[:1] != MOVED:
        return []
    ref = codec.unpack(row.value[1:])
    if isinstance(ref, BlobRef):
        return [ref]
    raise IntegrityError(
        "a pending write is not what was written",
        code="integrity.digest",
        hint="Run `keepset verify` to see what else is damaged, and restore from a backup.",
    )
