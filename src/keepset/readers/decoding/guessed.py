"""Values of which nothing says how they are stored: it is told from their first bytes."""

from __future__ import annotations

from typing import Final

from keepset.readers.decoding.documents import from_json
from keepset.readers.decoding.packed import from_msgpack
from keepset.readers.decoding.pickled import from_pickle
from keepset.readers.ports import Encoding, Unreadable

_JSON: Final = b'{["'
_PICKLE: Final = b"\x80"
_PICKLE_END: Final = b"."
_PICKLE_PROTOCOLS: Final = range(2, 6)
_HEADS: Final = frozenset({*range(0x80, 0xA0), 0xDC, 0xDD, 0xDE, 0xDF})  # of lists and mappings


def guessed(data: object) -> tuple[Encoding, object]:
    """Take a value of a column apart.

    A text is JSON where it reads as such; bytes are JSON, a pickle or MessagePack where they do.
    """
    if data is None:
        return "null", None
    if isinstance(data, str):
        return _text(data)
    if isinstance(data, (bytes, bytearray, memoryview)):
        return _bytes(bytes(data))
    # a number, or what a driver has made of a type of its database
    return "text", data if isinstance(data, (bool, int, float)) else str(data)


def _text(data: str) -> tuple[Encoding, object]:
    begin = data.lstrip()[:1]
    if begin and begin in '{["':
        value = from_json(data)
        if not isinstance(value, Unreadable) or begin == "{":
            return "json", value
    return "text", data


def _bytes(data: bytes) -> tuple[Encoding, object]:
    if data.lstrip()[:1] and data.lstrip()[:1] in _JSON:
        value = from_json(data)
        if not isinstance(value, Unreadable):
            return "json", value
    if (
        data[:1] == _PICKLE
        and data[-1:] == _PICKLE_END
        and data[1:2]
        and data[1] in _PICKLE_PROTOCOLS
    ):
        value = from_pickle(data)
        if not isinstance(value, Unreadable):
            return "pickle", value
    if data and data[0] in _HEADS:
        value = from_msgpack(data)
        if not isinstance(value, Unreadable):
            return "msgpack", value
    return _as_text(data)


def _as_text(data: bytes) -> tuple[Encoding, object]:
    try:
        return "text", data.decode()
    except UnicodeDecodeError:
        return "bytes", data
