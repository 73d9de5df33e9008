"""A stored mapping, cut into the bytes of its values without taking them apart."""

from __future__ import annotations

from typing import Final

import msgspec

from keepset.readers.ports import Encoding

_Raws = dict[str, msgspec.Raw]
_PACKED: Final = msgspec.msgpack.Decoder(_Raws)
_WRITTEN: Final = msgspec.json.Decoder(_Raws)


def as_bytes(data: object) -> bytes:
    """Give stored text or bytes as bytes; nothing, or what is neither, as none."""
    if isinstance(data, str):
        return data.encode("utf-8", "surrogatepass")
    return bytes(data) if isinstance(data, (bytes, bytearray, memoryview)) else b""


def raws(encoding: Encoding, raw: bytes) -> _Raws | None:
    """Cut a stored mapping into the bytes of its values; None where that cannot be."""
    try:
        if encoding == "msgpack":
            return _PACKED.decode(raw)
        return _WRITTEN.decode(raw) if encoding == "json" else None
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None


def entries(data: object) -> list[tuple[str, bytes]] | None:
    """Cut a JSON object into names and texts; None of what is no object, or holds a call."""
    raw = as_bytes(data)
    found = raws("json", raw)
    if found is None or ("lc" in found and "id" in found):
        return None
    return [(name, bytes(value)) for name, value in found.items()]
