"""All types that the codec knows by itself, and what undoes them."""

from __future__ import annotations

from keepset.codec import addresses, collection, inside, numeric, tags, temporal
from keepset.codec.nodes import Build, Form, Leaf, Read


def write_text(value: str) -> bytes:
    """Write a text with lone surrogates, which have no place in UTF-8."""
    return value.encode("utf-8", "surrogatepass")


def _read_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


FORMS: dict[type, Form] = {
    bytearray: Leaf(tags.BYTEARRAY, bytes),
    int: Leaf(tags.INTEGER, numeric.write_integer),
    **numeric.FORMS,
    **temporal.FORMS,
    **addresses.FORMS,
    **collection.FORMS,
    **inside.FORMS,
}
"""How a class is written; `int`, `str`, `list` and `dict` are framing and stand in `walk`;
the leaf for `int` is for what does not fit into 64 bits."""

READERS: dict[int, Read] = {
    tags.TEXT: _read_text,
    tags.BYTEARRAY: bytearray,
    **numeric.READERS,
    **temporal.READERS,
    **addresses.READERS,
    **inside.READERS,
}
BUILDERS: dict[int, Build] = {
    **addresses.BUILDERS,
    **collection.BUILDERS,
    **inside.BUILDERS,
}
