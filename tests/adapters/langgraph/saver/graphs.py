"""Graphs that use what LangGraph can do, each with what a user sees of it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, StateSnapshot, interrupt

THREAD: Any = {"configurable": {"thread_id": "t"}}


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    count: int


def seen(state: StateSnapshot) -> tuple[Any, ...]:
    """What a user sees of a state, without ids and times."""
    told: dict[str, Any] = {
        key: value for key, value in (state.metadata or {}).items() if key != "parents"
    }
    counters = told.get("counters_since_delta_snapshot", {})
    if counters:  # other savers give lists for tuples
        told["counters_since_delta_snapshot"] = {k: tuple(v) for k, v in counters.items()}
    tasks = [
        (one.name, one.error, [asked.value for asked in one.interrupts], one.result)
        for one in state.tasks
    ]
    return state.values, state.next, told, tasks


def history(graph: Any) -> list[tuple[Any, ...]]:
    return [seen(state) for state in graph.get_state_history(THREAD)]


def plain(told: object) -> str:
    """A comparable text: the ids of interrupts and tasks differ from one run to another."""
    return re.sub(r"id='[0-9a-f]{32}'", "id=…", repr(told))


def _inner(*, checkpointer: bool | None = None) -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("x", lambda state: {"log": ["x"], "count": state.get("count", 0) + 1})
    builder.add_node("ask", lambda _: {"log": [f"inner {interrupt('inner?')}"]})
    builder.add_edge(START, "x")
    builder.add_edge("x", "ask")
    return builder.compile(checkpointer=checkpointer)


def outer(saver: Any) -> Any:
    """Interrupts, a fan-out with Send, and a graph in a node."""
    builder: Any = StateGraph(State)
    builder.add_node("a", lambda _: {"log": ["a"], "count": 1})
    builder.add_node("ask", lambda _: {"log": [f"answer {interrupt({'q': 'ok?'})}"]})
    builder.add_node("fan", lambda _: Command(goto=[Send("w", {"i": i}) for i in range(3)]))
    builder.add_node("w", lambda arg: {"log": [f"w{arg['i']}"]})
    builder.add_node("inner", _inner())
    builder.add_edge(START, "a")
    builder.add_edge("a", "ask")
    builder.add_edge("ask", "fan")
    builder.add_edge("w", "inner")
    return builder.compile(checkpointer=saver)


def interrupts(saver: Any, durability: Any) -> list[Any]:
    """Pause, look, answer, twice, once in an inner graph; then all of the history."""
    graph: Any = outer(saver)
    told: list[Any] = []
    told.append(graph.invoke({"log": ["in"]}, THREAD, durability=durability))
    told.append(seen(graph.get_state(THREAD)))
    told.append(graph.invoke(Command(resume="yes"), THREAD, durability=durability))
    told.append(seen(graph.get_state(THREAD, subgraphs=True))[:3])
    told.append(graph.invoke(Command(resume="inner"), THREAD, durability=durability))
    told.append(history(graph))
    told.append(graph.invoke({"log": ["again"]}, THREAD, durability=durability))
    return told


def time_travel(saver: Any, durability: Any) -> list[Any]:
    """Go back to a question, answer otherwise, go back to a middle step, and go on."""
    graph: Any = outer(saver)
    told: list[Any] = []
    inputs: list[Any] = [{"log": ["in"]}, Command(resume="yes"), Command(resume="inner")]
    for given in inputs:
        graph.invoke(given, THREAD, durability=durability)
    for node in ("ask", "fan", "inner"):
        old = [state for state in graph.get_state_history(THREAD) if state.next == (node,)]
        if old:
            told.append(graph.invoke(None, old[-1].config, durability=durability))
            told.append(seen(graph.get_state(THREAD)))
            told.append(graph.invoke(Command(resume="no"), THREAD, durability=durability))
            told.append(history(graph))
    return told


def updates(saver: Any, durability: Any) -> list[Any]:
    """Change the newest state, an old one, copy one, and run on from each."""
    graph: Any = outer(saver)
    told: list[Any] = []
    graph.invoke({"log": ["in"]}, THREAD, durability=durability)
    first = list(graph.get_state_history(THREAD))[-1].config
    graph.update_state(THREAD, {"log": ["updated"]}, as_node="a")
    told.append(seen(graph.get_state(THREAD)))
    told.append(graph.invoke(None, THREAD, durability=durability))
    old = graph.update_state(first, {"log": ["old"]}, as_node="a")
    told.append(seen(graph.get_state(old)))
    told.append(graph.invoke(None, THREAD, durability=durability))
    graph.update_state(first, None, as_node="__copy__")
    told.append(history(graph))
    told.append(graph.invoke(Command(resume="yes"), THREAD, durability=durability))
    told.append(seen(graph.get_state(THREAD)))
    return told


def functional(saver: Any, durability: Any) -> list[Any]:
    """The functional API: tasks, a value kept for the next time, an interrupt."""

    @task
    def add(number: int) -> int:
        return number + 1

    def body(number: int, *, previous: int | None = None) -> Any:
        total = add(number).result()
        total += interrupt("how much?")
        return entrypoint.final(value=total, save=(previous or 0) + total)

    flow: Any = entrypoint(checkpointer=saver)(body)

    told: list[Any] = []
    for number in (1, 10):
        told.append(flow.invoke(number, THREAD, durability=durability))
        told.append(seen(flow.get_state(THREAD)))
        told.append(flow.invoke(Command(resume=5), THREAD, durability=durability))
    return [*told, history(flow)]


def failing(saver: Any, durability: Any) -> list[Any]:
    """A node that fails after one that does not, and the run that goes on from there."""
    tried: list[int] = []

    def bad(_: State) -> State:
        tried.append(1)
        if len(tried) == 1:
            raise ValueError("once")
        return {"log": ["bad"]}

    builder: Any = StateGraph(State)
    builder.add_node("bad", bad)
    builder.add_node("good", lambda _: {"log": ["good"]})
    builder.add_edge(START, "good")
    builder.add_edge("good", "bad")
    graph: Any = builder.compile(checkpointer=saver)
    told: list[Any] = []
    try:
        graph.invoke({"log": ["in"]}, THREAD, durability=durability)
    except ValueError as error:
        told.append(str(error))
    told.append(seen(graph.get_state(THREAD)))
    told.append(graph.invoke(None, THREAD, durability=durability))
    return [*told, seen(graph.get_state(THREAD))]


def remembering(saver: Any, durability: Any) -> list[Any]:
    """A graph in a node that has checkpoints of its own, which last from run to run."""
    builder: Any = StateGraph(State)
    builder.add_node("inner", _inner(checkpointer=True))
    builder.add_edge(START, "inner")
    graph: Any = builder.compile(checkpointer=saver)
    told: list[Any] = []
    for given in ("one", "two"):
        told.append(graph.invoke({"log": [given]}, THREAD, durability=durability))
        told.append(seen(graph.get_state(THREAD))[:3])
        told.append(graph.invoke(Command(resume=given), THREAD, durability=durability))
    return [*told, history(graph)]


STORIES: dict[str, Callable[[Any, Any], list[Any]]] = {
    story.__name__: story
    for story in (interrupts, time_travel, updates, functional, failing, remembering)
}
