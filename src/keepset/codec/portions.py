"""A packed value a portion at a time, so that a large one need not be there twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from keepset.codec.framing import Buffer, array_header, bytes_header, map_header
from keepset.codec.long_text import LONG_TEXT, packed_portions


def portions_of(value: object, pack: Callable[[object], bytes]) -> Iterator[Buffer]:
    """Give the packed bytes of a value, long texts and byte strings in it in portions.

    Args:
        value: The value.
        pack: Packs it, or a part of it.

    Raises:
        PolicyError: What `pack` raises.
    """
    if type(value) is list:
        yield array_header(len(value))
        for item in value:
            yield from _part(item, pack)
    elif type(value) is dict and {str}.issuperset(map(type, value)):
        yield map_header(len(value))
        for key, item in value.items():
            yield pack(key)
            yield from _part(item, pack)
    else:
        yield from _part(value, pack)


def _part(value: object, pack: Callable[[object], bytes]) -> Iterator[Buffer]:
    if type(value) is bytes:
        yield bytes_header(len(value))
        yield memoryview(value)
        return
    if type(value) is str and len(value) >= LONG_TEXT:
        portions = packed_portions(value)
        try:
            yield next(portions)
        except UnicodeEncodeError:  # that is no text to MessagePack
            yield pack(value)
            return
        yield from portions
        return
    yield pack(value)


def is_packed(value: bytes | str, data: bytes) -> bool:
    """Tell whether a byte string, or a long text, is packed as known bytes.

    Raises:
        UnicodeEncodeError: The text is no valid Unicode.
    """
    at = 0
    for portion in (
        (bytes_header(len(value)), value) if isinstance(value, bytes) else packed_portions(value)
    ):
        if not data.startswith(portion, at):
            return False
        at += len(portion)
    return at == len(data)
