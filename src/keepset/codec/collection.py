"""Collections beyond list and dict, and mappings whose keys are not all text."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

from keepset.codec import tags
from keepset.codec.failures import malformed, refused
from keepset.codec.nodes import Build, Form, Lookup, Node

_FACTORIES: dict[Any, str | None] = {
    None: None,
    bool: "bool",
    dict: "dict",
    float: "float",
    int: "int",
    list: "list",
    set: "set",
    str: "str",
    tuple: "tuple",
}
_FACTORY_OF = {name: factory for factory, name in _FACTORIES.items()}


def _split_default(value: defaultdict[Any, Any]) -> list[Any]:
    factory = value.default_factory
    if not (factory is None or (isinstance(factory, type) and factory in _FACTORIES)):
        raise refused(
            "a defaultdict whose factory is not a builtin type cannot be stored",
            "codec.factory",
            "Use list, dict, set, int, float, str, tuple, bool or None as its factory.",
        )
    return [_FACTORIES[factory], dict(value)]


def _build_default(payload: list[Any], _: Lookup) -> defaultdict[Any, Any]:
    name, items = payload
    return defaultdict(_FACTORY_OF[name], _mapping(items))


def _split_deque(value: deque[Any]) -> list[Any]:
    return [value.maxlen, list(value)]


def _build_deque(payload: list[Any], _: Lookup) -> deque[Any]:
    limit, items = payload
    if type(items) is not list or (limit is not None and len(items) > limit):
        raise malformed("deque")
    return deque(items, limit)


def _split_mapping(value: dict[Any, Any]) -> list[Any]:
    if value.__dict__:
        raise refused(
            f"a {type(value).__name__} with attributes of its own cannot be stored",
            "codec.extra-attributes",
            "Keep the attributes in fields of their own.",
        )
    return [dict(value.items())]


def _build_ordered(payload: list[Any], _: Lookup) -> OrderedDict[Any, Any]:
    (items,) = payload
    return OrderedDict(_mapping(items))


def _build_counter(payload: list[Any], _: Lookup) -> Counter[Any]:
    (items,) = payload
    # Counter's own constructor counts; what is stored has been counted.
    counter: Counter[Any] = Counter()
    dict.update(counter, _mapping(items))
    return counter


def _build_pairs(payload: list[Any], _: Lookup) -> dict[Any, Any]:
    items = iter(payload)
    mapping = dict(zip(items, items, strict=True))
    if 2 * len(mapping) != len(payload):
        raise malformed("mapping")
    return mapping


def _build_set(payload: list[Any], _: Lookup) -> set[Any]:
    items = set(payload)
    if len(items) != len(payload):
        raise malformed("set")
    return items


def _build_frozenset(payload: list[Any], lookup: Lookup) -> frozenset[Any]:
    return frozenset(_build_set(payload, lookup))


def _build_tuple(payload: list[Any], _: Lookup) -> tuple[Any, ...]:
    return tuple(payload)


def _split_range(value: range) -> list[Any]:
    return [value.start, value.stop, value.step]


def _build_range(payload: list[Any], _: Lookup) -> range:
    start, stop, step = payload
    if any(type(part) is not int for part in payload):
        raise malformed("range")
    return range(start, stop, step)


def _mapping(items: object) -> dict[Any, Any]:
    if type(items) is not dict:
        raise malformed("mapping")
    return items


FORMS: dict[type, Form] = {
    tuple: Node(tags.TUPLE, list, spread=True),
    set: Node(tags.SET, list, spread=True, unordered=True),
    frozenset: Node(tags.FROZENSET, list, spread=True, unordered=True),
    OrderedDict: Node(tags.ORDERED, _split_mapping),
    Counter: Node(tags.COUNTER, _split_mapping),
    defaultdict: Node(tags.DEFAULTDICT, _split_default, head=1),
    deque: Node(tags.DEQUE, _split_deque, head=1),
    range: Node(tags.RANGE, _split_range, head=3),
}
BUILDERS: dict[int, Build] = {
    tags.TUPLE: _build_tuple,
    tags.SET: _build_set,
    tags.FROZENSET: _build_frozenset,
    tags.MAPPING: _build_pairs,
    tags.ORDERED: _build_ordered,
    tags.COUNTER: _build_counter,
    tags.DEFAULTDICT: _build_default,
    tags.DEQUE: _build_deque,
    tags.RANGE: _build_range,
}
