"""The classes of LangGraph and LangChain that reach a saver, under names that never change.

Which they are was found by running graphs over every feature with a saver that recorded the types
of all it was given. A name has no module in it, so that a class may move. Each class is listed by
itself: an instance of a user's subclass is not taken for its base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, Final

from keepset.codec import GLOBAL, TypeRegistry

_BY_FIELDS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "langchain": {
        "langchain_core.messages": (
            "AIMessage",
            "AIMessageChunk",
            "BaseMessage",
            "BaseMessageChunk",
            "ChatMessage",
            "ChatMessageChunk",
            "FunctionMessage",
            "FunctionMessageChunk",
            "HumanMessage",
            "HumanMessageChunk",
            "RemoveMessage",
            "SystemMessage",
            "SystemMessageChunk",
            "ToolMessage",
            "ToolMessageChunk",
        ),
        "langchain_core.documents": ("Document",),
    },
    "langgraph": {
        "langgraph.types": ("Command", "Interrupt", "Overwrite", "TimeoutPolicy"),
        "langgraph.checkpoint.serde.types": ("_DeltaSnapshot",),
    },
}
"""Classes with declared fields, by the first part of their stored names and their modules."""

_BY_SLOTS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "langgraph.types": {"Send": ("node", "arg", "timeout")},
    "langgraph.store.base": {
        "Item": ("value", "key", "namespace", "created_at", "updated_at"),
        "SearchItem": ("value", "key", "namespace", "created_at", "updated_at", "score"),
    },
}
"""Classes that declare slots and no fields."""

_LATER: Final = frozenset({"timeout"})
"""Slots that older releases do not have."""


@cache
def host_types() -> TypeRegistry:
    """Give the registry of the host's classes, on top of what the process has registered.

    It is built once, when it is first needed. A class that the user has registered keeps that
    name. What the installed releases do not have is left out.
    """
    named = dict(_with_fields())
    registry = GLOBAL.with_types(named)
    for name, cls, slots in _with_slots():
        to, back = _by_slots(cls, slots)
        registry.register(name, cls, to=to, back=back)
    text = _found("langchain_core.messages.base", "TextAccessor")
    if text is not None:
        # What `message.text` gives: a str that can be called as well.
        registry.register(
            "langchain/TextAccessor",
            text,
            to=str.__str__,
            back=lambda plain: str.__new__(text, plain),
        )
    return registry


def host_classes() -> Iterator[type]:
    """Give the classes of which the host writes instances, as far as they are installed."""
    yield from (cls for _, cls in _with_fields())
    yield from (cls for _, cls, _ in _with_slots())
    for name in ("SecretStr", "SecretBytes"):  # withheld whatever is in them, but for their place
        cls = _found("pydantic", name)
        if cls is not None:
            yield cls


def _with_fields() -> Iterator[tuple[str, type]]:
    for prefix, modules in _BY_FIELDS.items():
        for module, names in modules.items():
            for name in names:
                cls = _found(module, name)
                if cls is not None:
                    yield f"{prefix}/{name.lstrip('_')}", cls


def _with_slots() -> Iterator[tuple[str, type, tuple[str, ...]]]:
    for module, classes in _BY_SLOTS.items():
        for name, slots in classes.items():
            cls = _found(module, name)
            if cls is not None:
                there = tuple(slot for slot in slots if slot not in _LATER or hasattr(cls, slot))
                yield f"langgraph/{name}", cls, there


def _found(module: str, name: str) -> Any:
    try:
        return getattr(import_module(module), name, None)
    except ModuleNotFoundError:
        return None


def _by_slots(
    cls: type, slots: tuple[str, ...]
) -> tuple[Callable[[Any], dict[str, Any]], Callable[[Any], Any]]:
    """Give the pair of functions that takes an instance apart and makes one, without its init."""

    def to(value: Any) -> dict[str, Any]:
        return {slot: getattr(value, slot) for slot in slots}

    def back(plain: dict[str, Any]) -> Any:
        made: Any = object.__new__(cls)
        for slot in slots:
            object.__setattr__(made, slot, plain.get(slot))
        if not plain.keys() <= set(slots):
            raise KeyError(*sorted(plain.keys() - set(slots)))
        return made

    return to, back
