"""Pickles, taken apart and never followed."""

from __future__ import annotations

import pickle
import pickletools
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.readers.decoding import from_pickle
from keepset.readers.decoding.machine import Machine, Twisted
from keepset.readers.ports import Foreign, Unreadable
from tests.readers.decoding.hostile import (
    BROKEN_PICKLES,
    cyclic,
    laughs,
    planted_pickles,
    prefixes,
)


@dataclass
class Client:
    key: str
    tags: set[str] = field(default_factory=set)


class Own(dict[str, int]):
    pass


def texts(value: object) -> set[object]:
    """All texts and numbers of a value, wherever they stand."""
    found: set[object] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, Foreign):
            waiting.append(one.parts)
        else:
            found.add(one)
    return found


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_gives_the_types_and_texts_of_what_it_holds(protocol: int) -> None:
    value = {"client": Client("sk-1", {"a"}), "day": date(2026, 1, 2), "n": [1, 2.5, None, True]}
    found = from_pickle(pickle.dumps(value, protocol))
    assert isinstance(found, dict)
    assert found["n"] == [1, 2.5, None, True]
    assert {"sk-1", "key", "tags", "a"} <= texts(found)
    assert found["day"].type == "datetime.date"
    if protocol >= 2:
        assert found["client"].type == f"{__name__}.Client"
        assert found["client"].parts["key"] == "sk-1"


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "value",
    [
        OrderedDict(a=1),
        Own(b=2),
        {1, 2},
        frozenset({3}),
        Decimal("1.5"),
        b"x",
        bytearray(b"y"),
        len,
    ],
    ids=lambda value: type(value).__name__,
)
def test_containers_and_calls_of_all_protocols_are_read(protocol: int, value: object) -> None:
    assert not isinstance(from_pickle(pickle.dumps([value], protocol)), Unreadable)


def test_nothing_that_a_pickle_names_is_called(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    for data in planted_pickles(marker):
        found = from_pickle(data)
        call = found[0] if isinstance(found, list) else found
        assert isinstance(call, Foreign)
        assert call.type in {"posix.system", "os.system"}
        assert call.parts == [f"touch {marker}"]
    assert not marker.exists()
    for data in planted_pickles(marker):  # the control: each of them does it
        pickle.loads(data)  # noqa: S301 - that it runs is what is shown
        marker.unlink()


@pytest.mark.parametrize("what", BROKEN_PICKLES)
def test_a_broken_pickle_is_told_as_unreadable(what: str) -> None:
    assert isinstance(from_pickle(BROKEN_PICKLES[what]), Unreadable)


def test_a_pickle_that_holds_itself_ends() -> None:
    assert from_pickle(cyclic()) == [{"me": Foreign(""), "word": "hello"}]


def test_a_small_pickle_does_not_grow_to_a_large_value() -> None:
    found = from_pickle(laughs())
    assert isinstance(found, list)
    assert len(found) == 10


def test_an_object_cannot_be_made_to_hold_itself() -> None:
    for data in (
        b"cos\nsystem\nq\x00h\x00b.",  # a name filled with itself
        b"\x8f\x94h\x00(h\x00\x90.",  # a set put into itself
        b"\x8f\x94(h\x00\x90.",
        b"]\x94h\x00a.",
        b"}\x94K\x01h\x00s.",
        b"cos\nsystem\n)R\x94h\x00b.",
    ):
        texts(from_pickle(data))  # it ends


def test_every_cut_of_a_pickle_is_told_as_unreadable() -> None:
    data = pickle.dumps({"client": Client("sk-1"), "day": date(2026, 1, 2)})
    assert all(isinstance(from_pickle(cut), Unreadable) for cut in prefixes(data))


def test_every_instruction_of_pickles_is_known() -> None:
    machine, told = Machine(0), []
    for opcode in pickletools.opcodes:
        if opcode.name == "STOP":
            continue
        try:
            machine.step(opcode.name, None)
        except (IndexError, KeyError, Twisted) as error:
            told.append(str(error))
    assert told  # most have nothing on the stack to work on
    assert not [one for one in told if "not known" in one]


@given(st.binary(max_size=300))
def test_no_bytes_at_all_break_the_reading_of_pickles(data: bytes) -> None:
    texts(from_pickle(data))
    texts(from_pickle(b"\x80\x04" + data + b"."))


OPCODES = [b"(", b"0", b"1", b"2", b"N", b"]", b"}", b")", b"a", b"e", b"s", b"u", b"t", b"l", b"d",
           b"\x85", b"\x86", b"\x87", b"\x88", b"\x8f", b"\x90", b"\x91", b"\x94", b"h\x00",
           b"h\x01", b"q\x00", b"K\x05", b"\x8c\x01a", b"\x93", b"R", b"b", b"\x81", b"\x92", b"o",
           b"cos\nsystem\n", b"ios\nsystem\n"]  # fmt: skip


@given(st.lists(st.sampled_from(OPCODES), max_size=40))
def test_no_order_of_instructions_makes_a_value_that_holds_itself(lines: list[bytes]) -> None:
    texts(from_pickle(b"\x80\x04" + b"".join(lines) + b"."))


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.binary()
    | st.floats(allow_nan=False),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4),
)


@given(PLAIN, st.integers(0, 5))
def test_plain_values_that_are_not_shared_come_back(value: object, protocol: int) -> None:
    found = from_pickle(pickle.dumps(value, protocol))
    assert not isinstance(found, Unreadable)
    if protocol >= 3 and "Foreign(type='')" not in repr(found):
        assert repr(found) == repr(value) or "Foreign" in repr(found)


@pytest.mark.parametrize("made", [b"]", b")", b"}", b"\x8f", b"(", b"2"])
def test_a_large_pickle_of_nothing_but_empty_lists_takes_no_memory(made: bytes) -> None:
    head = b"\x80\x04(" + (b"K\x01" if made == b"2" else b"")
    found = from_pickle(head + made * (5 << 20) + b"l.")
    assert found == Unreadable("made of little else than empty lists")


def test_a_large_pickle_of_small_records_is_read() -> None:
    records = [{"n": number, "pair": (number, str(number))} for number in range(160_000)]
    data = pickle.dumps(records)
    assert len(data) > 4 << 20
    found = from_pickle(data)
    assert isinstance(found, list)
    assert found[-1] == {"n": 159_999, "pair": [159_999, "159999"]}
