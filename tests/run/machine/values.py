"""States that a machine makes, how it changes them in place, and how they are told apart."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypedDict

from hypothesis import strategies as st

import keepset as ks
from keepset.codec import Withheld, format_path
from tests.run.states import Item
from tests.scan.credentials import KINDS, Maker

SECRET = KINDS["aws"](Maker(11))
KIND = "secret.format"
_SHOWN = 2_000
_PAGE = "a page of a text that is much too long to be written down in a test. " * 1_100


class World(TypedDict, total=False):
    """A field of every kind of life."""

    now: Annotated[str, ks.Keep()]
    messages: Annotated[list[Any], ks.Keep()]
    log: Annotated[list[Any], ks.Keep(append_only=True)]
    tree: Annotated[dict[str, Any], ks.Keep()]
    items: Annotated[list[Item], ks.Keep()]
    flags: Annotated[dict[str, Any], ks.Keep()]
    draft: Annotated[str, ks.Keep()]
    pages: Annotated[dict[str, Any], ks.Keep()]
    count: Annotated[int, ks.Keep()]
    anything: Annotated[Any, ks.Keep()]


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, -0.0, 1.0, float("nan"), 2**70, b"", b"bytes"])
    | st.text(max_size=6)
    | st.just(SECRET)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4)
        | st.tuples(inner, inner)
        | st.sets(st.integers(0, 9) | st.sampled_from(["a", "b", SECRET]), max_size=3)
        | st.builds(Item, st.text(max_size=3) | st.just(SECRET), st.just([]))
    ),
    max_leaves=8,
)


def shown(value: Any, path: tuple[str | int, ...] = ()) -> str:
    """Write a value with its types and order as it is to be stored: a secret is not."""
    kind = type(value)
    if kind is str:
        return _text(value, path)
    if kind is dict:
        parts = [f"{key!r}: {shown(child, (*path, key))}" for key, child in value.items()]
        return f"{{{', '.join(parts)}}}"
    if kind in (list, tuple):
        parts = [shown(child, (*path, index)) for index, child in enumerate(value)]
        return f"{kind.__name__}({', '.join(parts)})"
    if kind in (set, frozenset):
        plain = {f"[withheld: {KIND}]" if child == SECRET else child for child in value}
        return f"{kind.__name__}({', '.join(sorted(map(repr, plain)))})"
    if kind is Item:
        return f"Item({shown(value.name, (*path, 'name'))}, {shown(value.tags, (*path, 'tags'))})"
    return repr(value)


def _text(value: str, path: tuple[str | int, ...]) -> str:
    if value == SECRET:
        return repr(Withheld(KIND, format_path(path)))
    return repr(value.replace(SECRET, f"[withheld: {KIND}]"))


def picture(state: Mapping[str, Any]) -> dict[str, str]:
    """Give what tells a state from any other: each field as `shown`, the long ones by digest."""
    fields = {name: shown(value, (name,)) for name, value in state.items()}
    return {name: text if len(text) < _SHOWN else _digest(text) for name, text in fields.items()}


def _digest(text: str) -> str:
    return f"{text[:80]}… {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


# --- changes in place: each takes a state, a number to choose a place by, and a value ------------


def append(state: dict[str, Any], at: int, value: Any) -> None:
    state["messages"].append({"content": value, "text": "word " * (at % 9)})


def extend(state: dict[str, Any], at: int, value: Any) -> None:
    """Make the list long enough to be looked at in chunks."""
    more = [{"content": value, "n": n, "text": f"{n} words " * 60} for n in range(at % 40)]
    state["messages"].extend(more)


def change_message(state: dict[str, Any], at: int, value: Any) -> None:
    if state["messages"]:
        state["messages"][at % len(state["messages"])]["content"] = value


def insert_message(state: dict[str, Any], at: int, value: Any) -> None:
    state["messages"].insert(at % (len(state["messages"]) + 1), {"content": value})


def trim(state: dict[str, Any], at: int, _: Any) -> None:
    messages = state["messages"]
    del messages[: at % 6]
    if at % 3:
        del messages[-(at % 3) :]


def reorder(state: dict[str, Any], at: int, _: Any) -> None:
    state["messages"].reverse()
    names = list(state["flags"])
    if names:
        name = names[at % len(names)]
        state["flags"][name] = state["flags"].pop(name)


def note(state: dict[str, Any], at: int, value: Any) -> None:
    """Add to the list that only grows."""
    log = state.setdefault("log", [])
    log.extend({"n": n, "value": value, "text": "line " * 40} for n in range(at % 5))


def flag(state: dict[str, Any], at: int, value: Any) -> None:
    if at % 4:
        state["flags"][f"flag {at % 8}"] = value
    else:
        state["flags"].pop(f"flag {at % 8}", None)


def deep(state: dict[str, Any], at: int, value: Any) -> None:
    """Change one of the containers below two fields, however deep it lies."""
    found = containers([state["tree"], state["items"]])
    _change(found[at % len(found)], at, value)


def containers(value: Any) -> list[Any]:
    """Give everything below a list that can be changed in place."""
    found: list[Any] = []
    waiting = list(value)
    while waiting:
        one = waiting.pop()
        if type(one) in (list, dict, set, Item):
            found.append(one)
        if type(one) in (list, tuple):
            waiting.extend(one)
        elif type(one) is dict:
            waiting.extend(one.values())
        elif type(one) is Item:
            waiting.append(one.tags)
    return found


def _change(one: Any, at: int, value: Any) -> None:
    if type(one) is dict:
        names = list(one)
        if at % 5 == 0 and names:
            del one[names[at % len(names)]]
        else:
            one[f"k{at % 4}"] = value
    elif type(one) is list:
        if at % 5 == 0 and one:
            del one[at % len(one)]
        else:
            one.insert(at % (len(one) + 1), value)
    elif type(one) is set:
        one.symmetric_difference_update({at % 9, "a"})
    else:
        one.name = f"name {at}"


def add_item(state: dict[str, Any], at: int, value: Any) -> None:
    state["items"].append(Item(f"item {at % 3}", [value] if type(value) is str else []))


def edit_draft(state: dict[str, Any], at: int, value: Any) -> None:
    draft = state["draft"] + "some more text to edit "
    cut = at % len(draft)
    state["draft"] = draft[:cut] + repr(value).replace(SECRET, "")[:30] + draft[cut + at % 7 :]


def grow_draft(state: dict[str, Any], at: int, _: Any) -> None:
    """Let a text grow until it is a large value, and become short again."""
    draft = state["draft"] or "begin "
    state["draft"] = draft[: at % 50] if len(draft) > 150_000 else draft * (2 + at % 4)


def add_page(state: dict[str, Any], at: int, value: Any) -> None:
    """Have a large value, the same one twice, or change something beside it."""
    pages = state["pages"]
    if at % 3 == 0:
        pages.pop(f"page {at % 2}", None)
    else:
        pages[f"page {at % 2}"] = [f"{at % 4} {_PAGE}", value, {"same": f"1 {_PAGE}"}]


def set_anything(state: dict[str, Any], at: int, value: Any) -> None:
    state["anything"] = f"the key {SECRET} of {at}" if at % 7 == 0 else value


def drop_field(state: dict[str, Any], at: int, _: Any) -> None:
    state.pop(("anything", "count")[at % 2], None)


def count(state: dict[str, Any], at: int, _: Any) -> None:
    state["count"] = (1, True, 1.0, at)[at % 4]


EDITS: list[Callable[[dict[str, Any], int, Any], None]] = [
    *(append, extend, change_message, insert_message, trim, reorder, note, flag, deep, deep),
    *(add_item, edit_draft, grow_draft, add_page, set_anything, drop_field, count),
]


def fresh() -> dict[str, Any]:
    """Give a state to begin with."""
    empty: dict[str, Any] = {name: [] for name in ("messages", "log", "items")}
    return {**empty, "tree": {}, "flags": {}, "pages": {}, "draft": ""}
