"""Values of every kind that a difference has to tell apart, and changes of every kind to them."""

from __future__ import annotations

import copy
import math
import struct
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from keepset.codec import Codec
from keepset.delta import Change, Frozen, apply, diff, freeze

CODEC = Codec()
LONG = "a sentence that is long enough to be worth a look inside of it, with é and 𝄞 in it; "
ALIKE: list[Any] = [0, False, 0.0, -0.0, 1, True, 1.0, None, "", b"", math.nan, math.inf]

LEAVES: st.SearchStrategy[Any] = (
    st.sampled_from(ALIKE)
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=8)
    | st.integers(0, 3).map(lambda n: LONG * (n + 1) + str(n))
    | st.lists(st.sampled_from(["one\n", "two\n", "three, a longer line\n"])).map("".join)
)
HASHABLE = st.integers() | st.text(max_size=4) | st.booleans()


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.lists(inner, max_size=12)
        | st.dictionaries(st.text(max_size=4), inner, max_size=8)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(HASHABLE, inner, max_size=3)
        | st.frozensets(HASHABLE, max_size=4)
    )


VALUES = st.recursive(LEAVES, _containers, max_leaves=30)
STATES = (
    st.lists(VALUES, max_size=20)
    | st.dictionaries(st.text(max_size=4), VALUES, max_size=12)
    | st.text(max_size=200)
    | VALUES
)


def same(left: Any, right: Any) -> bool:
    """Equal, and of the same types all the way down; floats by bits, mappings in order."""
    if type(left) is not type(right):
        return False
    if type(left) is float:
        return struct.pack(">d", left) == struct.pack(">d", right)
    if type(left) in (list, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if type(left) is dict:
        return same(list(left.items()), list(right.items()))
    if type(left) is frozenset:
        return sorted(map(repr, left)) == sorted(map(repr, right))
    return bool(left == right)


def picture(value: object) -> Frozen:
    return freeze(value, CODEC.pack)


def between(old: object, new: object) -> Change | None:
    return diff(picture(old), picture(new))


def changed(old: object, new: object) -> Change:
    change = between(old, new)
    assert change is not None
    return change


def replay(old: object, change: Change) -> object:
    return apply(copy.deepcopy(old), CODEC.unpack(change.op), {})


# --- changes ----------------------------------------------------------------------------------

Draw = Callable[[st.SearchStrategy[Any]], Any]


def _change_list(draw: Draw, items: list[Any]) -> None:
    start = draw(st.integers(0, len(items)))
    stop = draw(st.integers(start, len(items)))
    new = draw(st.lists(VALUES, max_size=4))
    kind = draw(st.sampled_from(["append", "trim", "pop", "splice", "repeat", "move", "window"]))
    if kind == "append":
        items += new
    elif kind == "trim":
        del items[:start]
    elif kind == "pop":
        del items[start:]
    elif kind == "splice":
        items[start:stop] = new
    elif kind == "repeat":
        items += copy.deepcopy(items[start:stop])
    elif kind == "move":
        items.insert(0, items.pop()) if items else None
    else:
        items[1:start] = []
        items += new


def _change_mapping(draw: Draw, entries: dict[Any, Any]) -> None:
    key = draw(st.sampled_from(list(entries)) if entries else st.text(max_size=4))
    kind = draw(st.sampled_from(["set", "new", "delete", "last", "reverse", "front"]))
    if kind == "set":
        entries[key] = draw(VALUES)
    elif kind == "new":
        entries[draw(st.text(max_size=4))] = draw(VALUES)
    elif kind == "delete":
        entries.pop(key, None)
    elif kind == "last":
        entries[key] = entries.pop(key, 0)
    else:
        pairs = list(entries.items())
        front = [(draw(st.text(max_size=4)), draw(VALUES))]
        entries.clear()
        entries.update(pairs[::-1] if kind == "reverse" else front + pairs)


def _change_text(draw: Draw, text: str) -> str:
    start = draw(st.integers(0, len(text)))
    stop = draw(st.integers(start, len(text)))
    return str(text[:start] + draw(st.text(max_size=9)) + text[stop:])


def mutated(draw: Draw, value: Any) -> Any:
    """A copy of `value` with one change somewhere in it."""
    value = copy.deepcopy(value)
    children = list(value) if type(value) is dict else range(len(value)) if _is_list(value) else ()
    if children and draw(st.booleans()):
        key = draw(st.sampled_from(list(children)))
        value[key] = mutated(draw, value[key])
    elif type(value) is list:
        _change_list(draw, value)
    elif type(value) is dict:
        _change_mapping(draw, value)
    elif type(value) is str:
        value = _change_text(draw, value)
    else:
        value = draw(VALUES)
    return value


def _is_list(value: object) -> bool:
    return type(value) is list
