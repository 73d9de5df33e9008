"""Pydantic v2 models: fields, the set of fields that were given, extras, private attributes.

Source of what a model consists of: https://docs.pydantic.dev/latest/api/base_model/, the
attributes ``__pydantic_fields_set__``, ``__pydantic_extra__`` and ``__pydantic_private__``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from keepset.codec.failures import malformed, refused, type_name
from keepset.codec.fields import Default, Members, no_such_field
from keepset.codec.glance import Make

_set = object.__setattr__
_PLACES = ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
_USUAL = 2
"""Items of the stored form of a model without extra fields and private attributes."""


def members_of(cls: Any) -> Members:
    """Read the fields of a model class."""
    fields = cls.__pydantic_fields__
    defaults = {name: _default(info) for name, info in fields.items() if not info.is_required()}
    return Members(cls, tuple(fields), defaults)


def splitter(members: Members, name: str) -> Callable[[Any], list[Any]]:
    """Give the function that takes a model apart."""
    cls: Any = members.cls
    known, read = members.known, members.read
    filled = {key: info for key, info in cls.__private_attributes__.items() if _has_default(info)}

    def split(value: Any) -> list[Any]:
        fields = read(value)
        given, extra = value.__pydantic_fields_set__, value.__pydantic_extra__
        private = value.__pydantic_private__
        usual = given == known if not extra else given == known | extra.keys()
        if usual and not extra and not private:
            return [name, fields]
        if private is not None and not filled.keys() <= private.keys():
            raise refused(
                f"{type_name(cls)} with a private attribute that was deleted",
                "codec.unset-field",
                "Set it to None instead of deleting it.",
            )
        head = name if usual else [name, *sorted(given)]
        return [head, fields, extra or {}, private or {}] if extra or private else [head, fields]

    return split


def at_a_glance(members: Members, given: Collection[str] | None) -> Make | None:
    """Give the function that makes models of their fields alone, which nearly every model is.

    Args:
        members: The fields of the class.
        given: The fields that were given; None for all.

    Returns:
        The function; None where the class has more than fields, or lacks one that was given.
    """
    cls: Any = members.cls
    new, known, order = object.__new__, members.known, members.order
    chosen = known if given is None else frozenset(given)
    if cls.__pydantic_root_model__ or cls.__private_attributes__ or not chosen <= known:
        return None
    set_fields, set_given, set_extra, set_private = _places(cls)
    allows = cls.model_config.get("extra") == "allow"

    def make(fields: dict[str, Any]) -> Any:
        nonlocal order
        names = [*fields]
        if names != order:
            return None
        order = names  # the same objects the next time, which are compared at once
        made: Any = new(cls)
        set_fields(made, fields)
        set_given(made, {*chosen})
        set_extra(made, {} if allows else None)
        set_private(made, None)
        return made

    return make


def cloner(
    cls: Any, fields: Callable[[dict[str, Any]], dict[str, Any]], again: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """Give the function that copies a model which was unpacked.

    Args:
        cls: A class whose instances have no private attributes.
        fields: Copies the fields.
        again: Copies a model that has more than fields.
    """
    new = object.__new__
    set_fields, set_given, set_extra, set_private = _places(cls)

    def clone(value: Any) -> Any:
        extra = value.__pydantic_extra__
        if extra or value.__pydantic_private__:
            return again(value)
        made: Any = new(cls)
        set_fields(made, fields(value.__dict__))
        set_given(made, set(value.__pydantic_fields_set__))
        set_extra(made, None if extra is None else {})
        set_private(made, None)
        return made

    return clone


def reader(members: Members) -> Callable[[list[Any]], Any]:
    """Give the function that makes a model again without validating it."""
    cls: Any = members.cls
    new, known, order = object.__new__, members.known, members.order
    set_fields, set_given, set_extra, set_private = _places(cls)
    # A RootModel has None for extra and private as attributes of the class, which hide its own.
    root: bool = cls.__pydantic_root_model__

    def read(payload: list[Any]) -> Any:
        name, given, fields, extra, private = _items(payload)
        if type(fields) is dict and [*fields] == order:
            values = attributes = fields
        else:
            values = members.check(fields, name)
            attributes = values if values.keys() == known else _ordered(members, values)
        made: Any = new(cls)
        set_fields(made, attributes)
        set_given(made, _given(given, known, values, extra))
        beside = _extra(cls, name, extra), _private(cls, name, private)
        if not root:
            set_extra(made, beside[0])
        if not root or beside[1]:
            set_private(made, beside[1])
        return made

    return read


def _places(cls: type) -> Iterator[Callable[[Any, Any], None]]:
    """Give what fills the four places of an instance, that of its attributes first."""
    for name in _PLACES:
        first = next(base.__dict__[name] for base in cls.__mro__ if name in base.__dict__)
        in_slot = isinstance(first, MemberDescriptorType | GetSetDescriptorType)
        yield first.__set__ if in_slot else partial(_set_named, name)


def _set_named(name: str, made: Any, value: Any) -> None:
    _set(made, name, value)


def _items(payload: list[Any]) -> tuple[str, Any, Any, Any, Any]:
    if len(payload) == _USUAL:
        head, fields = payload
        extra: Any = {}
        private: Any = {}
    else:
        head, fields, extra, private = payload
        if type(extra) is not dict or type(private) is not dict:
            raise malformed("model")
    if type(head) is list:
        return head[0], head[1:], fields, extra, private
    return head, None, fields, extra, private


def _ordered(members: Members, values: dict[str, Any]) -> dict[str, Any]:
    made = dict(values)
    members.fill(made, values, dict.__setitem__)
    return {name: made[name] for name in members.names}


def _given(given: Any, known: frozenset[str], values: dict[str, Any], extra: Any) -> set[str]:
    if given is None:
        return {*values, *extra} if extra else set(values)
    if not known.issuperset(given) and not (extra and set(given) <= known | extra.keys()):
        raise malformed("model")
    return set(given)


def _extra(cls: Any, name: str, extra: dict[str, Any]) -> dict[str, Any] | None:
    if cls.model_config.get("extra") == "allow":
        return extra
    if extra:
        raise no_such_field(name, cls, [str(key) for key in extra])
    return None


def _private(cls: Any, name: str, private: dict[str, Any]) -> dict[str, Any] | None:
    declared = cls.__private_attributes__
    if not declared and not private:
        return None
    unknown = [str(key) for key in private if key not in declared]
    if unknown:
        raise no_such_field(name, cls, unknown)
    missing = {
        key: info.get_default()
        for key, info in declared.items()
        if key not in private and _has_default(info)
    }
    return {**private, **missing}


def _has_default(info: Any) -> bool:
    # Pydantic's own name for "no default" is a type, not None, which is a default like others.
    return (
        info.default_factory is not None or type(info.default).__name__ != "PydanticUndefinedType"
    )


def _default(info: Any) -> Default:
    def make(values: Any) -> Any:  # to ask what a factory takes is slow, and most are never called
        if getattr(info, "default_factory_takes_validated_data", False):
            return info.default_factory(dict(values))
        return info.get_default(call_default_factory=True)

    return make
