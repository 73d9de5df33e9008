"""Bytes that compressed frames may repeat without holding them."""

from __future__ import annotations

from typing import Final

import zstandard

from keepset.codec.envelope import decompress

_LEVEL: Final = 3
_TABLES: Final = 3


class Dictionary:
    """What was written before, as a raw-content dictionary of zstd frames.

    A frame that was compressed with it can be read only with the same bytes. What each direction
    needs is prepared once, when it is first used; one thread uses a dictionary at a time.

    Source of the format: https://datatracker.ietf.org/doc/html/rfc8878#section-5.
    """

    __slots__ = ("_compressor", "_content", "_decompressor")

    def __init__(self, content: bytes) -> None:
        """Take the bytes; 8 at least, else zstd makes nothing of them."""
        self._content = zstandard.ZstdCompressionDict(
            content, dict_type=zstandard.DICT_TYPE_RAWCONTENT
        )
        self._compressor: zstandard.ZstdCompressor | None = None
        self._decompressor: zstandard.ZstdDecompressor | None = None

    def __len__(self) -> int:
        """The bytes that it holds."""
        return len(self._content)

    @property
    def memory(self) -> int:
        """Bytes of memory that it takes, nearly: its own and those of the tables."""
        return len(self._content) * (1 + _TABLES)

    def compress(self, data: bytes) -> bytes:
        """Compress bytes into one zstd frame that states their number."""
        if self._compressor is None:
            self._content.precompute_compress(level=_LEVEL)
            self._compressor = zstandard.ZstdCompressor(
                level=_LEVEL, dict_data=self._content, write_checksum=True, write_dict_id=False
            )
        return self._compressor.compress(data)

    def decompress(self, data: bytes, limit: int) -> bytes:
        """Undo `compress`, without ever allocating more than `limit` bytes.

        Raises:
            DecodeError: As `keepset.codec.decompress`; also where the frame was made with another
                dictionary.
        """
        if self._decompressor is None:
            self._decompressor = zstandard.ZstdDecompressor(dict_data=self._content)
        return decompress(data, limit, self._decompressor)
