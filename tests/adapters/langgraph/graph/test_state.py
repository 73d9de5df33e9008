"""The state of a graph changes while a thread waits."""

from __future__ import annotations

import logging
import operator
from typing import Annotated, Any, NotRequired, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from pydantic import BaseModel

from keepset import Reopen
from keepset.errors import SchemaError
from tests.adapters.langgraph.graph.deploys import CONFIG, Deploys


class Before(TypedDict):
    total: int
    note: str


class Shorter(TypedDict):
    total: int


class Longer(Before):
    approver: str


class MaybeLonger(Before):
    approver: NotRequired[str]


class Restored(Before):
    approver: Annotated[str, Reopen(lambda: "ann")]


class WithList(Before):
    steps: Annotated[list[str], operator.add]


class Text(TypedDict):
    total: str
    note: str


class Wider(TypedDict):
    total: int | None
    note: str


class Summed(TypedDict):
    total: Annotated[int, operator.add]
    note: str


def here() -> Any:
    return lambda a, b: a + b


def there() -> Any:
    return lambda a, b: b + a


HERE, THERE = here(), there()


class SummedHere(TypedDict):
    total: Annotated[int, HERE]
    note: str


class SummedThere(TypedDict):
    total: Annotated[int, THERE]
    note: str


class Model(BaseModel):
    total: int = 0
    note: str = ""


class LongerModel(Model):
    approver: str


class Note(TypedDict):
    note: str


def draft(_: Any) -> dict[str, Any]:
    return {"total": 100, "note": "fragile"}


def pay(_: Any) -> dict[str, Any]:
    return {}


def pay_with_note(state: Any) -> dict[str, Any]:
    return {"note": "paid " + state["note"]}


def graph_of(state: Any, work: Any = pay, *, last: Any = None, reads: Any = None) -> Any:
    """A graph that drafts, waits, pays, and may do a last thing on a path of its own."""
    builder: Any = StateGraph(state)
    builder.add_node("draft", draft, input_schema=reads or state)
    builder.add_node("pay", work, input_schema=reads or state)
    builder.add_edge(START, "draft")
    builder.add_edge("draft", "pay")
    builder.add_edge("pay", END)
    if last is not None:
        builder.add_node("last", last)
        builder.add_edge("last", END)
        builder.add_conditional_edges(START, lambda _: "draft", ["draft", "last"])
    return builder


def paused(deploys: Deploys, builder: Any, **options: Any) -> Any:
    return deploys.deploy(builder, compiled={"interrupt_before": ["pay"]}, **options)


def at_rest(deploys: Deploys, before: Any = Before) -> None:
    """Run until the thread waits before it pays."""
    graph = paused(deploys, graph_of(before))
    deploys.call(graph, {"total": 1, "note": ""})
    assert graph.get_state(CONFIG).next == ("pay",)


def refusal(deploys: Deploys, builder: Any) -> SchemaError:
    graph = paused(deploys, builder)
    with pytest.raises(SchemaError, match="thread order-7") as refused:
        deploys.call(graph, None)
    assert deploys.call(paused(deploys, graph_of(Before)), None)["total"] == 100
    return refused.value


def test_a_state_key_that_is_removed_at_a_pause_does_not_pause_the_thread_again_and_again(
    deploys: Deploys,
) -> None:
    at_rest(deploys)
    graph = paused(deploys, graph_of(Shorter))
    assert deploys.call(graph, None) == {"total": 100}
    assert graph.get_state(CONFIG).next == ()


def test_the_removal_of_a_state_key_is_recorded(
    deploys: Deploys, caplog: pytest.LogCaptureFixture
) -> None:
    at_rest(deploys)
    graph = paused(deploys, graph_of(Shorter))
    with caplog.at_level(logging.WARNING, "keepset"):
        deploys.call(graph, None)
    assert [r.message for r in caplog.records if "no channel note" in r.message] != []
    last, before = list(graph.get_state_history(CONFIG))[:2]
    assert last.metadata["removed_channels"] == ["note"]
    assert "removed_channels" not in before.metadata
    again = deploys.call(graph, {"total": 1})
    assert again == {"total": 100}
    assert "removed_channels" not in graph.get_state(CONFIG).metadata


