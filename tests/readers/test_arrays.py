"""Arrays of JSON, cut into items whatever is in them and wherever a chunk ends."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.readers import arrays
from keepset.readers.arrays import pieces

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('a"\\[]{},: é\n')),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.sampled_from('a"\\[],')), inner),
)


def cut(text: bytes, chunk: int, most: int = 1 << 20) -> list[arrays.Piece]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "_FIRST", chunk)
        patch.setattr(arrays, "_CHUNK", chunk)
        return list(pieces(io.BytesIO(text), text.index(b"[") + 1, most))


@given(
    items=st.lists(VALUES), chunk=st.integers(1, 40), indent=st.sampled_from([None, 1]),
    ascii_only=st.booleans(),
)  # fmt: skip
def test_items_are_those_that_the_array_has_wherever_a_chunk_ends(
    items: list[Any], chunk: int, indent: int | None, *, ascii_only: bool
) -> None:
    text = b" " + json.dumps(items, indent=indent, ensure_ascii=ascii_only).encode() + b"\n"
    found = cut(text, chunk)
    assert [json.loads(one.text) for one in found] == items
    for one in found:
        assert text[one.place : one.place + one.size] == one.text
        assert next(pieces(io.BytesIO(text), one.place, 1 << 20)).text == one.text


@given(st.integers(1, 9))
def test_of_a_larger_item_the_beginning_is_given_and_its_whole_size_told(chunk: int) -> None:
    long = json.dumps('x"\\' * 50)
    one, two, three = cut(f"[1,{long},2]".encode(), chunk, most=10)
    assert (one.text, three.text) == (b"1", b"2")
    assert (two.text, two.size) == (long[:10].encode(), len(long))


@pytest.mark.parametrize("text", [b'[1, {"a": "b', b'[1, ["\\', b"[1, 2", b"[1, [[[[ 2"])
def test_an_array_that_was_cut_off_gives_what_is_there(text: bytes) -> None:
    first, last = cut(text, 3)
    assert first.text == b"1"
    assert text.endswith(last.text)


def test_what_stands_behind_the_array_is_no_item() -> None:
    assert [one.text for one in cut(b"[1] [2]", 100)] == [b"1"]
    assert cut(b"[ ]", 100) == []
