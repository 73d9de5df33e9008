"""A value as JSON that loses nothing, spelled from its packed bytes.

What JSON has is itself. All else is an object with a ``$type``, the name of the extension in the
wire format, and beside it its content: ``value`` where that is packed itself, else ``base64``, the
bytes, with ``text`` for a person where the value has one.
"""

from __future__ import annotations

import base64
import math
import struct
from types import MappingProxyType
from typing import Any, Final

import ormsgpack

from keepset.codec import Codec, tags
from keepset.codec.framing import extension
from keepset.errors import KeepsetError

TYPE: Final = "$type"
NAMES: Final = MappingProxyType(
    {
        tags.INTEGER: "int",
        tags.TEXT: "text",
        tags.BYTEARRAY: "bytearray",
        tags.COMPLEX: "complex",
        tags.DECIMAL: "decimal",
        tags.FRACTION: "fraction",
        tags.DATETIME: "datetime",
        tags.DATE: "date",
        tags.TIME: "time",
        tags.TIMEDELTA: "timedelta",
        tags.UUID: "uuid",
        tags.PATH: "path",
        tags.ADDRESS: "address",
        tags.BLOB: "blob",
        tags.UNSET: "unset",
        tags.SCALAR: "scalar",
        tags.ARRAY: "array",
        tags.FRAME: "frame",
        tags.TUPLE: "tuple",
        tags.SET: "set",
        tags.FROZENSET: "frozenset",
        tags.MAPPING: "mapping",
        tags.ORDERED: "ordered",
        tags.COUNTER: "counter",
        tags.DEFAULTDICT: "defaultdict",
        tags.DEQUE: "deque",
        tags.RANGE: "range",
        tags.PATTERN: "pattern",
        tags.MEMBER: "member",
        tags.FLAG: "flag",
        tags.OBJECT: "object",
        tags.ERROR: "error",
        tags.WITHHELD: "withheld",
    }
)
"""The name of each extension, by its number."""
_SHOWN: Final = frozenset(
    {
        tags.DECIMAL,
        tags.FRACTION,
        tags.DATETIME,
        tags.DATE,
        tags.TIME,
        tags.TIMEDELTA,
        tags.UUID,
        tags.PATH,
        tags.ADDRESS,
    }
)
_PLAIN: Final = Codec()
_Part = tuple[Any, Any, Any]
"""A value as it was packed, and where what is said of it goes: a container, and the place in it."""


class _Extension:
    """An extension as it was packed."""

    __slots__ = ("data", "number")

    def __init__(self, number: int, data: bytes) -> None:
        self.number = number
        self.data = data


def spelled(packed: bytes) -> Any:
    """Give what JSON says of a packed value.

    Args:
        packed: What `Codec.pack` gave for it.
    """
    root: list[Any] = [None]
    # A value may be nested deeper than the stack allows calls for
    waiting: list[_Part] = [(_opened(packed), root, 0)]
    while waiting:
        value, holder, at = waiting.pop()
        holder[at], below = _spelled(value)
        waiting += below
    return root[0]


def _opened(packed: bytes) -> Any:
    return ormsgpack.unpackb(packed, ext_hook=_Extension)


def _spelled(value: Any) -> tuple[Any, list[_Part]]:
    """Spell a value, and give the parts of it that are to be put into what was made of it."""
    if isinstance(value, list):
        items: list[Any] = [None] * len(value)
        return items, [(item, items, at) for at, item in enumerate(value)]
    if isinstance(value, dict):
        return _mapping(value)
    if isinstance(value, bytes):
        return {TYPE: "bytes", "base64": _base64(value)}, []
    if isinstance(value, float) and not math.isfinite(value):
        return {TYPE: "float", "base64": _base64(struct.pack(">d", value)), "text": str(value)}, []
    return _extension(value) if isinstance(value, _Extension) else (value, [])


def _mapping(value: dict[str, Any]) -> tuple[Any, list[_Part]]:
    if TYPE not in value:
        made: dict[str, Any] = dict.fromkeys(value)
        return made, [(item, made, key) for key, item in value.items()]
    pairs: list[list[Any]] = [[key, None] for key in value]
    below: list[_Part] = [(item, pair, 1) for item, pair in zip(value.values(), pairs, strict=True)]
    return {TYPE: "dict", "items": pairs}, below


def _extension(value: _Extension) -> tuple[Any, list[_Part]]:
    name = NAMES.get(value.number, str(value.number))
    told: dict[str, Any] = {TYPE: name}
    if value.number >= tags.FIRST_COMPOSITE:
        told["value"] = None
        return told, [(_opened(value.data), told, "value")]
    told["base64"] = _base64(value.data)
    text = _text(value) if value.number in _SHOWN else None
    return (told if text is None else {**told, "text": text}), []


def _text(value: _Extension) -> str | None:
    try:
        text = str(_PLAIN.unpack(extension(value.number, value.data)))
    except (ValueError, KeepsetError):  # too long a number, or a path of another platform
        return None
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
