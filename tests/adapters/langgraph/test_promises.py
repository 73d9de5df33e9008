"""The table of the README on LangGraph: each of its cells has the tests that hold it up."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from keepset.errors import ConflictError, PolicyError, SchemaError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.binding.stores import CONFIG, DURABILITIES, found, saver
from tests.adapters.langgraph.graph.deploys import approve, in_a_row, review
from tests.adapters.langgraph.saver.steps import config, in_loop, put
from tests.scan.credentials import KINDS, Maker

README = Path(__file__).parents[3] / "README.md"
KEY = KINDS["openai-project"](Maker(13))
PLAIN = "control-" + "".join(str(n) for n in range(40))
HELD: dict[tuple[str, str], list[str]] = {}
BOTH = pytest.mark.parametrize("bound", [True, False], ids=["bound", "not bound"])


def holds(row: str, *columns: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Say which cells of the table a test holds up."""

    def note(test: Callable[..., None]) -> Callable[..., None]:
        for column in columns:
            HELD.setdefault((row, column), []).append(test.__name__)
        return test

    return note


def test_every_cell_of_the_table_has_a_test_and_no_test_lacks_its_cell() -> None:
    lines = README.read_text("utf-8").splitlines()
    start = lines.index("| | bound | not bound |")
    cells = set()
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        row, *values = (cell.strip() for cell in line.strip("|").split("|"))
        cells |= {
            (row, f"{column}: {value}") for column, value in zip(COLUMNS, values, strict=True)
        }
    assert set(HELD) == cells
    assert len(cells) == 12


COLUMNS = ("bound", "not bound")
SECRETS = "secrets, handles, copied metadata kept out"
EXACT = "exact checkpoints: what a later step does to an object is in no earlier one"
EARLY = "what cannot be stored is refused before the next step"
CLASSES = "classes of your own"
GRAPH = "a changed graph or question is noticed on resume"
SECOND = "of two executions on one LangGraph thread, the second is refused"


class State(TypedDict, total=False):
    text: Any
    log: list[Any]


def given_by(first: Any, second: Any = None) -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("first", first)
    builder.add_node("second", second or (lambda _: {}))
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    return builder


def attached(keeper: KeepsetSaver, builder: Any, *, bound: bool) -> Any:
    return keeper.bind(builder.compile()) if bound else builder.compile(checkpointer=keeper)


@holds(SECRETS, "bound: all durabilities", "not bound: all durabilities")
@BOTH
@pytest.mark.parametrize("durability", DURABILITIES)
def test_secrets_and_what_a_config_holds_are_kept_out(
    durability: Any,
    bound: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
) -> None:
    builder = given_by(lambda _: {"text": f"{PLAIN} and {KEY}"})
    held = {**CONFIG["configurable"], "openai_api_key": KEY, "name": "jane-d"}
    given: Any = {"configurable": held, "metadata": {"name": "jane-d"}}
    with saver(tmp_path) as keeper:
        graph = attached(keeper, builder, bound=bound)
        graph.invoke({"log": [KEY]}, given, durability=durability)
    assert found(PLAIN, tmp_path)
    assert not found(KEY, tmp_path)
    assert not found("jane-d", tmp_path)


