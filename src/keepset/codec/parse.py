"""The exact way to unpack: an iterative reader of MessagePack that says what is wrong.

Source of the format: https://github.com/msgpack/msgpack/blob/master/spec.md.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from keepset.codec import tags
from keepset.codec.failures import bad, malformed
from keepset.codec.known import Known
from keepset.errors import DecodeError, KeepsetError

_DEPTH = 1024
"""Arrays, maps and extensions within each other: what the codec writes has at most three for
each of its 256 levels."""
_LENGTHS: dict[int, tuple[str, str]] = {
    0xC4: ("bytes", ">B"),
    0xC5: ("bytes", ">H"),
    0xC6: ("bytes", ">I"),
    0xC7: ("ext", ">B"),
    0xC8: ("ext", ">H"),
    0xC9: ("ext", ">I"),
    0xD9: ("text", ">B"),
    0xDA: ("text", ">H"),
    0xDB: ("text", ">I"),
    0xDC: ("array", ">H"),
    0xDD: ("array", ">I"),
    0xDE: ("map", ">H"),
    0xDF: ("map", ">I"),
}
_NUMBERS: dict[int, str] = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_CONSTANTS: dict[int, Any] = {0xC0: None, 0xC2: False, 0xC3: True}
_MORE = object()
"""In place of a value: a frame was pushed, its parts come first."""


class _Frame:
    """An array, a map or an extension of which some parts are still to come."""

    __slots__ = ("close", "end", "items", "left")

    def __init__(self, left: int, close: Callable[[list[Any]], Any], end: int) -> None:
        self.left = left
        self.close = close
        self.end = end
        self.items: list[Any] = []


class Parse:
    """One reading of one value."""

    def __init__(self, known: Known, data: bytes) -> None:
        """Begin at the first byte."""
        self._known = known
        self._data = data
        self._at = 0
        self._end = len(data)
        self._frames: list[_Frame] = []

    def value(self) -> Any:
        """Read the value, which is all of the data.

        Raises:
            DecodeError: It is anything else than what the codec writes.
        """
        value = self._next()
        while self._frames:
            frame = self._frames[-1]
            if value is not _MORE:
                frame.items.append(value)
                frame.left -= 1
            if self._frames[-1].left:
                value = self._next()
                continue
            self._frames.pop()
            value = frame.close(frame.items)
        self._ended()
        return value

    def _next(self) -> Any:
        (code,) = self._take(1)
        if code < 0x80 or code >= 0xE0:  # noqa: PLR2004 - the small integers of the format
            return code if code < 0x80 else code - 0x100  # noqa: PLR2004 - the same
        if code in _NUMBERS:
            return self._number(_NUMBERS[code])
        if code in _CONSTANTS:
            return _CONSTANTS[code]
        if code in _LENGTHS:
            kind, form = _LENGTHS[code]
            return self._sized(kind, self._number(form))
        if code < 0xC0:  # noqa: PLR2004 - the short texts, arrays and maps of the format
            short = "map" if code < 0x90 else "array" if code < 0xA0 else "text"  # noqa: PLR2004 - the same
            return self._sized(short, code & (0x1F if short == "text" else 0x0F))
        if 0xD4 <= code <= 0xD8:  # noqa: PLR2004 - the extensions of fixed size
            return self._sized("ext", 1 << (code - 0xD4))
        raise malformed("value")

    def _sized(self, kind: str, size: int) -> Any:
        if kind == "text":
            try:
                return self._take(size).decode()
            except UnicodeDecodeError as error:
                raise malformed("text") from error
        if kind == "bytes":
            return self._take(size)
        if kind == "ext":
            return self._extension(size)
        count = size if kind == "array" else 2 * size
        if count > self._end - self._at:
            raise _truncated()
        return self._push(count, _list if kind == "array" else _map, self._end)

    def _extension(self, size: int) -> Any:
        (tag,) = self._take(1)
        if size > self._end - self._at:
            raise _truncated()
        if tag in self._known.builders:
            outer, self._end = self._end, self._at + size

            def close(items: list[Any]) -> Any:
                self._ended()
                self._end = outer
                return self._build(tag, items[0])

            return self._push(1, close, outer)
        read = self._known.readers.get(tag)
        if read is None:
            raise bad(
                f"the stored data has a value of kind {tag}, which this keepset does not know",
                "decode.unknown-type",
                "Read it with the version of keepset that wrote it, or a newer one.",
            )
        return _guarded(tag, read, self._take(size))

    def _build(self, tag: int, payload: Any) -> Any:
        if type(payload) is not list:
            raise malformed(_name(tag))
        return _guarded(tag, self._known.builders[tag], payload, self._known.lookup)

    def _push(self, left: int, close: Callable[[list[Any]], Any], end: int) -> Any:
        if len(self._frames) >= _DEPTH:
            raise bad("the stored data is nested too deeply", "decode.too-deep")
        self._frames.append(_Frame(left, close, end))
        return _MORE

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _take(self, size: int) -> bytes:
        start, self._at = self._at, self._at + size
        if self._at > self._end:
            raise _truncated()
        return self._data[start : self._at]

    def _ended(self) -> None:
        if self._at != self._end:
            raise bad(
                "there are bytes after the end of a stored value",
                "decode.trailing",
                "The bytes are damaged or were put together wrongly; run `keepset verify`.",
            )


def _guarded(tag: int, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except (KeepsetError, RecursionError):
        raise
    except Exception as error:  # a class's own hash, comparison or factory may raise anything
        raise malformed(_name(tag)) from error


def _name(tag: int) -> str:
    names = (name for name, number in vars(tags).items() if number == tag and name.isupper())
    return next(names, "value").lower()


def _list(items: list[Any]) -> list[Any]:
    return items


def _map(items: list[Any]) -> dict[str, Any]:
    keys = items[::2]
    if any(type(key) is not str for key in keys):
        raise malformed("mapping")
    return dict(zip(keys, items[1::2], strict=True))


def _truncated() -> DecodeError:
    return bad(
        "the stored data ends before its value does",
        "decode.truncated",
        "The bytes are damaged; run `keepset verify`.",
    )
