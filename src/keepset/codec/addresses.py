"""Values that name something: UUIDs, file paths, network addresses, patterns."""

from __future__ import annotations

import ipaddress
import pathlib
import re
import uuid
from typing import Any

from keepset.codec import tags
from keepset.codec.failures import bad, malformed, refused
from keepset.codec.nodes import Build, Form, Leaf, Lookup, Node, Read

_UUID_SIZE = 16
_LONGEST_PATTERN = 1 << 14
"""Characters of a pattern: compiling it takes time and memory in proportion."""
_PATHS: dict[type, bytes] = {
    pathlib.PurePosixPath: b"p",
    pathlib.PureWindowsPath: b"w",
    pathlib.PosixPath: b"P",
    pathlib.WindowsPath: b"W",
}
_ADDRESSES: dict[type, bytes] = {
    ipaddress.IPv4Address: b"a",
    ipaddress.IPv6Address: b"A",
    ipaddress.IPv4Network: b"n",
    ipaddress.IPv6Network: b"N",
    ipaddress.IPv4Interface: b"i",
    ipaddress.IPv6Interface: b"I",
}
_PATH_OF = {code: cls for cls, code in _PATHS.items()}
_ADDRESS_OF = {code: cls for cls, code in _ADDRESSES.items()}


def _write_uuid(value: uuid.UUID) -> bytes:
    safety = value.is_safe.value
    return value.bytes if safety is None else value.bytes + safety.to_bytes(1, "big", signed=True)


def _read_uuid(data: bytes) -> uuid.UUID:
    safety = data[_UUID_SIZE:]
    if len(safety) > 1:
        raise malformed("UUID")
    known = int.from_bytes(safety, "big", signed=True) if safety else None
    return uuid.UUID(bytes=data[:_UUID_SIZE], is_safe=uuid.SafeUUID(known))


def _write_path(value: pathlib.PurePath) -> bytes:
    text = str(value)
    again = type(value)(text)
    if again != value or str(again) != text:
        raise refused(
            "a path that its own text does not stand for",
            "codec.path",
            "Keep its parts; Windows paths such as //:// are read differently by each version.",
        )
    return _PATHS[type(value)] + text.encode("utf-8", "surrogatepass")


def _read_path(data: bytes) -> pathlib.PurePath:
    cls = _PATH_OF[data[:1]]
    text = data[1:].decode("utf-8", "surrogatepass")
    if issubclass(cls, pathlib.Path) and cls is not type(pathlib.Path()):
        raise bad(
            f"a stored {cls.__name__} cannot exist on this platform",
            "decode.platform",
            "Store pathlib.PurePosixPath or PureWindowsPath where runs move between platforms.",
        )
    value: pathlib.PurePath = cls(text)
    if str(value) != text:
        raise malformed("path")
    return value


def _write_address(value: Any) -> bytes:
    return _ADDRESSES[type(value)] + str(value).encode("utf-8", "surrogatepass")


def _read_address(data: bytes) -> Any:
    text = data[1:].decode("utf-8", "surrogatepass")
    value = _ADDRESS_OF[data[:1]](text)
    if str(value) != text:
        raise malformed("network address")
    return value


def _split_pattern(value: re.Pattern[Any]) -> list[Any]:
    if value.flags & re.DEBUG or len(value.pattern) > _LONGEST_PATTERN:
        raise refused(
            f"a pattern with re.DEBUG or of more than {_LONGEST_PATTERN} characters",
            "codec.pattern",
            "Keep its text and compile it where it is used.",
        )
    return [value.pattern, value.flags]


def _build_pattern(payload: list[Any], _: Lookup) -> re.Pattern[Any]:
    text, flags = payload
    if type(text) not in (str, bytes) or type(flags) is not int or flags & re.DEBUG:
        raise malformed("pattern")
    if len(text) > _LONGEST_PATTERN:
        raise malformed("pattern")
    pattern: re.Pattern[Any] = re.compile(text, flags)
    if pattern.flags != flags:
        raise malformed("pattern")
    return pattern


FORMS: dict[type, Form] = {
    uuid.UUID: Leaf(tags.UUID, _write_uuid),
    re.Pattern: Node(tags.PATTERN, _split_pattern, head=2),
    **dict.fromkeys(_PATHS, Leaf(tags.PATH, _write_path)),
    **dict.fromkeys(_ADDRESSES, Leaf(tags.ADDRESS, _write_address)),
}
READERS: dict[int, Read] = {
    tags.UUID: _read_uuid,
    tags.PATH: _read_path,
    tags.ADDRESS: _read_address,
}
BUILDERS: dict[int, Build] = {tags.PATTERN: _build_pattern}
