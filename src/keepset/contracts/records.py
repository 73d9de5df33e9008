"""The members of a class that has declared ones, of whatever kind the class is.

A record is a TypedDict, dataclass, pydantic v2 model, attrs class, msgspec Struct or NamedTuple.
No optional package is imported for it: a class of a package exists only where that is loaded.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast
from weakref import WeakKeyDictionary

import msgspec

from keepset.contracts.hints import Hint, hints_of, unwrap
from keepset.contracts.rules import MISSING
from keepset.errors import SchemaError

Kind: TypeAlias = Literal["typeddict", "dataclass", "pydantic", "attrs", "struct", "namedtuple"]
Make: TypeAlias = Callable[[Mapping[str, object]], object]
"""Makes a default; it is given the values of the other members."""


@dataclass(frozen=True, slots=True)
class Member:
    """One declared member of a record.

    Attributes:
        name: Its name.
        annotation: Its type, without `Annotated`, `Required` and the like around it.
        metadata: What stood beside the type in `Annotated`, in order.
        optional: Whether an instance may lack it (`NotRequired`).
        default: Its default where that is a constant, else `MISSING`.
        make: Makes its default, or None where it has none.
    """

    name: str
    annotation: Any
    metadata: tuple[object, ...] = ()
    optional: bool = False
    default: object = MISSING
    make: Make | None = None


_READ: Final[WeakKeyDictionary[type[Any], tuple[Member, ...]]] = WeakKeyDictionary()
"""The members of complete pydantic models, which it takes long to read."""


def kind_of(cls: object) -> Kind | None:
    """Say what kind of record a class is; None for anything else."""
    if not isinstance(cls, type):
        return None
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None and issubclass(cls, pydantic.BaseModel):
        return "pydantic"
    if issubclass(cls, msgspec.Struct):
        return "struct"
    for kind, mark in _MARKS.items():
        if hasattr(cls, mark):
            return kind
    return None


def members_of(record: object) -> tuple[Member, ...]:
    """Read the members of a record class, or of a generic one with its arguments.

    Args:
        record: A class for which `kind_of` has an answer, or an alias of one (``Box[int]``).

    Raises:
        SchemaError: ``state.unresolved-name`` for an annotation that names what is not there.
    """
    cls = cast("type[Any]", getattr(record, "__origin__", record))
    kind = kind_of(cls)
    if kind is None:
        return ()
    return _pydantic(cls) if kind == "pydantic" else _READERS[kind](cls, hints_of(record))


def _typeddict(cls: Any, hints: Mapping[str, Hint]) -> tuple[Member, ...]:
    # Keys whose NotRequired is inside a string are missed by Python itself: the hint wins.
    return tuple(
        Member(
            name,
            hint.annotation,
            hint.metadata,
            optional=name in cls.__optional_keys__ if hint.required is None else not hint.required,
        )
        for name, hint in hints.items()
    )


def _dataclass(cls: Any, hints: Mapping[str, Hint]) -> tuple[Member, ...]:
    nothing = dataclasses.MISSING
    return tuple(
        _member(f.name, hints, _unless(f.default, nothing), _factory(f.default_factory, nothing))
        for f in dataclasses.fields(cls)
    )


def _pydantic(cls: Any) -> tuple[Member, ...]:
    # Pydantic has resolved names that only the scope of the class's definition knows.
    if not cls.__pydantic_complete__ and not cls.model_rebuild(raise_errors=False):
        raise SchemaError(
            f"{cls.__qualname__}: the annotations name something that cannot be found",
            code="state.unresolved-name",
            hint=f"Call {cls.__name__}.model_rebuild() where all its names are defined.",
        )
    known = _READ.get(cls)
    if known is None:
        members = (_pydantic_member(name, info) for name, info in cls.model_fields.items())
        known = _READ[cls] = tuple(members)
    return known


def _pydantic_member(name: str, info: Any) -> Member:
    hint = unwrap(info.annotation)
    metadata = (*hint.metadata, *info.metadata)
    if info.is_required():
        return Member(name, hint.annotation, metadata)
    if getattr(info, "default_factory_takes_validated_data", False):
        return Member(name, hint.annotation, metadata, make=lambda v: info.default_factory(dict(v)))
    default = info.default if info.default_factory is None else MISSING
    # Pydantic hands out a copy of a mutable default, so the constant itself is not given.
    make: Make = lambda _: info.get_default(call_default_factory=True)  # noqa: E731 - as above
    return Member(name, hint.annotation, metadata, default=default, make=make)


def _attrs(cls: Any, hints: Mapping[str, Hint]) -> tuple[Member, ...]:
    return tuple(_attrs_member(attribute, hints) for attribute in cls.__attrs_attrs__)


def _attrs_member(attribute: Any, hints: Mapping[str, Hint]) -> Member:
    attrs = sys.modules["attr"]
    factory: Any = attribute.default
    if not isinstance(factory, attrs.Factory):
        return _member(attribute.name, hints, _unless(factory, attrs.NOTHING), None)
    if factory.takes_self:
        return _member(attribute.name, hints, MISSING, lambda v: factory.factory(_Part(v)))
    return _member(attribute.name, hints, MISSING, lambda _: factory.factory())


class _Part:
    """The members that are there already, as attributes, for a default that looks at them."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self.__dict__.update(values)


def _struct(cls: Any, hints: Mapping[str, Hint]) -> tuple[Member, ...]:
    nothing = msgspec.NODEFAULT
    return tuple(
        _member(f.name, hints, _unless(f.default, nothing), _factory(f.default_factory, nothing))
        for f in msgspec.structs.fields(cls)
    )


def _namedtuple(cls: Any, hints: Mapping[str, Hint]) -> tuple[Member, ...]:
    defaults = cls._field_defaults
    return tuple(_member(name, hints, defaults.get(name, MISSING), None) for name in cls._fields)


def _member(name: str, hints: Mapping[str, Hint], default: object, make: Make | None) -> Member:
    hint = hints.get(name, Hint(Any))
    if default is not MISSING:
        make = lambda _: default  # noqa: E731 - the host shares one default too
    return Member(name, hint.annotation, hint.metadata, default=default, make=make)


def _unless(default: object, nothing: object) -> object:
    return MISSING if default is nothing else default


def _factory(factory: Any, nothing: object) -> Make | None:
    return None if factory is nothing else lambda _: factory()


_MARKS: dict[Kind, str] = {
    "typeddict": "__required_keys__",
    "namedtuple": "_field_defaults",
    "dataclass": "__dataclass_fields__",
    "attrs": "__attrs_attrs__",
}
"""What a class of a kind has, and no other."""

_READERS: dict[Kind, Callable[[Any, Mapping[str, Hint]], tuple[Member, ...]]] = {
    "typeddict": _typeddict,
    "dataclass": _dataclass,
    "attrs": _attrs,
    "struct": _struct,
    "namedtuple": _namedtuple,
}
