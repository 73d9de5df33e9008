"""JSON, with the constructor calls that LangChain writes into it taken as data."""

from __future__ import annotations

import json

import msgspec

from keepset.readers.decoding.bounds import COMMON, swells, too_large, type_name
from keepset.readers.ports import Foreign, Unreadable

_BOM = b"\xef\xbb\xbf"


def from_json(data: bytes | str) -> object:
    """Take a JSON text apart; what LangChain would make of it by a call becomes `Foreign`."""
    text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if (refused := too_large(len(text)) or _swells(text)) is not None:
        return refused
    value = _parsed(text)
    return with_calls(value) if b'"lc"' in text else value


def _swells(text: bytes) -> Unreadable | None:
    """Refuse a large text of little but brackets: pairs of numbers have one in six bytes."""
    brackets = text.count(b"[") + text.count(b"{") if len(text) > COMMON else 0
    return swells(len(text), brackets, 0.3)


def _parsed(text: bytes) -> object:
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        return Unreadable("nested too deep")
    except msgspec.MsgspecError:
        return _as_python_writes_it(text)


def _as_python_writes_it(text: bytes) -> object:
    """Read what is beside the standard: NaN, lone surrogates, numbers out of range."""
    try:
        value: object = json.loads(text.removeprefix(_BOM).decode("utf-8", "surrogatepass"))
    except RecursionError:
        return Unreadable("nested too deep")
    except ValueError:
        return Unreadable("no whole JSON")
    return value


def with_calls(value: object) -> object:
    """Put `Foreign` for each mapping that says which constructor to call, at any depth."""
    root: list[object] = [value]
    waiting: list[list[object] | dict[object, object]] = [root]
    while waiting:
        holder = waiting.pop()
        places = enumerate(holder) if isinstance(holder, list) else list(holder.items())
        for place, one in places:
            called = _call(one) if isinstance(one, dict) and "lc" in one else one
            if called is not one:
                holder[place] = called  # type: ignore[call-overload] # a place of this very holder
            below = called.parts if isinstance(called, Foreign) else called
            if isinstance(below, (list, dict)):
                waiting.append(below)
    return root[0]


def _call(found: dict[object, object]) -> object:
    """Read ``{"lc": 1, "type": "constructor", "id": ["module", "Class"], "kwargs": {…}}``."""
    names = found.get("id")
    if found.get("type") not in ("constructor", "not_implemented") or not isinstance(names, list):
        return found
    positional, named = found.get("args"), found.get("kwargs")
    parts = [positional, named] if positional and named else named or positional
    return Foreign(type_name(*names), found.get("repr") if parts is None else parts)
