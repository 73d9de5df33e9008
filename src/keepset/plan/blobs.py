"""The large values of a run, for those who apply differences that refer to them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from keepset.codec import Codec
from keepset.plan.gathering import Gathering
from keepset.plan.requests import Flow

ROOM: Final = 64 << 20
"""Bytes of values that are kept for those who walk through a run."""


class Blobs(Mapping[bytes, Any]):
    """Large values by digest; each look-up unpacks a value of its own, so that none is shared."""

    def __init__(self, run: int, codec: Codec, uses: Mapping[bytes, int] | None = None) -> None:
        """Begin with no value.

        Args:
            run: The backend's number of the run.
            codec: Unpacks them.
            uses: How often each will be looked up, after which it is let go; None to keep all.
        """
        self._codec = codec
        self._left = None if uses is None else dict(uses)
        self._packed: dict[bytes, bytes] = {}
        self._gathering = Gathering(run)

    def fetch(self, sizes: Mapping[bytes, int]) -> Flow[None]:
        """Read values, each checked against its digest, where they are not there.

        Others stay while there is room for them. Where it is known how often each is looked up,
        all stay until then.

        Args:
            sizes: Their packed bytes by digest, as those who refer to them know.

        Raises:
            IntegrityError: ``blob.missing``, ``integrity.digest``.
            DecodeError: One is larger than it may be.
        """
        wanted = {digest: sizes[digest] for digest in sizes.keys() - self._packed.keys()}
        if not wanted:
            return
        there = sum(map(len, self._packed.values()))
        if self._left is None and there + sum(wanted.values()) > ROOM:
            self._packed = {d: packed for d, packed in self._packed.items() if d in sizes}
        self._packed |= yield from self._gathering.values(wanted)

    def fetch_all(self, sizes: Mapping[bytes, int]) -> Flow[None]:
        """Read values that are going to be fetched, in few requests, if there is room for all."""
        if sum(sizes.values()) <= ROOM:
            yield from self.fetch(sizes)

    def check(self, sizes: Mapping[bytes, int | None]) -> Flow[None]:
        """Read, one after the other, those of some values that were not read yet, and forget them.

        Args:
            sizes: Their packed bytes by digest, None where only their rows tell.

        Raises:
            IntegrityError: ``blob.missing``, ``integrity.digest``.
            DecodeError: One is larger than it may be.
        """
        for digest in sorted(sizes.keys() - self.weights.keys()):
            yield from self._gathering.values({digest: sizes[digest]})

    @property
    def weights(self) -> Mapping[bytes, int]:
        """Stored bytes of all rows that were ever read, those of parts of values included."""
        return self._gathering.weights

    def with_parts(self, digests: Collection[bytes]) -> Flow[tuple[bytes, ...]]:
        """Give digests of values, and of all that they are put together of, in order.

        Raises:
            IntegrityError: ``blob.missing``, ``integrity.digest``.
        """
        return (yield from self._gathering.with_parts(digests))

    def __getitem__(self, digest: bytes) -> Any:
        packed = self._packed[digest]
        if self._left is not None:
            self._left[digest] -= 1
            if not self._left[digest]:
                del self._packed[digest]
        return self._codec.unpack(packed)

    def __contains__(self, digest: object) -> bool:
        return digest in self._packed  # not by looking it up

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)
