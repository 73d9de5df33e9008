"""What a graph's schemas say is what its contracts say."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue, UntrackedValue
from langgraph.func import entrypoint
from langgraph.graph import START, StateGraph, add_messages
from langgraph.managed import RemainingSteps
from pydantic import BaseModel
from typing_extensions import TypedDict

from keepset import Drop, Keep, Refetch, Reopen, contract
from keepset.adapters.langgraph.schemas import contracts_of
from keepset.contracts import Contract
from keepset.errors import SchemaError


@dataclass
class Order:
    """A class that a state names."""

    number: int


class Reply(BaseModel):
    """Another one."""

    text: str


def load(ids: list[str]) -> list[str]:
    return ids


def connect() -> object:
    return object()


@contract(name="ticket", epoch=3)
class State(TypedDict):
    """A state with rules beside reducers."""

    messages: Annotated[list[AnyMessage], Keep(personal=True), add_messages]
    ids: Annotated[list[str], Keep(), operator.add]
    docs: Annotated[list[str], Refetch(load, using="ids")]
    order: Order
    left: RemainingSteps


def node(_: Any) -> dict[str, Any]:
    return {}


def compiled(state: Any, *, run: Any = node, **schemas: Any) -> Any:
    builder = StateGraph(state, **schemas)
    builder.add_node("node", run)
    builder.add_edge(START, "node")
    return builder.compile()


def contract_of(state: Any, **options: Any) -> Contract:
    return contracts_of(compiled(state, **options))[""]


def kinds(found: Contract) -> dict[str, str]:
    return {name: field.rule.kind for name, field in found.fields.items()}


def test_rules_are_read_beside_reducers_and_a_channel_without_one_is_kept() -> None:
    found = contract_of(State)
    assert (found.name, found.epoch) == ("ticket", 3)
    assert kinds(found) == {"messages": "Keep", "ids": "Keep", "docs": "Refetch", "order": "Keep"}
    assert found.fields["messages"].rule == Keep(personal=True)
    assert not found.fields["order"].declared


def test_a_managed_value_is_no_field_since_it_is_no_channel() -> None:
    assert "left" not in contract_of(State).fields


def test_classes_in_annotations_are_known_under_the_contracts_name() -> None:
    classes = contract_of(State).classes
    assert classes["ticket/Order"] is Order


class Input(TypedDict):
    question: Annotated[str, Keep(max_bytes=100)]


class Output(TypedDict):
    reply: Reply


class Private(BaseModel):
    """What one node takes."""

    secret_plan: Annotated[str, Drop(default="")] = ""


def private_node(_: Private) -> dict[str, Any]:
    return {}


def test_fields_of_the_input_the_output_and_a_nodes_own_schema_are_fields() -> None:
    found = contract_of(State, run=private_node, input_schema=Input, output_schema=Output)
    assert {"question": "Keep", "reply": "Keep", "secret_plan": "Drop"}.items() <= kinds(
        found
    ).items()
    assert found.classes["ticket/Reply"] is Reply
    assert found.classes["ticket/Private"] is Private


class Context(TypedDict):
    user: str


def test_the_context_is_no_state() -> None:
    assert "user" not in contract_of(State, context_schema=Context).fields


class SameRule(TypedDict):
    ids: Annotated[list[str], operator.add]


class WithRule(TypedDict):
    ids: Annotated[list[str], Keep(), operator.add]


class OtherRule(TypedDict):
    ids: Annotated[list[str], Keep(append_only=True), operator.add]


def test_a_schema_without_a_rule_for_a_channel_leaves_it_to_the_one_that_has_one() -> None:
    assert contract_of(SameRule, input_schema=WithRule).fields["ids"].declared
    assert contract_of(State, input_schema=SameRule).fields["ids"].declared


def test_two_schemas_that_say_different_rules_for_one_channel_are_an_error() -> None:
    with pytest.raises(SchemaError, match=r"ticket\.ids: State and OtherRule") as error:
        contract_of(State, input_schema=OtherRule)
    assert error.value.code == "rule.conflict"


class Hidden(TypedDict):
    ids: Annotated[list[str], operator.add, Keep()]


def test_a_rule_that_hides_a_reducer_is_an_error_before_anything_runs() -> None:
    with pytest.raises(SchemaError) as error:
        contract_of(Hidden)
    assert error.value.code == "marker.order"


class Elsewhere(TypedDict):
    docs: Annotated[list[str], Refetch(load, using="ids")]


def test_what_a_refetch_uses_may_be_declared_in_another_schema_and_must_be_somewhere() -> None:
    assert kinds(contract_of(Elsewhere, input_schema=SameRule))["docs"] == "Refetch"
    with pytest.raises(SchemaError) as error:
        contract_of(Elsewhere)
    assert error.value.code == "refetch.unknown-field"


@dataclass
class Unfinished:
    """A class that names what only a type checker can find."""

    of: Nowhere  # type: ignore[name-defined]  # noqa: F821 - it is missing on purpose


class WithUnfinished(TypedDict):
    kept: list[Unfinished]


class WithoutUnfinished(TypedDict):
    handle: Annotated[Unfinished, Reopen(connect)]


def test_an_annotation_that_cannot_be_resolved_is_an_error_before_any_node_runs() -> None:
    with pytest.raises(SchemaError, match="Nowhere") as error:
        contract_of(WithUnfinished)
    assert error.value.code == "state.unresolved-name"


def test_the_type_of_a_field_that_is_not_stored_need_not_be_found() -> None:
    assert kinds(contract_of(WithoutUnfinished)) == {"handle": "Reopen"}


class Untracked(TypedDict):
    client: Annotated[object, UntrackedValue]
    opened: Annotated[object, Reopen(connect), UntrackedValue]
    once: Annotated[str, EphemeralValue]


def test_an_untracked_channel_is_not_stored_unless_a_rule_restores_it() -> None:
    assert kinds(contract_of(Untracked)) == {"client": "Drop", "opened": "Reopen", "once": "Keep"}


def test_each_graph_inside_has_a_contract_of_its_own_by_its_namespace() -> None:
    inner = compiled(Elsewhere, input_schema=SameRule)
    middle = StateGraph(SameRule)
    middle.add_node("inner", inner)
    middle.add_edge(START, "inner")
    outer = StateGraph(State)
    outer.add_node("middle", middle.compile())
    outer.add_edge(START, "middle")
    found = contracts_of(outer.compile())
    assert {namespace: held.name for namespace, held in found.items()} == {
        "": "ticket",
        "middle": "SameRule",
        "middle|inner": "Elsewhere",
    }
    assert kinds(found["middle|inner"])["docs"] == "Refetch"


def test_a_state_that_is_one_value_has_one_field_with_its_rule() -> None:
    found = contract_of(Annotated[list[Any], Keep(append_only=True), operator.add])
    assert found.fields["__root__"].rule == Keep(append_only=True)


def test_the_classes_of_the_functional_api_are_known_by_its_annotations() -> None:
    @entrypoint()
    def flow(order: Order) -> Reply:
        return Reply(text=str(order.number))

    found = contracts_of(flow)[""]
    assert dict(found.classes) == {"langgraph/Order": Order, "langgraph/Reply": Reply}
    assert not found.fields