@holds(SECRETS, "bound: all durabilities", "not bound: all durabilities")
@BOTH
@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_handle_is_refused(
    durability: Any,
    bound: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    with KeepsetSaver("memory:") as keeper:
        graph = attached(keeper, given_by(lambda _: {"text": [threading.Lock()]}), bound=bound)
        with pytest.raises(PolicyError, match=r"text\[0\]: _thread\.lock"):
            graph.invoke({"log": []}, CONFIG, durability=durability)


class Late(KeepsetSaver):
    """Saves once the second node has changed what the first one gave, where it does not wait."""

    began: threading.Event | None = None

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        if metadata["step"] == 1 and self.began is not None:
            assert self.began.wait(30)
        return super().put(config, checkpoint, metadata, new_versions)


def between(keeper: Late, durability: Any, *, bound: bool) -> Any:
    """Let a node change in place what another one gave; give what the checkpoint between has."""
    began = threading.Event()
    keeper.began = began if durability == "async" else None

    def second(state: State) -> State:
        state["log"].append("later")
        began.set()
        return {"text": interrupt("?")}

    graph = attached(keeper, given_by(lambda _: {"log": ["first"]}, second), bound=bound)
    graph.invoke({"log": []}, CONFIG, durability=durability)
    return graph.get_state(CONFIG).values["log"]


@holds(EXACT, "bound: all durabilities")
@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_bound_graph_has_exact_checkpoints(
    durability: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with Late("memory:") as keeper, caplog.at_level(logging.WARNING, "keepset"):
        assert between(keeper, durability, bound=True) == ["first"]
    assert caplog.messages == []


@holds(EXACT, "not bound: sync; async and exit warn once")
@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_graph_that_is_not_bound_has_exact_checkpoints_with_sync_and_else_one_is_told(
    durability: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with Late("memory:") as keeper, caplog.at_level(logging.WARNING, "keepset"):
        exact = between(keeper, durability, bound=False) == ["first"]
    assert exact is (durability == "sync")
    told = [message for message in caplog.messages if "is not bound" in message]
    assert len(told) == (0 if exact else 1)


def test_a_graph_that_is_not_bound_tells_it_once_under_the_durability_that_nobody_chose(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with KeepsetSaver("memory:") as keeper, caplog.at_level(logging.WARNING, "keepset"):
        graph = attached(keeper, given_by(lambda _: {"text": "a"}, lambda _: {}), bound=False)
        graph.update_state(CONFIG, {"text": "by hand"})
        assert caplog.messages == []
        for _ in range(2):
            graph.invoke({"log": []}, CONFIG)
    (told,) = caplog.messages
    assert 'not bound to its saver: with durability="async"' in told


def ran_after(durability: Any, *, bound: bool) -> list[str]:
    """Return what cannot be stored from a node; give the nodes that ran after it."""
    ran: list[str] = []

    def second(_: State) -> State:
        ran.append("second")
        return {}

    with KeepsetSaver("memory:") as keeper:
        bad = {"text": {"b": [1, {"c": threading.Lock()}]}}
        graph = attached(keeper, given_by(lambda _: bad, second), bound=bound)
        with pytest.raises(PolicyError, match=r"text\.b\[1\]\.c: _thread\.lock"):
            graph.invoke({"log": []}, CONFIG, durability=durability)
    return ran


@holds(EARLY, "bound: all durabilities")
@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_bound_graph_refuses_before_the_next_step(durability: Any) -> None:
    assert ran_after(durability, bound=True) == []


@holds(EARLY, "not bound: sync")
def test_a_graph_that_is_not_bound_refuses_before_the_next_step_with_sync() -> None:
    assert ran_after("sync", bound=False) == []
    assert ran_after("exit", bound=False) == ["second"]


@dataclass
class Order:
    number: int


class Typed(TypedDict, total=False):
    order: Order


def typed() -> Any:
    builder: Any = StateGraph(Typed)
    builder.add_node("node", lambda _: {"order": Order(7)})
    builder.add_edge(START, "node")
    return builder


@holds(CLASSES, "bound: those that the schemas name")
def test_a_bound_graph_knows_the_classes_that_its_schemas_name() -> None:
    with KeepsetSaver("memory:") as keeper:
        graph = attached(keeper, typed(), bound=True)
        graph.invoke({}, CONFIG)
        assert graph.get_state(CONFIG).values == {"order": Order(7)}


@holds(CLASSES, "not bound: registered ones; else refused with the hint to bind")
def test_a_graph_that_is_not_bound_knows_registered_classes_and_says_how_to_know_others() -> None:
    with KeepsetSaver("memory:", types=[Order]) as keeper:
        graph = attached(keeper, typed(), bound=False)
        graph.invoke({}, CONFIG)
        assert graph.get_state(CONFIG).values == {"order": Order(7)}
    with KeepsetSaver("memory:") as keeper:
        graph = attached(keeper, typed(), bound=False)
        with pytest.raises(PolicyError) as refused:
            graph.invoke({}, CONFIG)
        assert refused.value.code == "codec.unknown-type"
        assert "saver.bind(graph)" in refused.value.hint


@holds(GRAPH, "bound: refused by name")
def test_a_bound_graph_that_lost_the_paused_node_refuses_by_name() -> None:
    with KeepsetSaver("memory:") as keeper:
        attached(keeper, in_a_row("approve", approve), bound=True).invoke({}, CONFIG)
        graph = attached(keeper, in_a_row("review", review), bound=True)
        with pytest.raises(SchemaError, match="approve"):
            graph.invoke(Command(resume="yes"), CONFIG)


@holds(GRAPH, "not bound: no")
def test_a_graph_that_is_not_bound_does_not_notice_as_with_every_saver() -> None:
    with KeepsetSaver("memory:") as keeper:
        attached(keeper, in_a_row("approve", approve), bound=False).invoke({}, CONFIG)
        graph = attached(keeper, in_a_row("review", review), bound=False)
        assert "approved" not in graph.invoke(Command(resume="yes"), CONFIG)


@holds(SECOND, "bound: before any node runs")
@pytest.mark.parametrize("durability", DURABILITIES)
def test_the_second_of_two_executions_of_a_bound_graph_runs_no_node(durability: Any) -> None:
    entered, go_on = threading.Event(), threading.Event()
    ran: list[str] = []

    def pay(_: Any) -> dict[str, Any]:
        ran.append("pay")
        entered.set()
        assert go_on.wait(30)
        return {}

    with KeepsetSaver("memory:") as keeper:
        graph = attached(keeper, given_by(pay), bound=True)
        run = partial(graph.invoke, {}, CONFIG, durability=durability)
        first = threading.Thread(target=run)
        first.start()
        assert entered.wait(30)
        with pytest.raises(ConflictError) as refused:
            run()
        go_on.set()
        first.join()
    assert (refused.value.code, ran) == ("run.leased", ["pay"])


@holds(SECOND, "not bound: when it saves")
def test_the_second_of_two_executions_of_any_other_graph_is_refused_when_it_saves() -> None:
    with KeepsetSaver("memory:") as keeper:
        start = put(keeper, in_loop(config("t")), 0, log=[])
        put(keeper, in_loop(start), 1, log=["first"])
        with pytest.raises(ConflictError) as refused:
            put(keeper, in_loop(start), 1, log=["second"])
        assert refused.value.code == "conflict.two-writers"
