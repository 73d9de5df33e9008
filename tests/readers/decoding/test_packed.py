"""MessagePack of LangGraph, taken apart."""

from __future__ import annotations

import uuid
from collections import deque
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Interrupt, Send

from keepset.readers.decoding import from_msgpack, from_tagged
from keepset.readers.ports import Foreign, Unreadable
from tests.readers.decoding.hostile import (
    BROKEN_MSGPACK,
    deep_extensions,
    extensions_inside,
    planted_extensions,
    prefixes,
)


@dataclass
class Order:
    number: int
    paid: bool


def stored(value: object) -> object:
    return from_tagged(*JsonPlusSerializer().dumps_typed(value))


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (Order(7, paid=True), Foreign(f"{__name__}.Order", {"number": 7, "paid": True})),
        ({1, 2}, Foreign("builtins.set", [1, 2])),
        (deque([1]), Foreign("collections.deque", [1])),
        (Decimal("1.5"), Foreign("decimal.Decimal", "1.5")),
        (Path("/tmp/x"), Foreign("pathlib.PosixPath", ["/", "tmp", "x"])),  # noqa: S108 - a value
        (uuid.UUID(int=5), Foreign("uuid.UUID", uuid.UUID(int=5).hex)),
        (date(2026, 1, 2), Foreign("datetime.date", [2026, 1, 2])),
        (timedelta(1), Foreign("datetime.timedelta", [1, 0, 0])),
        (
            datetime(2026, 1, 2, tzinfo=UTC),
            Foreign("datetime.datetime.fromisoformat", "2026-01-02T00:00:00+00:00"),
        ),
        (Send("node", {"a": 1}), Foreign("langgraph.types.Send", ["node", {"a": 1}])),
        ((1, None, "x", b"y", 1.5, True), [1, None, "x", b"y", 1.5, True]),
        ({"a": {"b": [Order(1, paid=False)]}}, {"a": {"b": [Foreign(
            f"{__name__}.Order", {"number": 1, "paid": False})]}}),
        (None, None),
        (b"raw", b"raw"),
        (bytearray(b"raw"), b"raw"),
    ],
)  # fmt: skip
def test_what_langgraph_would_call_on_a_load_is_named_with_what_it_would_be_made_of(
    value: object, found: object
) -> None:
    assert stored(value) == found


def test_a_question_to_a_person_is_its_class_and_its_text() -> None:
    found = stored(Interrupt("why?", id="i"))
    assert isinstance(found, Foreign)
    assert found.type == "langgraph.types.Interrupt"
    assert isinstance(found.parts, dict)
    assert found.parts["value"] == "why?"


def test_a_message_of_langchain_is_its_class_and_its_fields() -> None:
    found = stored([AIMessage("hello", response_metadata={"model": "m"})])
    assert isinstance(found, list)
    assert found[0].type == "langchain_core.messages.ai.AIMessage"
    assert found[0].parts["content"] == "hello"
    assert found[0].parts["response_metadata"] == {"model": "m"}


def test_an_array_of_numpy_is_its_shape_and_its_bytes() -> None:
    numpy = pytest.importorskip("numpy")
    found = stored(numpy.arange(3, dtype="<i2"))
    assert found == Foreign("numpy.ndarray", ["<i2", [3], "C", b"\0\0\1\0\2\0"])


def test_a_snapshot_of_a_delta_channel_is_its_value() -> None:
    types = pytest.importorskip("langgraph.checkpoint.serde.types")
    if not hasattr(types, "_DeltaSnapshot"):
        pytest.skip("this LangGraph has no DeltaChannel")
    found = stored(types._DeltaSnapshot([1]))
    assert isinstance(found, Foreign)
    assert found.parts == [1]


def test_nothing_that_an_extension_names_is_called(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    names = set()
    for data in planted_extensions(marker):
        found = from_msgpack(data)
        assert isinstance(found, dict)
        names.add(found["x"].type)
    assert names == {"os.system", "pathlib.Path.touch"}
    assert not marker.exists()
    # the control: LangGraph's own default runs them
    for data in planted_extensions(marker)[:2]:
        with pytest.MonkeyPatch.context():
            JsonPlusSerializer(allowed_msgpack_modules=True).loads_typed(("msgpack", data))
    assert marker.exists()


@pytest.mark.parametrize("what", BROKEN_MSGPACK)
def test_broken_msgpack_is_told_as_unreadable(what: str) -> None:
    found = from_msgpack(BROKEN_MSGPACK[what])
    assert isinstance(found, Unreadable)
    assert found.why


def test_every_cut_of_a_stored_value_is_read_or_told_as_unreadable() -> None:
    _, data = JsonPlusSerializer().dumps_typed({"m": [AIMessage("hi")], "o": Order(1, paid=True)})
    assert not isinstance(from_msgpack(data), Unreadable)
    assert all(isinstance(from_msgpack(cut), Unreadable) for cut in prefixes(data))


def test_extensions_inside_each_other_without_end_are_read_as_far_as_is_sensible() -> None:
    for data in (extensions_inside(3_000), deep_extensions(300)):
        found = from_msgpack(data)
        layers = 0
        while not isinstance(found, (Unreadable, int)):
            layers += isinstance(found, Foreign)
            found = found.parts if isinstance(found, Foreign) else found[0]  # type: ignore[index] # a list
        assert found == Unreadable("nested too deep")
        assert layers < 50


def test_an_extension_that_is_not_langgraphs_is_kept_as_bytes() -> None:
    found = from_msgpack(ormsgpack.packb(ormsgpack.Ext(77, b"abc")))
    assert found == Foreign("msgpack.ext(77)", b"abc")


@pytest.mark.parametrize("content", [b"", b"\x01", b"\x92\xa1a", b"\x93\x01\x02\x03"])
@pytest.mark.parametrize("code", range(7))
def test_an_extension_with_other_content_than_langgraphs_has_no_name(
    code: int, content: bytes
) -> None:
    found = from_msgpack(ormsgpack.packb([ormsgpack.Ext(code, content)]))
    assert isinstance(found, list)
    assert found[0].type == "(no name)"


def test_a_name_that_is_a_text_of_somebody_is_not_given_as_a_name() -> None:
    payload = ormsgpack.packb(["the patient is", "called Ada", 1])
    found = from_msgpack(ormsgpack.packb(ormsgpack.Ext(0, payload)))
    assert found == Foreign("(no name)", 1)


@given(st.binary(max_size=300))
def test_no_bytes_at_all_break_the_reading_of_msgpack(data: bytes) -> None:
    from_msgpack(data)
    from_msgpack(b"\x91\xc7" + bytes([min(len(data), 255)]) + b"\x02" + data[:255])


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text() | st.binary()
    | st.floats(allow_nan=False),
    lambda below: st.lists(below) | st.dictionaries(st.text(), below),
)  # fmt: skip


@given(PLAIN)
def test_plain_values_come_back_as_they_were(value: object) -> None:
    assert from_msgpack(ormsgpack.packb(value)) == value
