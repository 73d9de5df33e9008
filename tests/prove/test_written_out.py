"""A state's class written out anew: the same contract, by names that can be imported."""

from __future__ import annotations

import collections
import enum
import operator
import pathlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec
import pytest

import keepset as ks
from keepset.contracts import contract_of
from keepset.errors import UsageError
from keepset.prove.written_out import written_out
from tests.prove.kinds import module_of


class Colour(enum.Enum):
    RED = "red"


class Outer:
    @dataclass
    class Inner:
        number: int


def load(ids: list[str]) -> list[str]:
    return ids


@ks.contract(name="shop/rich", epoch=3)
class Rich(TypedDict):
    texts: Annotated[list[str], ks.Keep(append_only=True, retain=timedelta(days=3)), operator.add]
    again: Annotated[list[str], ks.Refetch(load, using=("texts",), pin="report")]
    inner: Annotated[dict[str, Outer.Inner] | None, ks.Keep(without=("*.a", "*.b"))]
    mode: Literal["a", 3, Colour.RED]
    call: Annotated[Callable[[int], str] | Callable[..., None], ks.Scratch(dict, name="empty")]
    pair: tuple[int, ...]
    path: NotRequired[Annotated[pathlib.Path, ks.Drop(default=None)]]
    anything: NotRequired[Mapping[str, Any]]
    key: NotRequired[Annotated[str, ks.Secret("env:KEY")]]
    told: NotRequired[Annotated[str, ks.Extract("choices[0].text")]]
    counts: NotRequired[collections.Counter[str]]


@dataclass(frozen=True)
class Frozen:
    name: str
    many: list[str] = field(default_factory=list)
    made: str = field(default="it's", kw_only=True)
    pair: tuple[int, str] = (1, "a")


class Packed(msgspec.Struct, frozen=True):
    name: str
    colour: Colour = Colour.RED
    many: dict[str, int] = {}


@pytest.mark.parametrize("state", [Rich, Frozen, Packed])
def test_what_is_written_out_is_the_same_contract(state: Any, tmp_path: Path) -> None:
    module = module_of(tmp_path, f"out_{state.__name__}", written_out(contract_of(state), {}))
    ours, theirs = contract_of(state), contract_of(getattr(module, state.__name__))
    assert theirs.structure == ours.structure
    assert (theirs.name, theirs.epoch) == (ours.name, ours.epoch)
    for name, one in theirs.fields.items():
        assert one.rule == ours.fields[name].rule
        assert one.metadata == ours.fields[name].metadata
        assert one.default == ours.fields[name].default
        assert one.optional == ours.fields[name].optional


def test_a_second_class_of_a_name_is_written_in_full(tmp_path: Path) -> None:
    first = module_of(tmp_path, "first_place", "class Thing:\n    pass\n").Thing
    second = module_of(tmp_path, "second_place", "class Thing:\n    pass\n").Thing
    both = {"one": Annotated[first, ks.Scratch(first)], "two": Annotated[second, ks.Drop()]}
    make: Any = TypedDict
    text = written_out(contract_of(make("Both", both, total=False)), {})
    assert "one: Annotated[Thing, ks.Scratch(Thing)]" in text
    assert "two: Annotated[second_place.Thing, ks.Drop()]" in text
    assert "import second_place" in text


def test_what_has_no_name_to_import_is_refused() -> None:
    class Local:
        pass

    make: Any = TypedDict
    for kind in (
        Annotated[Local, ks.Drop()],
        Annotated[int, ks.Scratch(lambda: 3, name="three")],
        Annotated[int, ks.Drop(default=Local())],
    ):
        with pytest.raises(UsageError) as caught:
            written_out(contract_of(make("S", {"x": kind}, total=False)), {})
        assert caught.value.code == "source.cannot-write"
    for name, key in (("S", "a b"), ("a b", "x")):
        with pytest.raises(UsageError, match="cannot be written in a class"):
            written_out(contract_of(make(name, {key: str})), {})
