"""Instances of a state where LangGraph takes a mapping as well: as input, and in a `Send`."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from types import MemberDescriptorType
from typing import Any

from langgraph.types import Command
from msgspec.structs import force_setattr

from keepset.adapters.langgraph.host import annotated_keys, updates_of
from keepset.adapters.langgraph.nesting import GraphContract
from keepset.adapters.langgraph.types import host_types
from keepset.contracts import MISSING, Contract
from keepset.contracts.records import kind_of


def entered(contract: Contract, given: Any) -> Any:
    """Give the input of a graph by key; what is no instance with keys is given back.

    An instance becomes what LangGraph's own first node reads of it. Rules go by key, and a graph
    inside need not know the class of the state around it.
    """
    keys = contract.given if isinstance(contract, GraphContract) else ()
    if not keys or isinstance(given, dict | list | Command) or not annotated_keys(type(given)):
        return given
    return dict(updates_of(given, keys))


def held(given: Any, names: Iterable[str]) -> Mapping[Any, Any]:
    """Give what a mapping holds, or what an instance holds of some names.

    A message, or whatever else is the host's own, holds nothing of a state.
    """
    if isinstance(given, dict):
        return given
    if not annotated_keys(type(given)) or host_types().of_class(type(given)) is not None:
        return {}
    values = {name: _attribute(given, name) for name in names}
    return {name: value for name, value in values.items() if value is not MISSING}


def changed(given: Any, values: Mapping[str, Any]) -> Any:
    """Copy a mapping or an instance, with other values; no constructor and no validator runs."""
    if isinstance(given, dict):
        return {**given, **values}
    kind = kind_of(type(given))
    if kind == "namedtuple":
        return given._replace(**values)
    made = copy.copy(given)
    for name, value in values.items():
        if kind == "struct":
            force_setattr(made, name, value)
        elif kind == "pydantic":
            extra = made.__pydantic_extra__ or {}
            (extra if name in extra else vars(made))[name] = value
        else:
            object.__setattr__(made, name, value)
    return made


def _attribute(given: Any, name: str) -> Any:
    """Give an attribute that an instance has of its own: no property, no constant of the class."""
    for place in (getattr(given, "__dict__", {}), getattr(given, "__pydantic_extra__", None) or {}):
        if name in place:
            return place[name]
    cls = type(given)
    slot = isinstance(getattr(cls, name, None), MemberDescriptorType)
    return getattr(given, name, MISSING) if slot or name in getattr(cls, "_fields", ()) else MISSING
