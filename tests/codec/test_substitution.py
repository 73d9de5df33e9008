from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.codec import Codec, Path, TypeRegistry, Withheld, format_path
from keepset.errors import PolicyError
from tests.codec.classes import (
    CODEC,
    Attrs,
    Base,
    Frozen,
    Money,
    Outer,
    Plain,
    Point,
    StructPlain,
    Sub,
)
from tests.codec.values import VALUES

MARK = Withheld("secret.name", "x")


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [
        ({"a": ["s", 1]}, ("a", 0), {"a": [MARK, 1]}),
        ({"a": ("s", {"k": "s"})}, ("a", 1, "k"), {"a": ("s", {"k": MARK})}),
        ({1: "s"}, (1,), {1: MARK}),
        ([Plain(1, z="s")], (0, "z"), [Plain(1, z=MARK)]),  # type: ignore[arg-type]  # in its place
        (Frozen(1, {"k": "s"}), ("y", "k"), Frozen(1, {"k": MARK})),
        (StructPlain(["s"]), ("x", 0), StructPlain([MARK])),
        (Point(1, 2), ("y",), Point(1, MARK)),  # type: ignore[arg-type]  # in its place
        (deque(["s"], 3), (0,), deque([MARK], 3)),
        (OrderedDict(a="s"), ("a",), OrderedDict(a=MARK)),
        (defaultdict(list, a=["s"]), ("a", 0), defaultdict(list, a=[MARK])),
        ({"m": Money(5)}, ("m", "cents"), {"m": Money(MARK)}),  # type: ignore[arg-type]  # in its place
        ("s", (), MARK),
        ({"a": "s"}, ("a",), {"a": MARK}),
    ],
)
def test_a_value_is_replaced_at_its_path_and_nowhere_else(
    value: Any, path: Path, expected: Any
) -> None:
    packed = CODEC.pack(value, ("f",), substitute={("f", *path): MARK, ("other", 0): 1})
    assert CODEC.unpack(packed) == expected
    assert packed == CODEC.pack(expected)


def test_a_private_attribute_and_an_extra_field_of_a_model_are_replaced() -> None:
    model = Sub.model_validate({"theX": 1, "other": "s"})
    model._private = 7
    stored = CODEC.pack(model, substitute={("other",): MARK, ("_private",): MARK})
    again = CODEC.unpack(stored)
    assert again.other == MARK
    assert again._private == MARK
    assert dict(CODEC.parts(model) or ()) == {
        "x": 1,
        "hidden": "h",
        "more": [],
        "other": "s",
        "_private": 7,
    }


def test_what_would_be_refused_may_be_replaced() -> None:
    stored = CODEC.pack({"a": [object(), 1]}, substitute={("a", 0): MARK})
    assert CODEC.unpack(stored) == {"a": [MARK, 1]}


def test_without_a_path_below_the_value_nothing_changes() -> None:
    value = {"a": [1, Attrs(1)]}
    assert CODEC.pack(value, ("f",), substitute={("g",): MARK}) == CODEC.pack(value)


def test_a_part_that_can_only_be_stored_whole_is_refused_instead_of_kept() -> None:
    array = np.array(["secret", "b"])
    with pytest.raises(PolicyError, match=r"^f\.a\[0\]: a part of this value") as caught:
        CODEC.pack({"a": array}, ("f",), substitute={("f", "a", 0): MARK})
    assert caught.value.code == "codec.unreachable"
    stored = CODEC.pack({"a": array}, substitute={("a", 0): MARK, ("a",): "whole"})
    assert CODEC.unpack(stored) == {"a": "whole"}


def _walk(value: Any, path: Path) -> Iterator[Path]:
    for element, child in CODEC.parts(value) or ():
        yield (*path, element)
        yield from _walk(child, (*path, element))


@given(VALUES)
def test_every_path_that_parts_gives_is_one_that_pack_goes(value: Any) -> None:
    for path in _walk(value, ("f",)):
        CODEC.pack(value, ("f",), substitute={path: 0})


def test_parts_are_those_of_the_fields_and_nothing_of_the_types_own() -> None:
    cases: list[tuple[Any, list[tuple[str | int, Any]] | None]] = [
        (5, None),
        ("x", None),
        (b"x", None),
        (None, None),
        (range(3), None),
        ([1, "a"], [(0, 1), (1, "a")]),
        ({"a": 1}, [("a", 1)]),
        (
            {5: 1, (1,): 2},
            [("<int key 0>", 5), (5, 1), ("<tuple key 1>", (1,)), ("<value of tuple key 1>", 2)],
        ),
        (Plain(1, [2], "z"), [("x", 1), ("y", [2]), ("z", "z")]),
        (Base(theX=1), [("x", 1), ("hidden", "h"), ("_private", 1)]),
        (Outer.Inner(3), [("value", 3)]),
        (deque([1], 5), [(0, 1)]),
        (Money(5), [("cents", 5)]),
    ]
    for value, expected in cases:
        parts = CODEC.parts(value)
        assert (None if parts is None else list(parts)) == expected


