from __future__ import annotations

import datetime as dt
import ipaddress
import pathlib
import re
import struct
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.codec import BlobRef, Codec, StoredError
from keepset.codec.parse import Parse
from keepset.errors import PolicyError
from tests.codec.classes import CODEC as KNOWING
from tests.codec.classes import Outer
from tests.codec.exact import same
from tests.codec.values import VALUES

CODEC = Codec()
BERLIN = ZoneInfo("Europe/Berlin")
NAN = struct.unpack(">d", bytes.fromhex("fff8000000000123"))[0]

VALUES_THAT_ARE_EASILY_LOST: list[Any] = [
    [1, True, 1.0, False, 0, 0.0, -0.0],
    [NAN, float("inf"), complex(-0.0, NAN)],
    [2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**5000, -1, 0],
    ["", "a\0b", "\ud800 alone", "\U0001f600", "é"],
    {"b": 1, "a": 2},
    {1: "a", "1": "b", None: "c", (1, 2): "d", b"x": "e", 1.5: "f"},
    {True: 1},
    {"\udfff": 1},
    {frozenset({1}): (2,), uuid.UUID(int=3): {4}},
    (1, [2, (3,)], ()),
    [{1, 2}, frozenset("ab"), set()],
    [b"x", bytearray(b"x"), b"", bytearray()],
    [deque([1, 2], 5), deque(), deque(maxlen=0)],
    [OrderedDict(b=1, a=2), Counter("aab"), Counter({"x": -1})],
    [defaultdict(list, a=[1]), defaultdict(None, {1: 2}), defaultdict(set)],
    [Decimal("-0.00"), Decimal("1E+999999"), Decimal("sNaN12"), Decimal("-Infinity")],
    [Fraction(1, 3), Fraction(-(10**40), 7)],
    [dt.datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN, fold=f) for f in (0, 1)],
    [dt.datetime(1, 1, 1, tzinfo=dt.UTC), dt.datetime.max.replace(tzinfo=None)],  # noqa: DTZ901 - naive on purpose
    [dt.time(1, 2, 3, 4, tzinfo=dt.timezone(dt.timedelta(hours=1), "x"), fold=1)],
    [dt.date(1, 1, 1), dt.timedelta(-1, 2, 3), dt.timedelta.min, dt.timedelta.max],
    [uuid.UUID(int=5), uuid.uuid1()],
    [pathlib.Path("a/b"), pathlib.PurePosixPath("/x"), pathlib.PureWindowsPath("c:\\a")],
    [range(1, 9, 2), range(10**30, 0, -1)],
    [re.compile("a+", re.IGNORECASE | re.DOTALL), re.compile(rb"\d+")],
    [ipaddress.ip_address(x) for x in ("10.0.0.1", "fe80::1%eth0")],
    [ipaddress.ip_network(x) for x in ("10.0.0.0/8", "fe80::/10")],
    [ipaddress.ip_interface(x) for x in ("10.0.0.1/8", "fe80::1/10")],
    [StoredError("ValueError", "text"), BlobRef(b"\1" * 32, 7), msgspec.UNSET],
]


@pytest.mark.parametrize(
    "value",
    VALUES_THAT_ARE_EASILY_LOST,
    ids=lambda v: str(type(v[0]) if type(v) is list else v)[:40],
)
def test_a_value_comes_back_equal_and_of_the_same_type(value: Any) -> None:
    assert same(CODEC.unpack(CODEC.pack(value)), value)


@given(VALUES)
def test_any_builtin_value_comes_back_the_same(value: Any) -> None:
    assert same(CODEC.unpack(CODEC.pack(value)), value)


@given(VALUES)
def test_what_comes_back_has_the_same_bytes(value: Any) -> None:
    packed = CODEC.pack(value)
    assert CODEC.pack(CODEC.unpack(packed)) == packed


@given(VALUES)
def test_the_exact_way_gives_the_bytes_and_the_value_of_the_fast_way(value: Any) -> None:
    packed = CODEC.pack(value)
    assert CODEC._pack(value, (), {}) == packed
    assert same(Parse(CODEC._known, packed).value(), value)


