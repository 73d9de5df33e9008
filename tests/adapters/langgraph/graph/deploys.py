"""One thread and the graphs that are deployed over it, one after the other.

As a program it calls one of `GRAPHS` and prints what comes out:
``python -m tests.adapters.langgraph.graph.deploys <url> <graph> <input> <options>``, the last two
as JSON, with a resume value as ``{"resume": …}``.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from keepset.errors import KeepsetError
from keepset.langgraph import KeepsetSaver

CONFIG: Any = {"configurable": {"thread_id": "order-7"}}


class Order(TypedDict, total=False):
    total: int
    approved: str
    checked: str


def draft(_: Order) -> dict[str, Any]:
    return {"total": 100}


def ask(_: Order) -> dict[str, Any]:
    return {"approved": interrupt("approve 100?")}


def approve(state: Order) -> dict[str, Any]:
    return ask(state)


def review(state: Order) -> dict[str, Any]:
    return ask(state)


def in_a_row(node: str, work: Callable[[Any], Any], state: Any = Order, **options: Any) -> Any:
    """A graph of two nodes: one that drafts, and one that waits for a human."""
    builder: Any = StateGraph(state)
    builder.add_node("draft", draft)
    builder.add_node(node, work, **options)
    builder.add_edge(START, "draft")
    builder.add_edge("draft", node)
    builder.add_edge(node, END)
    return builder


def pay(_: Order) -> dict[str, Any]:
    return {"approved": interrupt("pay 100?")}


def delete_then_pay(_: Order) -> dict[str, Any]:
    return {"checked": interrupt("delete the account?"), "approved": interrupt("pay 100?")}


# What a deploy changes in place keeps its name.
delete_then_pay.__code__ = delete_then_pay.__code__.replace(co_qualname="pay")

GRAPHS: dict[str, Callable[[], Any]] = {
    "approve": lambda: in_a_row("approve", approve),
    "review": lambda: in_a_row("review", review),
    "pay": lambda: in_a_row("human", pay),
    "delete then pay": lambda: in_a_row("human", delete_then_pay),
}


class Compiled:
    """What `Deploys.deploy` compiles, where it is compiled already: an agent, a workflow."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    def compile(self) -> Any:
        return self._graph


class Deploys:
    """A store, and the saver of the code that is deployed at the moment."""

    def __init__(self, url: str, how: str = "sync") -> None:
        self.url = url
        self.how = how
        self._saver: KeepsetSaver | None = None

    def saver(self) -> KeepsetSaver:
        """Give a saver; what is on disk is opened anew, as a new process would."""
        if self._saver is not None and self.url != "memory:":
            self._saver.close()
            self._saver = None
        self._saver = self._saver or KeepsetSaver(self.url)
        return self._saver

    def deploy(self, builder: Any, *, compiled: Any = None, **options: Any) -> Any:
        """Give a bound graph of the code that is deployed now."""
        return self.saver().bind(builder.compile(**(compiled or {})), **options)

    def call(self, graph: Any, given: Any, config: Any = CONFIG, **options: Any) -> Any:
        """Call a graph, with or without an event loop."""
        if self.how == "async":
            return asyncio.run(graph.ainvoke(given, config, **options))
        return graph.invoke(given, config, **options)

    def elsewhere(self, graph: str, given: Any, **options: Any) -> Any:
        """Call one of `GRAPHS` in a process of its own."""
        command = [sys.executable, "-m", __name__, self.url, graph]
        command += [json.dumps(given), json.dumps(options)]
        done = subprocess.run(command, capture_output=True, check=True, text=True, cwd=_root())
        return json.loads(done.stdout)

    def close(self) -> None:
        if self._saver is not None:
            self._saver.close()


def _root() -> Path:
    return Path(__file__).resolve().parents[4]


def main(url: str, graph: str, given: str, options: str) -> None:
    read = json.loads(given)
    resumes = isinstance(read, dict) and "resume" in read
    with KeepsetSaver(url) as saver:
        try:
            bound = saver.bind(GRAPHS[graph]().compile(), **json.loads(options))
            out = bound.invoke(Command(**read) if resumes else read, CONFIG)
        except KeepsetError as error:
            out = {"code": error.code}
    json.dump({name: value for name, value in out.items() if "__" not in name}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