def test_a_key_that_a_node_still_reads_is_missed_before_the_node_runs(deploys: Deploys) -> None:
    at_rest(deploys)
    refused = refusal(deploys, graph_of(Shorter, pay_with_note))
    assert refused.code == "langgraph.field-lost"
    assert "node pay reads note" in refused.message


def test_a_key_that_only_an_unreachable_node_reads_is_not_missed(deploys: Deploys) -> None:
    at_rest(deploys)
    graph = paused(deploys, graph_of(Shorter, last=pay_with_note))
    assert deploys.call(graph, None) == {"total": 100}


@pytest.mark.parametrize("state", [Longer, LongerModel])
def test_a_required_key_that_the_thread_has_no_value_for_is_refused(
    deploys: Deploys, state: Any
) -> None:
    at_rest(deploys)
    refused = refusal(deploys, graph_of(state))
    assert refused.code == "langgraph.field-gained"
    assert "node pay requires approver" in refused.message


@pytest.mark.parametrize("state", [MaybeLonger, Restored, WithList, Model])
def test_a_new_key_that_can_be_without_a_value_is_no_obstacle(deploys: Deploys, state: Any) -> None:
    at_rest(deploys)
    assert deploys.call(paused(deploys, graph_of(state)), None)["total"] == 100


def test_a_required_key_that_no_node_on_the_way_reads_is_no_obstacle(deploys: Deploys) -> None:
    at_rest(deploys)
    graph = paused(deploys, graph_of(Longer, reads=Note))
    assert deploys.call(graph, None)["total"] == 100


def test_a_human_gives_the_missing_value_and_the_thread_goes_on(deploys: Deploys) -> None:
    at_rest(deploys)
    graph = paused(deploys, graph_of(Longer))
    graph.update_state(CONFIG, {"approver": "ann"})
    assert deploys.call(graph, None)["approver"] == "ann"


@pytest.mark.parametrize(("state", "how"), [(Text, "type"), (Summed, "kind")])
def test_a_channel_of_another_type_or_kind_is_refused(
    deploys: Deploys, state: Any, how: str
) -> None:
    at_rest(deploys)
    refused = refusal(deploys, graph_of(state))
    assert refused.code == "langgraph.channel-changed"
    assert "channel total" in refused.message
    assert how in refused.message


def test_a_wider_type_is_no_obstacle(deploys: Deploys) -> None:
    at_rest(deploys)
    assert deploys.call(paused(deploys, graph_of(Wider)), None)["total"] == 100


def test_a_type_that_no_node_on_the_way_reads_is_no_obstacle(deploys: Deploys) -> None:
    at_rest(deploys)
    graph = paused(deploys, graph_of(Text, reads=Note))
    assert deploys.call(graph, None)["total"] == 100


def test_a_changed_reducer_warns_and_goes_on(
    deploys: Deploys, caplog: pytest.LogCaptureFixture
) -> None:
    class Multiplied(TypedDict):
        total: Annotated[int, operator.mul]
        note: str

    at_rest(deploys, Summed)
    with caplog.at_level(logging.WARNING, "keepset"):
        deploys.call(paused(deploys, graph_of(Multiplied)), None)
    assert [r for r in caplog.records if "reducer of channel total was add" in r.message] != []


def test_a_lambda_is_not_a_new_reducer_wherever_it_is_written(
    deploys: Deploys, caplog: pytest.LogCaptureFixture
) -> None:
    at_rest(deploys, SummedHere)
    with caplog.at_level(logging.WARNING, "keepset"):
        deploys.call(paused(deploys, graph_of(SummedThere)), None)
    assert caplog.records == []


def test_a_thread_that_is_done_takes_a_new_input_whatever_became_of_its_nodes(
    deploys: Deploys,
) -> None:
    at_rest(deploys)
    deploys.call(paused(deploys, graph_of(Before)), None)
    other: Any = StateGraph(Longer)
    other.add_node("anew", lambda _: {"note": "anew"})
    other.add_edge(START, "anew")
    given = {"total": 5, "approver": "ann"}
    assert deploys.call(deploys.deploy(other), given) == {**given, "note": "anew"}