@given(VALUES, VALUES)
def test_a_list_of_large_items_has_the_bytes_of_the_exact_way(one: Any, two: Any) -> None:
    large = {"text": "x" * 600, "part": one}
    value = [large, two, *({"n": n, "half": n / 2, "part": two} for n in range(20))]
    packed = CODEC.pack(value)
    assert CODEC._pack(value, (), {}) == packed
    assert same(CODEC.unpack(packed), value)


def test_bytes_of_another_type_are_told_apart_in_a_list_of_large_items() -> None:
    for odd in (bytearray(b"x"), [bytearray(b"x")], {"k": b"x"}):
        value = [*[["x" * 600]] * 20, odd, b"x"]
        assert same(CODEC.unpack(CODEC.pack(value)), value)


LISTS: list[Callable[[Any], Any]] = [lambda x: [x]]
PIECES = [*[*LISTS * 31, Outer.Inner] * 7, *LISTS * 32]


@pytest.mark.parametrize("wraps", [LISTS, [Outer.Inner], PIECES], ids=["lists", "objects", "both"])
@pytest.mark.parametrize("levels", [30, 31, 32, 254, 255, 256])
def test_an_item_of_a_list_of_large_items_may_be_as_deep_as_any_other(
    wraps: list[Callable[[Any], Any]], levels: int
) -> None:
    deep: Any = "x" * 600
    for level in range(levels):
        deep = wraps[level % len(wraps)](deep)
    value = [*[["x" * 600]] * 20, deep]
    if levels < 256:
        assert KNOWING.pack(value) == KNOWING._pack(value, (), {})
        return
    with pytest.raises(PolicyError, match=r"codec\.too-deep"):
        KNOWING.pack(value)


def test_equal_sets_have_equal_bytes_whatever_their_order() -> None:
    words = [f"word {i}" for i in range(200)]
    assert CODEC.pack(set(words)) == CODEC.pack({*words[100:], *words[:100]})


def test_values_that_compare_equal_but_differ_have_different_bytes() -> None:
    alike = [1, True, 1.0, Decimal(1), Fraction(1), 1 + 0j]
    assert len({CODEC.pack(value) for value in alike}) == len(alike)
    assert CODEC.pack({"a": 1, "b": 2}) != CODEC.pack({"b": 2, "a": 1})
    assert CODEC.pack(0.0) != CODEC.pack(-0.0)


def test_an_exception_is_stored_as_what_it_was_and_what_it_said() -> None:
    class OfUserError(LookupError):
        pass

    stored = CODEC.unpack(CODEC.pack([ValueError("no"), OfUserError("where"), KeyboardInterrupt()]))
    name = f"{__name__}.{OfUserError.__qualname__}"
    assert stored == [
        StoredError("ValueError", "no"),
        StoredError(name, "where"),
        StoredError("KeyboardInterrupt", ""),
    ]


def test_a_clock_hour_that_happens_twice_is_told_apart_by_its_fold() -> None:
    twice = [dt.datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN, fold=f) for f in (0, 1)]
    first, second = CODEC.unpack(CODEC.pack(twice))
    assert second.utcoffset() == dt.timedelta(hours=1)
    assert first.utcoffset() == dt.timedelta(hours=2)
    assert first.tzinfo is BERLIN


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(PLAIN)
def test_a_value_of_plain_types_is_read_as_plain(value: Any) -> None:
    again, plain = CODEC.unpack_noting(CODEC.pack(value))
    assert same(again, value)
    assert plain


@given(VALUES)
def test_what_is_read_as_plain_is_packed_into_the_same_bytes_by_a_codec_without_types(
    value: Any,
) -> None:
    packed = KNOWING.pack(value)
    again, plain = KNOWING.unpack_noting(packed)
    assert KNOWING.pack(again) == packed
    if plain:
        assert Codec().pack(again) == packed


REF = BlobRef(b"\x07" * 32, 9)


@pytest.mark.parametrize(
    "value", [(), [2**70], {"a": {1: 2}}, ["\ud800"], {"a": [Outer.Inner("x")]}, [[REF]]]
)
def test_what_is_not_plain_is_not_read_as_plain(value: Any) -> None:
    again, plain = KNOWING.unpack_noting(KNOWING.pack(value))
    assert (again, plain) == (value, False)
