"""A value as JSON loses nothing: its packed bytes can be made again, by the page on the codec."""

from __future__ import annotations

import base64
import json
import struct
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import ormsgpack
import pytest
from hypothesis import given

from keepset.adapters.jsonl.values import NAMES, spelled
from keepset.codec import Codec, TypeRegistry, Withheld
from keepset.errors import PolicyError
from tests.cli.terminal import ROOT
from tests.codec.values import VALUES

_NUMBERS = {name: number for number, name in NAMES.items()}


def packed(told: Any) -> bytes:
    """The packed bytes of what JSON says."""
    return ormsgpack.packb(_native(told), _pack_extension)


class _Packed:
    def __init__(self, number: int, data: bytes) -> None:
        self.number = number
        self.data = data


def _pack_extension(value: Any) -> Any:
    return ormsgpack.Ext(value.number, value.data)


def _native(told: Any) -> Any:
    if isinstance(told, list):
        return [_native(one) for one in told]
    if not isinstance(told, dict):
        return told
    kind = told.get("$type")
    if kind is None or kind == "dict":
        pairs = told["items"] if kind else told.items()
        return {key: _native(one) for key, one in pairs}
    if "value" in told:
        return _Packed(_NUMBERS[kind], packed(told["value"]))
    data = base64.b64decode(told["base64"])
    if kind == "float":
        return struct.unpack(">d", data)[0]
    return data if kind == "bytes" else _Packed(_NUMBERS[kind], data)


def _require_lossless(value: object, codec: Codec) -> None:
    data = codec.pack(value)
    text = json.dumps(spelled(data), allow_nan=False)
    assert packed(json.loads(text)) == data
    assert msgspec.json.decode(text) == json.loads(text)


@given(VALUES)
def test_any_value_can_be_made_again_from_its_json(value: object) -> None:
    _require_lossless(value, Codec())


@pytest.mark.parametrize(
    "value",
    [
        {"$type": "mine", "a": b"\0"},
        [float("inf"), -0.0, 1 << 90, "\ud800"],
        Withheld("secret.format", "a.b"),
        {"a": {"b": (1, {2, 3}, None)}},
    ],
)
def test_what_looks_like_something_else_can_be_made_again(value: object) -> None:
    _require_lossless(value, Codec())


@pytest.mark.parametrize(
    "around",
    [
        lambda inner: [inner],
        lambda inner: (inner,),
        lambda inner: {"a": inner},
        lambda inner: {"$type": inner},
        lambda inner: {1: inner},
        lambda inner: OrderedDict(a=inner),
        lambda inner: deque([inner]),
    ],
)
def test_a_value_as_deep_as_any_that_is_stored_has_its_json(around: Callable[[Any], Any]) -> None:
    codec, value = Codec(), "the innermost"
    for _ in range(256):
        value = around(value)
    text = json.dumps(spelled(codec.pack(value)), allow_nan=False)
    assert text.count("the innermost") == 1
    with pytest.raises(PolicyError, match="256 levels"):
        codec.pack(around(value))


@dataclass
class Order:
    id: str
    total: tuple[int, ...]


def test_an_object_is_told_by_its_stored_name_and_its_fields() -> None:
    codec = Codec(TypeRegistry().with_types({"order/1": Order}))
    told = spelled(codec.pack(Order("o1", (1,))))
    fields = {"id": "o1", "total": {"$type": "tuple", "value": [1]}}
    assert told == {"$type": "object", "value": ["order/1", fields]}


def test_every_extension_that_the_page_on_the_codec_has_has_a_name() -> None:
    rows = (ROOT / "docs" / "codec.md").read_text("utf-8").splitlines()
    numbers: set[int] = set()
    for row in rows:
        first = row.strip("| ").partition(" |")[0]
        if row.startswith("| ") and first[:1].isdigit():
            parts = [int(part) for part in first.replace(" to ", ",").split(",")]
            numbers |= {*range(parts[0], parts[-1] + 1)}
    assert numbers == set(NAMES)
