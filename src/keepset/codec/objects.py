"""Instances of registered classes, written by field and made again without their constructor.

The wire form is ``[name, fields]``; an Enum member is ``[name, member's name]``, a Flag
``[name, number]``. Reading looks the name up in the registry, allocates the instance and puts the
fields in: no `__init__`, validator or `__post_init__` runs.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from collections.abc import Callable
from types import MemberDescriptorType
from typing import Any, TypeAlias

import msgspec

from keepset.codec import models, tags
from keepset.codec.entry import Entry
from keepset.codec.failures import bad, malformed, refused, type_name
from keepset.codec.fields import HASH, Default, Members
from keepset.codec.nodes import Form, Node
from keepset.errors import KeepsetError

Reader: TypeAlias = Callable[[list[Any]], Any]
"""Makes an instance from the items of an object's extension."""

_set = object.__setattr__
_set_class = object.__dict__["__class__"].__set__


def form_of(entry: Entry) -> Form | None:
    """Find how a registered class is written; None where it has no declared fields."""
    name, cls = entry.name, entry.cls
    if entry.to is not None:
        return Node(tags.OBJECT, _converter(name, cls, entry.to), head=1)
    if issubclass(cls, enum.Flag):
        return Node(tags.FLAG, lambda value: [name, value._value_], head=2)
    if issubclass(cls, enum.Enum):
        return Node(tags.MEMBER, lambda value: [name, value._name_], head=2)
    members = members_of(cls)
    if members is None:
        return None
    if is_model(cls):
        return Node(tags.OBJECT, models.splitter(members, name), head=1)
    read: Callable[[Any], dict[str, Any]] = members.read
    if issubclass(cls, tuple):
        read = _tuple_reader(members)
    elif issubclass(cls, msgspec.Struct) and not cls.__dictoffset__:
        read = _struct_reader(members)
    return Node(tags.OBJECT, lambda value: [name, read(value)], head=1)


def reader_of(entry: Entry) -> Reader:
    """Give the function that makes an instance of a registered class.

    Raises:
        DecodeError: ``decode.unknown-type`` where the class cannot be made from fields.
    """
    cls = entry.cls
    if entry.back is not None:
        return _back(entry.name, cls, entry.back)
    members = None if issubclass(cls, enum.Enum) else members_of(cls)
    if members is None:
        raise bad(
            f"{entry.name}: {type_name(cls)} cannot be made from stored fields",
            "decode.unknown-type",
            "Register it with `back`, as it was when the data was written.",
        )
    if is_model(cls):
        return models.reader(members)
    if issubclass(cls, msgspec.Struct):
        return _struct_maker(members)
    if issubclass(cls, tuple):
        return _tuple_maker(members)
    return _maker(members)


def read_member(entry: Entry, stored: object) -> Any:
    """Find an Enum's member by its name."""
    cls = entry.cls
    if issubclass(cls, enum.Enum) and type(stored) is str:
        member = cls._member_map_.get(stored)
        if member is not None:
            return member
    raise bad(
        f"{entry.name}: {type_name(cls)} has no member of the stored name",
        "decode.unknown-member",
        "Keep the old name as an alias of the member that took its place.",
    )


def read_flag(entry: Entry, stored: object) -> Any:
    """Find a Flag, or a combination of flags, by its number."""
    cls = entry.cls
    if not issubclass(cls, enum.Flag) or type(stored) is not int:
        raise malformed("flag")
    member: Any = cls._value2member_map_.get(stored)
    if member is None:
        # Flag's own rule for combinations, not what a class may have put in its place.
        combine: Any = enum.Flag.__dict__["_missing_"].__func__
        member = combine(cls, stored)
    if member._value_ != stored:
        raise malformed("flag")
    return member


