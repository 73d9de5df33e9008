"""States in a module with `from __future__ import annotations`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict

import pytest

from keepset.contracts import Keep, Reopen, contract_of
from keepset.errors import SchemaError

if TYPE_CHECKING:
    import sqlite3

    from keepset.contracts import Drop


def connect() -> object:
    return object()


class Postponed(TypedDict):
    question: Annotated[str, Keep(personal=True)]
    note: NotRequired[Annotated[str, Keep()]]
    inside: Annotated[NotRequired[str], Keep()]
    db: Annotated[sqlite3.Connection, Reopen(connect)]
    pool: Annotated[dict[str, sqlite3.Connection] | None, Reopen(connect)]


class Outer:
    class Item(TypedDict):
        name: str

    @dataclasses.dataclass
    class State:
        item: Annotated[Outer.Item, Keep()]
        again: Annotated[Outer.State | None, Keep()] = None


def test_rules_and_what_is_required_are_read_from_postponed_annotations() -> None:
    fields = contract_of(Postponed).fields
    assert fields["question"].rule == Keep(personal=True)
    assert {name for name, field in fields.items() if field.optional} == {"note", "inside"}


def test_a_name_for_type_checkers_only_does_no_harm_where_the_type_does_not_count() -> None:
    fields = contract_of(Postponed).fields
    assert fields["db"].rule == Reopen(connect)
    assert fields["pool"].rule == Reopen(connect)


def test_classes_inside_classes_are_found() -> None:
    contract = contract_of(Outer.State)
    assert contract.fields["item"].annotation is Outer.Item


def test_a_local_class_may_name_itself_and_what_is_at_the_top_of_the_module() -> None:
    @dataclasses.dataclass
    class Node:
        children: Annotated[list[Node], Keep()]

    assert contract_of(Node).fields["children"].annotation == list[Node]


def test_a_name_that_is_stored_and_cannot_be_found_is_named_with_its_field() -> None:
    class Hidden(TypedDict):
        name: str

    class State(TypedDict):
        fine: Annotated[str, Keep()]
        items: Annotated[list[Hidden], Keep()]

    with pytest.raises(SchemaError) as caught:
        contract_of(State)
    assert caught.value.code == "state.unresolved-name"
    assert "Hidden" in caught.value.message
    assert "items" in caught.value.message
    assert "top level" in caught.value.hint


def test_a_rule_that_cannot_be_found_is_never_taken_for_no_rule() -> None:
    class State(TypedDict):
        secret: Annotated[str, Drop(default="")]

    with pytest.raises(SchemaError) as caught:
        contract_of(State)
    assert caught.value.code == "state.unresolved-name"
    assert "Drop" in caught.value.message


def test_a_function_of_a_rule_that_cannot_be_found_is_refused() -> None:
    def make() -> object:
        return object()

    class State(TypedDict):
        db: Annotated[object, Reopen(make)]

    with pytest.raises(SchemaError) as caught:
        contract_of(State)
    assert caught.value.code == "state.unresolved-name"
    assert "make" in caught.value.message