def test_a_thread_that_is_done_keeps_its_values_from_a_graph_that_means_another_thing_by_them(
    deploys: Deploys,
) -> None:
    at_rest(deploys)
    deploys.call(paused(deploys, graph_of(Before)), None)
    with pytest.raises(SchemaError) as refused:
        deploys.call(paused(deploys, graph_of(Text)), {"total": "five"})
    assert refused.value.code == "langgraph.channel-changed"


def test_a_new_input_leaves_what_waited_behind_and_is_not_refused(deploys: Deploys) -> None:
    at_rest(deploys)
    other: Any = StateGraph(Before)
    other.add_node("anew", lambda _: {"note": "anew"})
    other.add_edge(START, "anew")
    assert deploys.call(deploys.deploy(other), {"total": 5}) == {"total": 5, "note": "anew"}


def test_a_thread_that_no_bound_saver_wrote_is_resumed_and_misses_its_node_by_name(
    deploys: Deploys,
) -> None:
    graph = graph_of(Before).compile(interrupt_before=["pay"], checkpointer=deploys.saver())
    deploys.call(graph, {"total": 1, "note": ""})
    other: Any = StateGraph(Before)
    other.add_node("anew", pay)
    other.add_edge(START, "anew")
    with pytest.raises(SchemaError) as refused:
        deploys.call(deploys.deploy(other), None)
    assert refused.value.code == "langgraph.node-gone"
    assert deploys.call(paused(deploys, graph_of(Before)), None)["total"] == 100


def test_a_type_of_a_channel_without_a_value_is_no_obstacle(deploys: Deploys) -> None:
    class Maybe(Before):
        hint: NotRequired[int]

    class Other(Before):
        hint: NotRequired[str]

    at_rest(deploys, Maybe)
    assert deploys.call(paused(deploys, graph_of(Other)), None)["total"] == 100


def test_a_key_that_becomes_required_is_no_obstacle_where_it_has_a_value(deploys: Deploys) -> None:
    class Maybe(TypedDict, total=False):
        total: int
        note: str

    at_rest(deploys, Maybe)
    assert deploys.call(paused(deploys, graph_of(Before)), None)["total"] == 100


def test_a_packet_brings_what_its_node_needs(deploys: Deploys) -> None:
    def builder(state: Any) -> Any:
        made: Any = StateGraph(state)
        made.add_node("draft", draft)
        made.add_node("pay", lambda given: {"note": given["text"]})
        made.add_edge(START, "draft")
        made.add_conditional_edges("draft", lambda _: [Send("pay", {"text": "sent"})], ["pay"])
        return made

    deploys.call(paused(deploys, builder(Before)), {"total": 1, "note": ""})
    assert deploys.call(paused(deploys, builder(Longer)), None)["note"] == "sent"


def test_a_join_that_some_have_come_to_may_not_wait_for_others(deploys: Deploys) -> None:
    def builder(*waited_for: str) -> Any:
        made: Any = StateGraph(Before)
        for name in ("draft", "other", "third"):
            made.add_node(name, draft if name == "draft" else pay)
            made.add_edge(START, name)
        made.add_node("pay", pay)
        made.add_node("last", lambda _: {"note": "last"})
        made.add_edge("other", "pay")
        made.add_edge(list(waited_for), "last")
        return made

    deploys.call(paused(deploys, builder("draft", "pay")), {"total": 1, "note": ""})
    with pytest.raises(SchemaError) as refused:
        deploys.call(paused(deploys, builder("draft", "pay", "third")), None)
    assert refused.value.code == "langgraph.channel-changed"
    assert "join:draft+pay:last" in refused.value.message
    assert deploys.call(paused(deploys, builder("draft", "pay")), None)["note"] == "last"


def test_a_graph_inside_is_compared_with_the_one_that_the_thread_waits_in(
    deploys: Deploys,
) -> None:
    def outer(inner: Any) -> Any:
        made: Any = StateGraph(Before)
        made.add_node("team", inner.compile(interrupt_before=["pay"]))
        made.add_edge(START, "team")
        return made

    deploys.call(deploys.deploy(outer(graph_of(Before))), {"total": 1, "note": ""})
    with pytest.raises(SchemaError, match="namespace team:") as refused:
        deploys.call(deploys.deploy(outer(graph_of(Longer))), None)
    assert refused.value.code == "langgraph.field-gained"
    assert deploys.call(deploys.deploy(outer(graph_of(Wider))), None)["total"] == 100
