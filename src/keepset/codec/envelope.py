"""Compression with a bound, and the envelope that makes packed bytes recognisable by themselves.

The envelope is ``C1``, a byte that no MessagePack value begins with, a version, a flag (0 as it
is, 1 compressed), and the body. Compression is one zstd frame that states the size of its content
(https://datatracker.ietf.org/doc/html/rfc8878).
"""

from __future__ import annotations

from typing import Final

import zstandard

from keepset.codec.codec import Codec
from keepset.codec.failures import bad, malformed
from keepset.codec.framing import Buffer

LIMIT: Final = 256 << 20
"""Bytes that a body may have after decompression, unless the caller says otherwise."""
_MAGIC: Final = 0xC1
_VERSION: Final = 1
_PLAIN, _COMPRESSED = 0, 1
_HEADER: Final = 3
_WORTH_IT: Final = 256
_LEVEL: Final = 3
_DEFAULT: Final = Codec()
_HIGHEST_RATIO: Final = 1 << 15
"""One byte of a zstd frame stands for at most this many: a block of 128 KiB takes four."""


_IDLE: Final[list[zstandard.ZstdDecompressor]] = []
_IDLE_COMPRESSORS: Final[list[zstandard.ZstdCompressor]] = []
"""What nobody uses: to make one takes longer than most frames do. Each is taken by one thread at
a time, for which taking it from a list is enough."""

_MOST_IDLE: Final = 8


def encode(value: object, codec: Codec | None = None) -> bytes:
    """Write a value as bytes that can stand alone.

    Args:
        value: What to store.
        codec: The codec with the types that the value may have; one with the types of the
            process where it is left out.

    Raises:
        PolicyError: The value, or a part of it, cannot be stored; the message has the path.
    """
    body = (codec or _DEFAULT).pack(value)
    flag = _PLAIN
    if len(body) >= _WORTH_IT:
        smaller = compress(body)
        if len(smaller) < len(body):
            body, flag = smaller, _COMPRESSED
    return bytes((_MAGIC, _VERSION, flag)) + body


def decode(data: bytes, codec: Codec | None = None, *, limit: int = LIMIT) -> object:
    """Read what `encode` wrote.

    Args:
        data: The bytes.
        codec: The codec with the types that the value may have.
        limit: Bytes that the body may have after decompression.

    Raises:
        DecodeError: The bytes are anything else.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise bad(
            f"a {type(data).__name__} is no stored value",
            "decode.magic",
            "Give the bytes that `encode` wrote.",
        )
    data = bytes(data)
    if data[:1] != bytes((_MAGIC,)):
        raise bad(
            "these bytes are not a value that keepset has stored",
            "decode.magic",
            "Check that the right file or column is read.",
        )
    if len(data) <= _HEADER:
        raise bad("the stored value ends inside its envelope", "decode.truncated")
    if data[1] != _VERSION:
        raise bad(
            f"the stored value has format {data[1]}, and this keepset reads format {_VERSION}",
            "decode.version",
            "Read it with the version of keepset that wrote it, or a newer one.",
        )
    flag, body = data[2], data[_HEADER:]
    if flag not in (_PLAIN, _COMPRESSED):
        raise malformed("envelope")
    if flag == _COMPRESSED:
        body = decompress(body, limit)
    elif len(body) > limit:
        raise _too_large(len(body), limit)
    return (codec or _DEFAULT).unpack(body)


def compress(data: Buffer) -> bytes:
    """Compress bytes into one zstd frame that states their number."""
    try:
        tool = _IDLE_COMPRESSORS.pop()
    except IndexError:
        tool = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    packed = tool.compress(data)
    if len(_IDLE_COMPRESSORS) < _MOST_IDLE:
        _IDLE_COMPRESSORS.append(tool)
    return packed


def decompress(
    data: bytes, limit: int, decompressor: zstandard.ZstdDecompressor | None = None
) -> bytes:
    """Undo `compress`, without ever allocating more than `limit` bytes.

    Args:
        data: The frame.
        limit: The most bytes that it may unpack to.
        decompressor: One that has the frame's dictionary; None for a frame without one.

    Raises:
        DecodeError: ``decode.too-large`` where the frame states more than `limit` bytes,
            ``decode.compressed`` where it is not one whole frame that holds what it states.
    """
    try:
        size = zstandard.get_frame_parameters(data).content_size
        if size in (zstandard.CONTENTSIZE_UNKNOWN, zstandard.CONTENTSIZE_ERROR):
            raise _damaged()
        if size > limit:
            raise _too_large(size, limit)
        if size > len(data) * _HIGHEST_RATIO:
            raise _damaged()
        if decompressor is not None:
            return decompressor.decompress(data, allow_extra_data=False)
        return _decompress(data)
    except (zstandard.ZstdError, MemoryError) as error:
        raise _damaged() from error


def _decompress(data: bytes) -> bytes:
    try:
        tool = _IDLE.pop()
    except IndexError:
        tool = zstandard.ZstdDecompressor()
    plain = tool.decompress(data, allow_extra_data=False)
    if len(_IDLE) < _MOST_IDLE:
        _IDLE.append(tool)
    return plain


def _damaged() -> Exception:
    return bad(
        "the compressed bytes are not one whole zstd frame",
        "decode.compressed",
        "The bytes are damaged; run `keepset verify`.",
    )


def _too_large(size: int, limit: int) -> Exception:
    return bad(
        f"the stored value has {size} bytes, and {limit} are allowed",
        "decode.too-large",
        "Raise the limit if the value is your own.",
    )
