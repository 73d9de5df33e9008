"""Classes of every kind that can be registered."""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import attrs
import msgspec
import pydantic

from keepset.codec import Codec, TypeRegistry

T = TypeVar("T")


class CalledError(BaseException):
    """A constructor, a validator or a hook ran that must not run."""


class Watch:
    """Whether constructors may run: they may while a test makes its values."""

    open = True


def ran() -> None:
    if not Watch.open:
        raise CalledError


@dataclass
class Plain:
    x: int
    y: list[int] = field(default_factory=list)
    z: str = "z"

    def __post_init__(self) -> None:
        ran()


@dataclass(frozen=True, slots=True)
class Frozen:
    x: int
    y: Any = None

    def __post_init__(self) -> None:
        ran()


@dataclass
class Child(Plain):
    more: Any = None
    seed: InitVar[int] = 0
    total: int = field(init=False, default=3)

    def __post_init__(self, seed: int) -> None:
        ran()
        self.total = seed

    @functools.cached_property
    def double(self) -> int:
        return 2 * self.x


class Outer:
    @dataclass(order=True, unsafe_hash=True)
    class Inner(Generic[T]):
        value: T


@attrs.define(frozen=True, cache_hash=True)
class Attrs:
    x: int = attrs.field(validator=lambda *_: ran())
    _hidden: int = 2

    def __attrs_post_init__(self) -> None:
        ran()


@attrs.define(slots=False, unsafe_hash=True, cache_hash=True)
class AttrsDict:
    x: int
    y: int = attrs.field(default=attrs.Factory(lambda self: self.x + 1, takes_self=True))


class Point(NamedTuple):
    x: int
    y: int = 0


class Struct(msgspec.Struct, frozen=True, kw_only=True, tag="s", rename="camel"):
    some_x: int
    y: list[int] = []
    z: int | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        ran()


class StructPlain(msgspec.Struct, gc=False):
    x: Any


class Base(pydantic.BaseModel):
    x: int = pydantic.Field(alias="theX")
    hidden: str = pydantic.Field(default="h", exclude=True)
    _private: int = pydantic.PrivateAttr(default=1)

    @pydantic.field_validator("x")
    @classmethod
    def _check(cls, value: int) -> int:
        ran()
        return value

    def model_post_init(self, _: Any, /) -> None:
        ran()


class Sub(Base):
    model_config = pydantic.ConfigDict(extra="allow", frozen=True)
    more: list[int] = []

    @pydantic.computed_field  # type: ignore[prop-decorator]  # pydantic's own way to write it
    @functools.cached_property
    def total(self) -> int:
        return sum(self.more)


class Holder(pydantic.BaseModel):
    base: Base


class Numbers(pydantic.RootModel[list[int]]):
    pass


class PrivateNumbers(pydantic.RootModel[list[int]]):
    _private: int = pydantic.PrivateAttr(default=1)


class Colour(enum.Enum):
    RED = 1
    CRIMSON = 1  # noqa: PIE796 - an alias of a member is meant
    BLUE = "b"


class Level(enum.IntEnum):
    LOW = 1


class Word(str, enum.Enum):  # noqa: UP042 - the older way to write it is meant
    A = "a"


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Keep(enum.IntFlag):
    ONE = 1


class Money:
    """A class without declared fields."""

    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and other.cents == self.cents

    def __hash__(self) -> int:
        return hash(self.cents)


CLASSES: Mapping[str, type] = {
    cls.__qualname__: cls
    for cls in (
        Plain, Frozen, Child, Outer.Inner, Attrs, AttrsDict, Point, Struct, StructPlain,
        Base, Sub, Holder, Numbers, PrivateNumbers, Colour, Level, Word, Rights, Keep,
    )
}  # fmt: skip


def registry() -> TypeRegistry:
    types = TypeRegistry().with_types({f"t/{name}": cls for name, cls in CLASSES.items()})
    types.register("money/1", Money, to=lambda m: {"cents": m.cents}, back=lambda d: Money(**d))
    return types


CODEC = Codec(registry())
