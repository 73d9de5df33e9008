"""Two outcomes are the same exactly where a user would call their values the same."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel

from keepset.contracts import contract_of
from keepset.prove.compare import Difference, differences, reference_of
from keepset.prove.leaves import leaves_of
from keepset.prove.trials import Failure, Outcome
from keepset.run.services import codec_of


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Address:
    city: str
    tags: list[str] = field(default_factory=list)


class Person(BaseModel):
    name: str
    address: Address


class Order(msgspec.Struct):
    number: int
    lines: list[str]


@dataclass
class Node:
    name: str
    other: Any = None


@dataclass
class State:
    colour: Colour
    person: Person
    order: Order
    node: Node
    messages: list[AIMessage | HumanMessage]


CODEC = codec_of(contract_of(State))


def outcome(value: object, **more: Any) -> Outcome:
    """An outcome whose final state is one field."""
    return Outcome(state=leaves_of(value, ("field",), CODEC), **more)


def compared(right: object, ours: object) -> tuple[Difference, ...]:
    return differences(outcome(ours), reference_of([outcome(right), outcome(right)]))


SAME: list[tuple[str, object, object]] = [
    ("NaN and NaN", float("nan"), float("nan")),
    ("the order of keys", {"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ("the order of keys that are no text", {1: "a", (2, 3): "b"}, {(2, 3): "b", 1: "a"}),
    ("the order of keys of an ordered dict", OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)),
    ("the order of a set", set("abcdefgh"), {*"hgfedcba"}),
    ("a dataclass", Address("Rome", ["x"]), Address("Rome", ["x"])),
    ("two connections", sqlite3.connect(":memory:"), sqlite3.connect(":memory:")),
    ("two locks in a list", [threading.Lock(), 1], [threading.Lock(), 1]),
    ("arrays", np.arange(4), np.arange(4)),
    ("numbers of many digits", -(10**5_000), -(10**5_000)),
]

OTHER: list[tuple[str, object, object]] = [
    ("True and 1", True, 1),
    ("1 and 1.0", 1, 1.0),
    ("0.0 and -0.0", 0.0, -0.0),
    ("None and a text of it", None, "None"),
    ("a tuple and a list", (1, 2), [1, 2]),
    ("the order of a list", [1, 2], [2, 1]),
    ("a set and a frozenset", {1}, frozenset({1})),
    ("sets of other items", {"a", "b"}, {"a", "c"}),
    ("bytes and a text", b"a", "a"),
    ("a key that is a number and one that is a text", {1: "a"}, {"1": "a"}),
    ("keys of other types", {True: "a"}, {1: "a"}),
    ("an empty list and an empty tuple", [], ()),
    ("members of an enumeration", Colour.RED, Colour.BLUE),
    ("arrays of other numbers", np.array([1.0, 2.0]), np.array([1.0, 3.0])),
    ("arrays of other types", np.array([1], "i4"), np.array([1], "i8")),
    ("two moments", datetime(2031, 1, 1, tzinfo=UTC), datetime(2031, 1, 2, tzinfo=UTC)),
    ("numbers of many digits", 10**5_000, 10**5_000 + 1),
    ("long texts", "x" * 9_000, "x" * 8_999 + "y"),
    ("a connection and a lock", sqlite3.connect(":memory:"), threading.Lock()),
]
NESTED: list[tuple[str, object, object]] = [
    (
        "a dataclass in a model",
        Person(name="Ada", address=Address("Rome")),
        Person(name="Ada", address=Address("Oslo")),
    ),
    ("a struct", Order(1, ["lamp"]), Order(1, ["desk"])),
    ("a message", [HumanMessage("hi", id="1")], [HumanMessage("ho", id="1")]),
    ("the type of a message", [HumanMessage("hi", id="1")], [AIMessage("hi", id="1")]),
    ("what a message says beside its text", [AIMessage("a")], [AIMessage("a", name="b")]),
]


def named(cases: list[tuple[str, object, object]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("right", "ours"), [case[1:] for case in cases], ids=[case[0] for case in cases]
    )


@named(SAME)
def test_what_a_user_calls_the_same_is_the_same(right: object, ours: object) -> None:
    assert compared(right, ours) == ()


@named(OTHER + NESTED)
def test_what_has_another_type_or_content_is_another(right: object, ours: object) -> None:
    assert compared(right, ours) == (Difference("state", "another field"),)


def test_a_set_is_the_same_set_in_every_process() -> None:
    """Another process has another seed for hashes, and gives the items in another order."""
    items = [f"item {number}" for number in range(50)]
    found = leaves_of(set(items), ("field",), CODEC)
    assert [leaf.text for leaf in found.values()][1:] == sorted(items)


def test_a_value_that_holds_itself_is_compared_and_ends() -> None:
    def ring() -> Node:
        first, second = Node("first"), Node("second")
        first.other, second.other = [second, second], [first, first]
        return first

    assert compared(ring(), ring()) == ()


def test_the_folder_of_a_trial_does_not_count_and_what_lies_in_it_does() -> None:
    def at(folder: str, name: str) -> Outcome:
        value = {"path": Path(folder) / name, "said": f"see {folder}/{name}!"}
        return Outcome(state=leaves_of(value, ("field",), CODEC, folder))

    right = reference_of([at("/trials/one", "a.txt"), at("/trials/two", "a.txt")])
    assert (right.mask, right.unlike) == ({}, ())
    assert differences(at("/trials/three", "a.txt"), right) == ()
    assert differences(at("/trials/three", "b.txt"), right) == (
        Difference("state", "another field"),
    )


def test_the_worst_difference_comes_first() -> None:
    codec = CODEC
    right = Outcome((("a",), ("b",)), world=leaves_of(["paid"], ("world",), codec))
    wrong = Outcome(
        (("a",), ("a",)),
        world=leaves_of(["paid", "paid"], ("world",), codec),
        failure=Failure("KeyError", ("b",)),
    )
    found = differences(wrong, reference_of([right, right]))
    assert [one.kind for one in found] == ["effect", "failure"]
    assert found[0].what == "what observe gave: 2 instead of 1"
    assert found[1].what == "KeyError in b"


def test_steps_that_came_twice_are_named() -> None:
    right = Outcome((("find",), ("charge",)))
    twice = Outcome((("find",), ("charge",), ("charge",)))
    (found,) = differences(twice, reference_of([right, right]))
    assert found == Difference("order", "other steps: find, charge, charge instead of find, charge")


def test_a_field_that_was_left_out_may_be_missing_unless_a_caller_reads_it() -> None:
    right = reference_of([outcome("yes"), outcome("yes")])
    assert differences(Outcome(), right, ["field"]) == ()
    assert differences(Outcome(), right, ["field"], ["field"]) == (
        Difference("output", "no field at the end"),
    )


PLANTED = "PLANTED-a-value-that-nobody-may-see"
texts = st.text(max_size=20).map(lambda text: f"{PLANTED}{text}")
values = st.recursive(
    texts | st.integers() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
        | st.builds(Node, inner, inner)
        | st.frozensets(texts, max_size=3)
    ),
    max_leaves=8,
)


@given(values, values, values)
def test_no_difference_and_no_name_of_what_is_volatile_holds_a_value(
    first: object, second: object, ours: object
) -> None:
    one, other = outcome(first, world={}), outcome(second)
    right = reference_of([one, other])
    told = [one.what for one in differences(outcome(ours), right)]
    assert PLANTED not in " ".join([*told, *right.volatile, *right.unlike])


def test_a_value_that_is_a_leaf_is_found_in_the_leaves() -> None:
    """The control of the claim above: what is planted is there to be told."""
    assert PLANTED in str(outcome([PLANTED]).state)
