"""Stored values as plain JSON, for people and programs that have none of the classes."""

from __future__ import annotations

import json
import math
from typing import Any

from keepset.cli.output import printable
from keepset.codec import Codec, Opaque, Withheld
from keepset.errors import PolicyError

TYPE = "$type"
MASKED: dict[str, Any] = {TYPE: "masked"}
"""Stands for a personal value that was not revealed."""
LONGEST = 13_000
"""Bits up to which an integer is written in decimal; Python's own limit is 4,300 digits."""


def render(value: object) -> Any:
    """Turn any value that a codec reads into plain JSON.

    What JSON has is itself. Everything else is an object whose ``$type`` says what it is, with
    its ``items``, its ``fields``, or its ``text``.
    """
    if value is None or isinstance(value, bool):
        return value
    if type(value) is str or (type(value) is int and value.bit_length() <= LONGEST):
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is list:
        return [render(item) for item in value]
    if type(value) is dict:
        return _mapping(value)
    return _named(value)


def _mapping(value: dict[Any, Any]) -> dict[str, Any]:
    if all(type(key) is str and key != TYPE for key in value):
        return {key: render(item) for key, item in value.items()}
    return {TYPE: "dict", "items": [[render(key), render(item)] for key, item in value.items()]}


def _named(value: object) -> dict[str, Any]:
    name = type(value).__qualname__
    if isinstance(value, Withheld):
        return {TYPE: "withheld", "kind": value.kind, "path": value.path}
    if isinstance(value, Opaque):
        return _opaque(value)
    if isinstance(value, bytes | bytearray):
        return {TYPE: name, "size": len(value), "hex": bytes(value[:64]).hex()}
    try:
        parts = Codec().parts(value)
    except PolicyError:
        parts = None
    if parts is None:
        return {TYPE: name, "text": _text(value)}
    children = list(parts)
    if all(isinstance(element, str) for element, _ in children):
        return {TYPE: name, "fields": {str(element): render(child) for element, child in children}}
    return {TYPE: name, "items": [render(child) for _, child in children]}


def _text(value: object) -> str:
    try:
        return hex(value) if type(value) is int else str(value)
    except ValueError:  # a fraction of numbers beyond what Python writes in decimal
        return "(too long)"


def _opaque(value: Opaque) -> dict[str, Any]:
    """Show an object of a user's class by its stored name; of a model also what it has beside."""
    first, *rest = (render(part) for part in value.payload)
    fields = value.payload[0] if isinstance(value.payload[0], dict) else None
    shown: dict[str, Any] = {TYPE: value.name, "value" if fields is None else "fields": first}
    return {**shown, "beside": rest} if rest else shown


def one_line(rendered: Any, width: int) -> str:
    """Write rendered JSON on one line of at most `width` characters, safe for a terminal."""
    if rendered == MASKED:
        return "(personal; --reveal shows it)"
    text = printable(json.dumps(rendered, ensure_ascii=False))
    return text if len(text) <= width else f"{text[: width - 1]}…"