def is_model(cls: type) -> bool:
    """Tell whether a class is a pydantic v2 model, without importing pydantic."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and issubclass(cls, pydantic.BaseModel)


def members_of(cls: type) -> Members | None:
    """Read the declared fields of a class; None where it has none or more than its fields.

    A class that builds on a builtin (a list, an exception) holds more than its fields.
    """
    if issubclass(cls, msgspec.Struct):
        return _struct_members(cls)
    if issubclass(cls, tuple):
        return _tuple_members(cls)
    try:
        object.__new__(cls)
    except TypeError:
        return None
    if is_model(cls):
        return models.members_of(cls)
    if dataclasses.is_dataclass(cls):
        return _dataclass_members(cls)
    return _attrs_members(cls) if hasattr(cls, "__attrs_attrs__") else None


def _dataclass_members(cls: Any) -> Members:
    fields, nothing = dataclasses.fields(cls), dataclasses.MISSING
    defaults: dict[str, Default] = {}
    for field in fields:
        if field.default is not nothing:
            defaults[field.name] = _constant(field.default)
        elif field.default_factory is not nothing:
            defaults[field.name] = _call(field.default_factory)
    unset = frozenset(f.name for f in fields if not f.init and f.name not in defaults)
    return Members(cls, tuple(field.name for field in fields), defaults, unset)


def _attrs_members(cls: Any) -> Members:
    attrs: Any = sys.modules["attr"]
    defaults: dict[str, Default] = {}
    for attribute in cls.__attrs_attrs__:
        default = attribute.default
        if isinstance(default, attrs.Factory):
            takes = default.takes_self
            defaults[attribute.name] = default.factory if takes else _call(default.factory)
        elif default is not attrs.NOTHING:
            defaults[attribute.name] = _constant(default)
    names = tuple(attribute.name for attribute in cls.__attrs_attrs__)
    unset = frozenset(a.name for a in cls.__attrs_attrs__ if not a.init and a.name not in defaults)
    return Members(cls, names, defaults, unset)


def _struct_members(cls: type[msgspec.Struct]) -> Members:
    names, given = cls.__struct_fields__, cls.__struct_defaults__
    late = zip(names[len(names) - len(given) :], given, strict=True)
    # The values are not used: a Struct fills in its own defaults.
    defaults = {name: _constant(None) for name, value in late if value is not msgspec.NODEFAULT}
    return Members(cls, names, defaults)


def _tuple_members(cls: Any) -> Members | None:
    names = getattr(cls, "_fields", None)
    if type(names) is not tuple or not all(type(name) is str for name in names):
        return None
    given = getattr(cls, "_field_defaults", {})
    return Members(cls, names, {name: _constant(value) for name, value in given.items()})


def _tuple_reader(members: Members) -> Callable[[Any], dict[str, Any]]:
    names, cls = members.names, members.cls

    def read(value: Any) -> dict[str, Any]:
        if len(value) != len(names) or getattr(value, "__dict__", None):
            raise refused(
                f"{type_name(cls)} with more than its declared fields",
                "codec.extra-attributes",
                "Register the class with to=… and back=….",
            )
        return dict(zip(names, tuple.__iter__(value), strict=True))

    return read


def _struct_reader(members: Members) -> Callable[[Any], dict[str, Any]]:
    def read(value: Any) -> dict[str, Any]:
        try:
            return msgspec.structs.asdict(value)
        except AttributeError:
            return members.read(value)

    return read


def _maker(members: Members) -> Reader:
    cls, known, new = members.cls, members.known, object.__new__
    direct = cls.__dictoffset__ != 0 and not any(_in_slot(cls, name) for name in members.names)
    hashed = _caches_hash(cls)

    def make(payload: list[Any]) -> Any:
        name, fields = payload
        values = members.check(fields, name)
        made: Any = new(cls)
        if direct:
            made.__dict__.update(values)
        else:
            for key, value in values.items():
                _set(made, key, value)
        if values.keys() != known:
            members.fill(made, values, _set)
        if hashed:
            _set(made, HASH, None)
        return made

    return make


def _struct_maker(members: Members) -> Reader:
    cls: Any = members.cls
    blank = cls
    if hasattr(cls, "__post_init__"):
        # A Struct can only be made by its constructor: that of a twin which does nothing after.
        blank = type(cls)(cls.__name__, (cls,), {"__post_init__": _nothing})

    def make(payload: list[Any]) -> Any:
        name, fields = payload
        made = blank(**members.check(fields, name))
        if blank is not cls:
            _set_class(made, cls)
        return made

    return make


def _tuple_maker(members: Members) -> Reader:
    cls: Any = members.cls

    def make(payload: list[Any]) -> Any:
        name, fields = payload
        values = members.check(fields, name)
        if values.keys() != members.known:
            values = dict(values)
            members.fill(values, dict(values), dict.__setitem__)
        return tuple.__new__(cls, [values[key] for key in members.names])

    return make


def _converter(name: str, cls: type, to: Callable[[Any], object]) -> Callable[[Any], list[Any]]:
    def split(value: Any) -> list[Any]:
        try:
            return [name, to(value)]
        except (KeepsetError, RecursionError):
            raise
        except Exception as error:
            raise refused(
                f"{type_name(cls)}: its registered `to` raised {type_name(type(error))}",
                "codec.failed-to",
                f"See the cause, and mend the function registered for {name}.",
            ) from error

    return split


def _back(name: str, cls: type, back: Callable[[Any], Any]) -> Reader:
    def make(payload: list[Any]) -> Any:
        _, plain = payload
        try:
            return back(plain)
        except (KeepsetError, RecursionError):
            raise
        except Exception as error:
            raise bad(
                f"{name}: the registered `back` of {type_name(cls)} raised "
                f"{type_name(type(error))}",
                "decode.failed-back",
                "See the cause, and mend the function registered for the name.",
            ) from error

    return make


def _in_slot(cls: type, name: str) -> bool:
    kinds = (MemberDescriptorType, property)
    return any(isinstance(base.__dict__.get(name), kinds) for base in cls.__mro__)


def _caches_hash(cls: type) -> bool:
    code = getattr(cls.__hash__, "__code__", None)
    return HASH in getattr(code, "co_names", ())


def _nothing(_: object) -> None:
    """Stand in for `__post_init__`."""


def _constant(value: Any) -> Default:
    return lambda _: value


def _call(factory: Callable[[], Any]) -> Default:
    return lambda _: factory()