def test_parts_of_a_value_that_cannot_be_stored_are_refused() -> None:
    with pytest.raises(PolicyError) as caught:
        Codec().parts(object())
    assert caught.value.code == "codec.unknown-type"


def test_a_converted_value_without_fields_of_its_own_has_one_part() -> None:
    types = TypeRegistry()
    types.register("m/1", Money, to=lambda m: f"key {m.cents}", back=Money)
    codec = Codec(types)
    assert list(codec.parts(Money(1)) or ()) == [("value", "key 1")]
    stored = codec.pack([Money(1)], substitute={(0, "value"): "masked"})
    assert codec.unpack(stored)[0].cents == "masked"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("a", "b", 1, "c"), "a.b[1].c"),
        ((0, 1), "[0][1]"),
        ((3, "x"), "[3].x"),
        (("a\n\x1b[31m",), "a\\n\\x1b[31m"),
        (("k" * 500,), "k" * 119 + "…"),
        (
            tuple(range(100)),
            "".join(f"[{i}]" for i in range(16)) + "…" + "".join(f"[{i}]" for i in range(92, 100)),
        ),
    ],
)
def test_a_path_is_written_as_a_person_would(path: Path, text: str) -> None:
    assert format_path(path) == text


def test_a_value_under_an_odd_key_is_replaced_alone() -> None:
    value = {(1, "k"): "v", 2: "w"}
    at = [element for element, part in CODEC.parts(value) or () if part == "v"]
    stored = CODEC.pack({"d": value}, ("f",), substitute={("f", "d", at[0]): "put"})
    assert CODEC.unpack(stored) == {"d": {(1, "k"): "put", 2: "w"}}


@given(VALUES, VALUES, st.integers(0, 3))
def test_what_lies_beside_a_replaced_part_is_packed_to_the_same_bytes(
    one: Any, two: Any, place: int
) -> None:
    items = [one, {"k": two, "secret": 1}, (two, one), [one, two]]
    at = ("f", "list", 1, "secret")
    stored = CODEC.pack({"list": items}, ("f",), substitute={at: 2})
    changed = {"list": [one, {"k": two, "secret": 2}, (two, one), [one, two]]}
    assert stored == CODEC.pack(changed, ("f",))
    whole = CODEC.pack({"list": items}, ("f",), substitute={("f", "list", place): "put"})
    items[place] = "put"
    assert whole == CODEC.pack({"list": items}, ("f",))


@pytest.mark.parametrize("beside", [1, 20])
@pytest.mark.parametrize("levels", [253, 254, 255])
@pytest.mark.parametrize(
    "wraps",
    [
        [lambda x: [x]],
        [lambda x: {"k": x}],
        [Outer.Inner],
        [lambda x: (x,)],
        [*[*[lambda x: [x]] * 31, Outer.Inner] * 7, *[lambda x: [x]] * 32],
    ],
)
def test_beside_a_replaced_part_the_limit_of_levels_is_the_same(
    wraps: list[Callable[[Any], Any]], levels: int, beside: int
) -> None:
    deep: Any = 7
    for level in range(levels):
        deep = wraps[level % len(wraps)](deep)
    value = {"a": [deep] * beside, "secret": 1}
    path = ("f", "secret")
    if levels + 2 <= 256:
        stored = CODEC.pack(value, ("f",), substitute={path: 2})
        assert stored == CODEC.pack({"a": [deep] * beside, "secret": 2})
        return
    with pytest.raises(PolicyError, match=r"codec\.too-deep"):
        CODEC.pack(value, ("f",), substitute={path: 2})
    with pytest.raises(PolicyError, match=r"codec\.too-deep"):
        CODEC.pack(value, ("f",))


def test_a_part_that_cannot_be_stored_beside_a_replaced_one_is_refused_with_its_path() -> None:
    value = {"a": [{"b": object()}], "secret": 1, "c": bytearray(b"x")}
    with pytest.raises(PolicyError, match=r"^f\.a\[0\]\.b: object is not"):
        CODEC.pack(value, ("f",), substitute={("f", "secret"): 2})
    value["a"] = value
    with pytest.raises(PolicyError, match=r"^f\.a: dict holds itself"):
        CODEC.pack(value, ("f",), substitute={("f", "secret"): 2})
    value["a"] = 1
    stored = CODEC.pack(value, ("f",), substitute={("f", "secret"): 2})
    assert type(CODEC.unpack(stored)["c"]) is bytearray
