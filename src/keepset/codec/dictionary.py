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
    needs is prepared when it is first used, and kept. Any number of threads may use a dictionary:
    each takes what it needs from a list, and makes its own where another one has it.

    Source of the format: https://datatracker.ietf.org/doc/html/rfc8878#section-5.
    """

    __slots__ = ("_compressors", "_content", "_decompressors", "_unprepared")

    def __init__(self, content: bytes) -> None:
        """Take the bytes; 8 at least, else zstd makes nothing of them."""
        self._content = _raw(content)
        self._unprepared = [self._content]
        self._compressors: list[zstandard.ZstdCompressor] = []
        self._decompressors: list[zstandard.ZstdDecompressor] = []

    def __len__(self) -> int:
        """The bytes that it holds."""
        return len(self._content)

    @property
    def memory(self) -> int:
        """Bytes of memory that it takes, nearly: its own and those of the tables."""
        return len(self._content) * (1 + _TABLES)

    def compress(self, data: bytes) -> bytes:
        """Compress bytes into one zstd frame that states their number."""
        try:
            tool = self._compressors.pop()
        except IndexError:
            tool = self._compressor()
        packed = tool.compress(data)
        if not self._compressors:
            self._compressors.append(tool)
        return packed

    def _compressor(self) -> zstandard.ZstdCompressor:
        """Make a compressor; one thread alone may prepare the tables of a content."""
        try:
            content = self._unprepared.pop()
        except IndexError:
            content = _raw(self._content.as_bytes())
        content.precompute_compress(level=_LEVEL)
        return zstandard.ZstdCompressor(
            level=_LEVEL, dict_data=content, write_checksum=True, write_dict_id=False
        )

    def decompress(self, data: bytes, limit: int) -> bytes:
        """Undo `compress`, without ever allocating more than `limit` bytes.

        Raises:
            DecodeError: As `keepset.codec.decompress`; also where the frame was made with another
                dictionary.
        """
        try:
            tool = self._decompressors.pop()
        except IndexError:
            tool = zstandard.ZstdDecompressor(dict_data=self._content)
        plain = decompress(data, limit, tool)
        if not self._decompressors:
            self._decompressors.append(tool)
        return plain


def _raw(content: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
