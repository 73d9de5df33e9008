"""JSON, taken apart."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.load import dumps
from langchain_core.messages import HumanMessage

from keepset.readers.decoding import from_json
from keepset.readers.ports import Foreign, Unreadable
from tests.readers.decoding.hostile import BROKEN_JSON


def test_what_langchain_would_call_is_named_with_what_it_would_be_made_of() -> None:
    found = from_json(dumps({"in": [HumanMessage("hello")]}))
    assert isinstance(found, dict)
    message = found["in"][0]
    assert message.type == "langchain.schema.messages.HumanMessage"
    assert message.parts["content"] == "hello"


def test_constructors_inside_each_other_and_the_older_kinds_are_found() -> None:
    inner = {"lc": 2, "type": "constructor", "id": ["a", "B"], "args": [1]}
    outer = {"lc": 1, "type": "constructor", "id": ["c", "D"], "kwargs": {"x": [inner]}}
    gone = {"lc": 1, "type": "not_implemented", "id": ["e", "F"], "repr": "F(1)"}
    secret = {"lc": 1, "type": "secret", "id": ["API_KEY"]}
    both = {"lc": 2, "type": "constructor", "id": ["g"], "args": [1], "kwargs": {"y": 2}}
    assert from_json(json.dumps([outer, gone, secret, both])) == [
        Foreign("c.D", {"x": [Foreign("a.B", [1])]}),
        Foreign("e.F", "F(1)"),
        secret,
        Foreign("g", [[1], {"y": 2}]),
    ]


def test_what_python_writes_beside_the_standard_is_read() -> None:
    found = from_json('\ufeff{"a": NaN, "b": 1e999, "c": "\\ud800", "d": 123456789012345678901234}')
    assert isinstance(found, dict)
    assert math.isnan(found["a"])
    assert (found["b"], found["c"], found["d"]) == (
        math.inf,
        "\ud800",
        123456789012345678901234,
    )


@pytest.mark.parametrize("what", BROKEN_JSON)
def test_broken_json_is_told_as_unreadable(what: str) -> None:
    assert isinstance(from_json(BROKEN_JSON[what]), Unreadable)


@given(st.binary(max_size=200), st.text(max_size=200))
def test_no_text_at_all_breaks_the_reading_of_json(data: bytes, text: str) -> None:
    from_json(data)
    from_json(text)
    from_json(b'[{"lc": 1, "id": ' + data + b"}]")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda below: st.lists(below) | st.dictionaries(st.text() | st.just("lc"), below),
)


@given(VALUES)
def test_values_come_back_as_they_were(value: object) -> None:
    assert from_json(json.dumps(value)) == value


@pytest.mark.parametrize("made", [b"[]", b"{}"])
def test_a_large_text_of_nothing_but_empty_lists_takes_no_memory(made: bytes) -> None:
    found = from_json(b"[" + (made + b",") * (2 << 20) + made + b"]")
    assert found == Unreadable("made of little else than empty lists")


def test_a_large_text_of_pairs_of_digits_is_read() -> None:
    found = from_json(b"[" + b"[1,2]," * (1 << 20) + b"[3,4]]")
    assert isinstance(found, list)
    assert found[-1] == [3, 4]
