"""Every place in a stored value that can hold a text is looked at, not only texts themselves."""

from __future__ import annotations

import datetime as dt
import ipaddress
import pathlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from keepset.codec import Codec, Withheld
from keepset.errors import PolicyError
from keepset.scan import Scanner, substitutes
from tests.scan.credentials import KINDS, Maker

KEY = KINDS["anthropic"](Maker(1))
RAW = KEY.encode()
CODEC = Codec()
HOUR = dt.timedelta(hours=1)
ZONE = dt.timezone(HOUR, KEY)

SCALARS: dict[str, object] = {
    "pattern": re.compile(f"key {KEY}"),
    "pattern of bytes": re.compile(RAW),
    "time zone": dt.datetime(2026, 1, 1, tzinfo=ZONE),
    "time zone of a time": dt.time(1, tzinfo=ZONE),
    "zone of an address": ipaddress.IPv6Address(f"fe80::1%{KEY}"),
}
ARRAYS: dict[str, object] = {
    "text": np.array([f"use {KEY}", "b"]),
    "bytes": np.array([RAW, b"b"]),
    "one character each": np.array([*KEY]),
    "one byte each": np.array([bytes([byte]) for byte in RAW]),
    "void": np.array([np.void(RAW)]),
    "void scalar": np.void(RAW),
    "uint8": np.frombuffer(RAW, "u1").copy(),
    "int8 in two dimensions": np.frombuffer(RAW + b" " * (len(RAW) % 2), "i1").reshape(2, -1),
    "strided": np.frombuffer(bytes(b for byte in RAW for b in (byte, 0)), "u1")[::2],
    "field name": np.zeros(1, [(KEY, "i4")]),
    "field title": np.zeros(1, [((KEY, "f"), "i4")]),
    "inner field name": np.zeros(1, [("f", [(KEY, "i4")])]),
    "bytes in a field": np.frombuffer(RAW, [("f", "u1", (len(RAW),))]),
    "text in a field": np.array([(1, KEY)], [("n", "i4"), ("t", "U200")]),
    "under a telling field": np.array([("a1b2c3d4e5f6g7h8",)], [("api_key", "U200")]),
}


def _labelled(change: Callable[[Any], Any]) -> pd.DataFrame:
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="i"))
    made = change(frame)
    return frame if made is None else made


FRAMES: dict[str, object] = {
    "cell": pd.DataFrame({"a": ["b", f"use {KEY}"]}),
    "column": _labelled(lambda frame: frame.rename(columns={"a": KEY})),
    "name of the columns": _labelled(lambda frame: frame.rename_axis(columns=KEY)),
    "two levels of columns": pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", KEY)])),
    "name of the index": _labelled(lambda frame: frame.rename_axis(index=KEY)),
    "index": _labelled(lambda frame: frame.rename(index={"x": KEY})),
    "attrs": _labelled(lambda frame: frame.attrs.update(source={"note": [KEY]})),
    "key of attrs": _labelled(lambda frame: frame.attrs.update({KEY: 1})),
    "name of a series": pd.Series([1], name=KEY),
    "series": pd.Series([KEY]),
    "category": pd.Series(["a"], dtype=pd.CategoricalDtype([KEY, "a"])),
    "category of an index": pd.Series([1], pd.CategoricalIndex(["a"], categories=["a", KEY])),
    "mapping in a cell": pd.DataFrame({"a": [{"b": KEY}]}),
    "key of a mapping in a cell": pd.DataFrame({"a": [{KEY: 1}]}),
    "name in a cell": pd.DataFrame({"a": [{"api_key": "a1b2c3d4e5f6g7h8"}]}),
    "list in a cell": pd.DataFrame({"a": [[1, [KEY]]]}),
    "time zone": pd.DataFrame({"a": pd.to_datetime(["2026-01-01"]).tz_localize(ZONE)}),
}


@pytest.mark.parametrize("name", [*SCALARS, *ARRAYS, *FRAMES])
def test_a_secret_in_what_can_only_be_stored_whole_has_the_whole_withheld(
    scanner: Scanner, name: str
) -> None:
    value = {**SCALARS, **ARRAYS, **FRAMES}[name]
    found = scanner.leaves({"v": [value]}, ("f",), name="f", parts=CODEC.parts)
    assert {(finding.path, finding.whole) for finding in found} == {(("f", "v", 0), True)}
    assert KEY not in repr(found)
    put = substitutes(found, {"v": [value]}, ("f",), _withheld, CODEC.parts)
    stored = CODEC.pack({"v": [value]}, ("f",), substitute=put)
    assert CODEC.unpack(stored) == {"v": [Withheld(found[0].kind, "here")]}


@pytest.mark.parametrize("key", [*SCALARS.values(), pathlib.PurePosixPath("/run") / KEY])
def test_a_secret_in_a_key_that_is_no_text_is_found_and_not_stored(
    scanner: Scanner, key: object
) -> None:
    value = {key: 1, "b": 2}
    found = scanner.leaves(value, ("f",), name="f", parts=CODEC.parts)
    assert [finding.in_key for finding in found] == [True]
    put = substitutes(found, value, ("f",), _withheld, CODEC.parts)
    assert RAW not in CODEC.pack(value, ("f",), substitute=put)


@pytest.mark.parametrize(
    "value",
    [
        re.compile(r"sk-[a-z]+"),
        dt.datetime(2026, 1, 1, tzinfo=dt.timezone(HOUR, "CET")),
        np.arange(100_000, dtype="u1"),
        np.zeros((2, 2), [("x", "f8"), ("token", "i4")]),
        np.void(b"\x00\x01"),
        pd.DataFrame({"token": [1], "text": ["a"], "when": pd.to_datetime(["2026-01-01"])}),
    ],
)
def test_what_holds_no_secret_is_left_alone(scanner: Scanner, value: object) -> None:
    assert scanner.leaves(value, ("f",), name="f", parts=CODEC.parts) == []


def test_of_a_large_array_of_bytes_the_first_256_kib_is_looked_at(scanner: Scanner) -> None:
    def found(before: int) -> bool:
        data = np.frombuffer(b" " * before + RAW, "u1")
        return bool(scanner.leaves(data, ("f",), name="f", parts=CODEC.parts))

    assert found((1 << 18) - len(RAW))
    assert not found(1 << 18)


def _withheld(finding: Any) -> Withheld:
    assert finding.whole
    return Withheld(finding.kind, "here")


def test_a_frame_that_is_refused_anyway_does_no_harm(scanner: Scanner) -> None:
    frame = pd.DataFrame({"a": [object(), KEY]})
    assert scanner.leaves(frame, ("f",), name="f", parts=CODEC.parts)
    with pytest.raises(PolicyError, match=r"codec\.frame"):
        CODEC.pack(frame)
