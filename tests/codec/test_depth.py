from __future__ import annotations

import re
import sys
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import pytest

from keepset.codec import Codec, TypeRegistry
from keepset.errors import DecodeError, PolicyError
from tests.codec.classes import (
    CODEC,
    Attrs,
    Base,
    Frozen,
    Holder,
    Money,
    Outer,
    Plain,
    StructPlain,
    Sub,
)

WRAPS: dict[str, Callable[[Any], Any]] = {
    "list": lambda x: [x],
    "dict": lambda x: {"k": x},
    "tuple": lambda x: (x,),
    "dict with odd keys": lambda x: {1: x},
    "deque": lambda x: deque([x]),
    "ordered": lambda x: OrderedDict(k=x),
    "dataclass": Outer.Inner,
    "frozen": lambda x: Frozen(1, x),
    "struct": StructPlain,
    "model": lambda x: Base.model_construct(x=x),
    "frozenset": lambda x: frozenset({x}),
    "registered": Money,
}


def nest(depth: int, names: list[str]) -> Any:
    value: Any = 7
    for level in range(depth):
        value = WRAPS[names[level % len(names)]](value)
    return value


def unnest(value: Any) -> int:
    levels = 0
    while value != 7 if isinstance(value, int) else True:
        if isinstance(value, dict):
            value = next(iter(value.values()))
        elif isinstance(value, list | tuple | deque | frozenset):
            value = next(iter(value))
        else:
            own = isinstance(value, Base | StructPlain)
            names = ("x",) if own else ("value", "y", "cents")
            value = next(getattr(value, n) for n in names if hasattr(value, n))
        levels += 1
    return levels


def frames_left(left: int, function: Callable[[], Any]) -> Any:
    """Call a function where only so many more calls fit below the limit of recursion."""
    used = 0
    frame: Any = sys._getframe()
    while frame is not None:
        used, frame = used + 1, frame.f_back

    def down(n: int) -> Any:
        return function() if n <= 0 else down(n - 1)

    return down(sys.getrecursionlimit() - used - left - 4)


MIXED = ["list", "dataclass", "dict", "tuple", "model", "dict with odd keys", "struct", "ordered"]
NESTINGS = [[name] for name in WRAPS] + [MIXED, ["list"] * 200 + ["frozen"], [*MIXED, "deque"]]


@pytest.mark.parametrize(
    "names", NESTINGS, ids=lambda n: n[0] if len(n) == 1 else f"mixed {len(n)}"
)
def test_256_levels_come_back_and_257_are_refused(names: list[str]) -> None:
    packed = CODEC.pack(nest(256, names))
    assert unnest(CODEC.unpack(packed)) == 256
    assert CODEC.pack(CODEC.unpack(packed)) == packed
    with pytest.raises(PolicyError, match="more than 256 levels deep") as caught:
        CODEC.pack(nest(257, names))
    assert caught.value.code == "codec.too-deep"
    assert "…" in caught.value.message
    assert len(caught.value.message) < 900


@pytest.mark.parametrize("left", [20, 25, 40, 100])
@pytest.mark.parametrize("names", [["list"], ["dataclass"], MIXED], ids=["list", "object", "mixed"])
def test_256_levels_come_back_from_near_the_limit_of_recursion(names: list[str], left: int) -> None:
    value = nest(256, names)
    packed = frames_left(left, lambda: CODEC.pack(value))
    assert packed == CODEC.pack(value)
    again = frames_left(left, lambda: CODEC.unpack(packed))
    assert unnest(again) == 256


@pytest.mark.parametrize("left", [20, 30])
def test_too_deep_and_unknown_are_refused_by_path_from_near_the_limit(left: int) -> None:
    with pytest.raises(PolicyError, match="256 levels"):
        frames_left(left, lambda: CODEC.pack(nest(300, MIXED)))
    with pytest.raises(PolicyError, match=r"^a\[0\]: object"):
        frames_left(left, lambda: CODEC.pack({"a": [object()]}))
    with pytest.raises(DecodeError):
        frames_left(left, lambda: CODEC.unpack(b"\x91" * 2000))


def test_what_needs_the_stack_by_itself_gets_one_of_its_own() -> None:
    pattern = re.compile("((((((a|b)*c)?d)+e){2}f)|g)" * 3)
    re.purge()
    packed = frames_left(20, lambda: CODEC.pack([pattern]))
    assert frames_left(20, lambda: CODEC.unpack(packed)) == [pattern]


def test_a_conversion_that_needs_the_stack_gets_one_of_its_own() -> None:
    def count(n: int) -> int:
        return n and 1 + count(n - 1)

    types = TypeRegistry()
    types.register("m/1", Money, to=lambda m: count(m.cents), back=lambda n: Money(count(n)))
    codec = Codec(types)
    packed = frames_left(30, lambda: codec.pack([Money(200)]))
    assert frames_left(30, lambda: codec.unpack(packed)) == [Money(200)]


def test_a_cycle_is_refused_with_the_path_where_it_closes() -> None:
    listing: list[Any] = [1]
    listing.append({"again": listing})
    with pytest.raises(PolicyError, match=r"^s\[1\]\.again: list holds itself") as caught:
        CODEC.pack({"s": listing})
    assert caught.value.code == "codec.cycle"
    plain = Plain(1)
    plain.y = [plain]  # type: ignore[list-item]  # the cycle
    with pytest.raises(PolicyError, match=r"^p\.y\[0\]: .*Plain holds itself"):
        CODEC.pack({"p": plain})
    double: list[Any] = []
    double += [double, double]
    with pytest.raises(PolicyError, match=r"^\[0\]: list holds itself"):
        CODEC.pack(double)


def test_one_value_in_two_places_is_no_cycle() -> None:
    shared = [1, Attrs(1)]
    assert CODEC.unpack(CODEC.pack([shared, shared])) == [shared, shared]
    assert CODEC._pack([shared, (shared,)], (), {}) == CODEC.pack([shared, (shared,)])


def test_a_conversion_that_calls_itself_without_end_is_refused() -> None:
    types = TypeRegistry()
    types.register("m/1", Money, to=lambda m: [Money(m.cents + 1)], back=Money)
    with pytest.raises(PolicyError, match="more than 256 levels"):
        Codec(types).pack(Money(1))

    def endless(value: Money) -> Any:
        return endless(value)

    types = TypeRegistry()
    types.register("m/1", Money, to=endless, back=Money)
    with pytest.raises(PolicyError) as caught:
        Codec(types).pack([Money(1)])
    assert caught.value.code == "codec.stack"


def test_models_below_models_come_back_whole() -> None:
    value: Any = Sub(theX=1)
    for _ in range(40):
        value = Holder.model_construct(base=value)
    assert CODEC.unpack(CODEC.pack(value)) == value
