"""Small graphs of each shape, made afresh for each life."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Mapping
from typing import Annotated, Any

from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt
from typing_extensions import TypedDict


class Ask(TypedDict, total=False):
    question: str
    ids: list[str]
    docs: list[str]
    tries: int
    log: Annotated[list[str], operator.add]
    answer: str


def find(state: Ask) -> Ask:
    return {"ids": [state["question"], "b"], "docs": ["whole text"], "log": ["found"]}


def answer(state: Ask) -> Ask:
    return {"answer": "+".join(state["ids"]), "log": ["answered"]}


def named(name: str, gives: Any) -> Any:
    """Make a node that gives something, or what a function makes of the state."""

    def node(state: Any) -> Any:
        return gives(state) if callable(gives) else gives

    node.__name__ = name
    return node


def of(state: Any, nodes: Mapping[str, Any], **options: Any) -> StateGraph[Any, Any, Any, Any]:
    """Make a builder with nodes and no edges."""
    builder = StateGraph(state, **options)
    for name, gives in nodes.items():
        is_node = hasattr(gives, "invoke") or asyncio.iscoroutinefunction(gives)
        node: Any = gives if is_node else named(name, gives)
        builder.add_node(name, node)
    return builder


def line() -> Any:
    builder = of(Ask, {"find": find, "check": {"tries": 1}, "answer": answer})
    for edge in ((START, "find"), ("find", "check"), ("check", "answer")):
        builder.add_edge(*edge)
    return builder


def loop() -> Any:
    """Try three times; what counts is how often it has tried."""
    builder = of(Ask, {"try": lambda state: {"tries": state.get("tries", 0) + 1, "log": ["tried"]}})
    builder.add_edge(START, "try")
    builder.add_conditional_edges(
        "try", lambda state: "try" if state["tries"] < 3 else END, ["try", END]
    )
    return builder


def branches() -> Any:
    nodes = {"split": {"tries": 2}, "left": {"log": ["left"]}, "right": {"log": ["right"]}}
    builder = of(Ask, {**nodes, "join": lambda state: {"answer": ",".join(state["log"])}})
    for start, end in ((START, "split"), ("split", "left"), ("split", "right")):
        builder.add_edge(start, end)
    builder.add_edge(["left", "right"], "join")
    return builder


def sends() -> Any:
    def work(part: Any) -> Ask:
        return {"log": [f"{part['id']} for {part['question']}"]}

    def each(state: Ask) -> list[Send]:
        sent = [{"id": one, "question": state["question"]} for one in state["ids"]]
        return [Send("work", part) for part in sent]

    plan = {"ids": [f"part {number}" for number in range(9)]}
    builder = of(Ask, {"plan": plan, "work": work})
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", each, ["work"])
    builder.add_node("sum", named("sum", lambda state: {"answer": ",".join(state["log"])}))
    builder.add_edge("work", "sum")
    return builder


class Inner(TypedDict, total=False):
    question: str
    draft: str
    log: Annotated[list[str], operator.add]


class Logged(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


def writer(name: str, *, asks: bool = False, **options: Any) -> Any:
    """Make a graph that writes a draft and then logs it, asking before if it is to."""

    def polish(state: Inner) -> Inner:
        said = interrupt(f"send {name}?") if asks else "sent"
        return {"log": [f"{name} {state['draft']} {said}"]}

    write = {"write": lambda state: {"draft": f"on {state['question']}"}, "polish": polish}
    builder = of(Inner, write, output_schema=Logged)
    builder.add_edge(START, "write")
    builder.add_edge("write", "polish")
    return builder.compile(**options)


def inside(*, asks: bool = False, names: tuple[str, ...] = ("one", "two")) -> Any:
    """Make a graph in which other graphs run side by side."""
    builder = of(Ask, {name: writer(name, asks=asks) for name in names})
    builder.add_node("end", named("end", lambda state: {"answer": ",".join(state["log"])}))
    for name in names:
        builder.add_edge(START, name)
    builder.add_edge(list(names), "end")
    return builder


def asking() -> Any:
    """Make a graph in which one node asks twice, beside one that does not."""

    def ask(state: Ask) -> Ask:
        first = interrupt(f"really {state['question']}?")
        return {"log": [first, interrupt("sure?")]}

    builder = of(Ask, {"find": find, "ask": ask, "beside": {"log": ["beside"]}, "answer": answer})
    for edge in ((START, "find"), ("find", "ask"), ("find", "beside")):
        builder.add_edge(*edge)
    builder.add_edge(["ask", "beside"], "answer")
    return builder


def later() -> Any:
    """Make a graph of which two nodes run on a loop only."""

    async def search(state: Ask) -> Ask:
        await asyncio.sleep(0)
        return {"ids": [state["question"]], "log": ["searched"]}

    async def ask(state: Ask) -> Ask:
        await asyncio.sleep(0)
        return {"log": [interrupt(f"{state['ids'][0]}?")]}

    nodes = {"search": search, "ask": ask, "beside": {"log": ["beside"]}, "answer": answer}
    builder = of(Ask, nodes)
    for edge in ((START, "search"), ("search", "ask"), ("search", "beside")):
        builder.add_edge(*edge)
    builder.add_edge(["ask", "beside"], "answer")
    return builder


def function() -> Any:
    """Make a workflow of the functional API."""

    @task
    def double(number: int) -> int:
        return 2 * number

    @entrypoint()
    def flow(count: int, *, previous: int | None = None) -> int:
        parts = [double(number) for number in range(count)]
        more = int(interrupt("more?")) + sum(part.result() for part in parts)
        return more + (previous or 0)

    return flow
