"""Values as LangGraph's savers store them: bytes, and beside them a tag that says of what kind."""

from __future__ import annotations

from keepset.readers.decoding.bounds import too_large
from keepset.readers.decoding.documents import from_json
from keepset.readers.decoding.packed import from_msgpack
from keepset.readers.decoding.pickled import from_pickle
from keepset.readers.ports import Encoding, Unreadable

_EMPTY = ("null", "empty")
_BYTES = ("bytes", "bytearray")


def encoding_of(tag: object) -> Encoding:
    """Tell how a value is stored, by its tag; before there were tags it was JSON.

    A column of SQLite's may hold what is no text, which is no tag that is known.
    """
    if tag is None:
        return "json"
    if not isinstance(tag, str):
        return "bytes"
    if "+" in tag:
        return "encrypted"
    if tag in _EMPTY:
        return "null"
    return tag if tag in ("msgpack", "json", "pickle") else "bytes"  # type: ignore[return-value] # one of those


def from_tagged(tag: object, data: bytes | str | None) -> object:
    """Take a value apart by its tag; of an encrypted one there is nothing to see, which is None."""
    encoding = encoding_of(tag)
    if data is None or encoding in ("encrypted", "null"):
        return None
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if encoding == "msgpack":
        return from_msgpack(raw)
    if encoding == "json":
        return from_json(raw)
    if encoding == "pickle":
        return from_pickle(raw)
    if tag in _BYTES:
        return too_large(len(raw)) or raw
    return Unreadable("stored under a tag that is not known")
