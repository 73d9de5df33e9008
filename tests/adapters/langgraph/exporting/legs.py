"""Threads that go a way in three legs; nothing here knows keepset.

The first leg is gone with the saver that a team comes from, the second one with keepset, the third
with LangGraph's own saver again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph, add_messages
from langgraph.types import Command, interrupt

from tests.adapters.langgraph.saver.graphs import outer

Leg = Callable[[Any, Any], Any]


def config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


class Chat(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    answers: int


def _asking(state: Chat) -> Chat:
    number = len(state["messages"])
    said = interrupt({"about": number})
    message = AIMessage(f"so: {said}", id=f"ai-{number}", response_metadata={"number": number})
    return {"messages": [message], "answers": state.get("answers", 0) + 1}


def chat(saver: Any) -> Any:
    builder: Any = StateGraph(Chat)
    builder.add_node("ask", _asking)
    builder.add_edge(START, "ask")
    return builder.compile(checkpointer=saver)


def flow(saver: Any) -> Any:
    @task
    def add(number: int) -> int:
        return number + 1

    @entrypoint(checkpointer=saver)
    def body(number: int, *, previous: int | None = None) -> Any:
        total = add(number).result()
        total += interrupt("how much?")
        return entrypoint.final(value=total, save=(previous or 0) + total)

    return body


def _human(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text, id=text)]}


def _fork(graph: Any, at: Any) -> None:
    graph.invoke({"log": ["in"]}, at)
    first = list(graph.get_state_history(at))[-1].config
    graph.update_state(first, {"log": ["old"]}, as_node="a")
    graph.invoke(None, at)


def _fork_here(graph: Any, at: Any) -> None:
    """Go on, go back to before that, and go on otherwise: two lines that count alike."""
    graph.invoke(Command(resume="yes"), at)
    old = [one for one in graph.get_state_history(at) if one.next == ("ask",)]
    graph.invoke(None, old[0].config)
    graph.invoke(Command(resume="no"), at)


WAYS: dict[str, tuple[Callable[[Any], Any], tuple[Leg, Leg, Leg]]] = {
    "forked": (
        outer,
        (_fork, _fork_here, lambda graph, at: graph.invoke(Command(resume="inner"), at)),
    ),
    "answered here": (
        outer,
        (
            lambda graph, at: graph.invoke({"log": ["in"]}, at),
            lambda graph, at: graph.invoke(Command(resume="yes"), at),
            lambda graph, at: graph.invoke(Command(resume="inner"), at),
        ),
    ),
    "waiting all the way": (
        outer,
        (
            lambda graph, at: graph.invoke({"log": ["in"]}, at),
            lambda graph, at: graph.update_state(at, {"count": 5}, as_node="a"),
            lambda graph, at: (graph.invoke(None, at), graph.invoke(Command(resume="y"), at)),
        ),
    ),
    "chat": (
        chat,
        (
            lambda graph, at: graph.invoke(_human("one"), at),
            lambda graph, at: (
                graph.invoke(Command(resume="1"), at),
                graph.invoke(_human("two"), at),
            ),
            lambda graph, at: graph.invoke(Command(resume="2"), at),
        ),
    ),
    "function": (
        flow,
        (
            lambda graph, at: graph.invoke(1, at),
            lambda graph, at: (graph.invoke(Command(resume=5), at), graph.invoke(10, at)),
            lambda graph, at: graph.invoke(Command(resume=7), at),
        ),
    ),
}
"""By thread: what makes the graph, and the three legs."""


def growing() -> bool:
    """Add the way of a DeltaChannel; older releases of LangGraph have none."""
    try:
        from tests.adapters.langgraph.saver.growing import graph  # noqa: PLC0415 - not everywhere
    except ImportError:
        return False
    WAYS["growing"] = (
        graph,
        (
            lambda own, at: own.invoke({"log": ["i"]}, at),
            lambda own, at: own.invoke({"log": ["j"]}, at),
            lambda own, at: own.invoke({"log": ["k"]}, at),
        ),
    )
    return True


def walk(saver: Any, legs: tuple[int, ...], bind: Callable[[Any], Any] | None = None) -> None:
    """Go some of the legs with all threads."""
    for thread, (make, leg) in WAYS.items():
        graph = bind(make(None)) if bind else make(saver)
        for number in legs:
            leg[number](graph, config(thread))
