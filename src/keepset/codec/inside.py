"""Types of the codec itself: markers, references to blobs, errors as they are stored."""

from __future__ import annotations

from typing import Any

import msgspec

from keepset.codec import tags
from keepset.codec.failures import malformed, type_name
from keepset.codec.markers import BlobRef, StoredError, Withheld
from keepset.codec.nodes import Build, Form, Leaf, Lookup, Node, Read

MESSAGE = "message"
_SIZE = 8


def _write_blob(value: BlobRef) -> bytes:
    return value.size.to_bytes(_SIZE, "big") + value.digest


def _read_blob(data: bytes) -> BlobRef:
    if len(data) <= _SIZE:
        raise malformed("reference to a blob")
    return BlobRef(data[_SIZE:], int.from_bytes(data[:_SIZE], "big"))


def _write_unset(_: object) -> bytes:
    return b""


def _read_unset(data: bytes) -> msgspec.UnsetType:
    if data:
        raise malformed("UNSET")
    return msgspec.UNSET


def _split_withheld(value: Withheld) -> list[Any]:
    return [value.kind, value.path]


def _build_withheld(payload: list[Any], _: Lookup) -> Withheld:
    kind, path = payload
    return Withheld(_text(kind), _text(path))


def _split_stored(value: StoredError) -> list[Any]:
    return [value.type_name, {MESSAGE: value.message}]


def _split_exception(value: BaseException) -> list[Any]:
    try:
        message = str(value)
    except RecursionError:
        raise
    except Exception:  # noqa: BLE001 - the `__str__` of any exception, which may be broken
        message = ""
    # A subclass of str would be an unknown type; what is said counts, not who says it.
    return [type_name(type(value)), {MESSAGE: str.__str__(message)}]


def _build_stored(payload: list[Any], _: Lookup) -> StoredError:
    name, parts = payload
    if parts.keys() != {MESSAGE}:
        raise malformed("error")
    return StoredError(_text(name), parts[MESSAGE])


def _text(value: object) -> str:
    if type(value) is not str:
        raise malformed("marker")
    return value


EXCEPTION = Node(tags.ERROR, _split_exception, head=1)
"""Any exception that is not registered as a type of its own."""

FORMS: dict[type, Form] = {
    BlobRef: Leaf(tags.BLOB, _write_blob),
    msgspec.UnsetType: Leaf(tags.UNSET, _write_unset),
    Withheld: Node(tags.WITHHELD, _split_withheld, head=2),
    StoredError: Node(tags.ERROR, _split_stored, head=1),
}
READERS: dict[int, Read] = {tags.BLOB: _read_blob, tags.UNSET: _read_unset}
BUILDERS: dict[int, Build] = {tags.WITHHELD: _build_withheld, tags.ERROR: _build_stored}
