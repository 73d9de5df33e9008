"""Stores of ours for the tests of an audit, as programs of every habit write them."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph

import keepset as ks
from keepset.langgraph import KeepsetSaver
from tests.audit import naive


@dataclass
class Item:
    """A class that an audit does not know."""

    name: str
    note: str


class Chat(TypedDict, total=False):
    question: str
    api_key: str
    log: Annotated[list[Any], ks.Keep()]
    notes: Annotated[dict[str, str], ks.Keep()]
    items: Annotated[list[Item], ks.Keep()]
    owner: Annotated[str, ks.Keep(secrets="allow")]


@ks.contract(name="talk", epoch=1)
@dataclass
class Versioned:
    a: str


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def observed(folder: Path, runs: int = 2) -> Path:
    """What a graph stores that keeps all that it has, where keepset only watches."""
    path = folder / "observed.db"
    with ks.open(url(path), mode="observe") as store:
        saver = KeepsetSaver(store, metadata_keys=("openai_api_key",))
        naive.fill(saver, runs=runs, fails=True)
    return path


def protected(folder: Path) -> Path:
    """A run whose key was withheld, with a log that grew, and an object of a class."""
    path = folder / "protected.db"
    with ks.open(url(path)) as store:
        run = store.run(Chat, "ticket")
        state = Chat(question="Why?", api_key=naive.KEY, log=[], notes={}, items=[])
        for number in range(40):
            state["log"] = [*state["log"], {"text": f"line {number}"}]
            state["notes"] = {**state["notes"], f"note-{number}": "x" * 50}
            state["items"] = [Item("lamp", f"bought {number}")]
            run.save(f"step {number}", state)
        run.save("end", state, status="done", metadata={"model": "m-1"})
    return path


def _never(*_: object) -> Any:
    raise AssertionError("an audit calls nothing")


class Supplied(TypedDict, total=False):
    """Nothing of it but the question is stored."""

    question: Annotated[str, ks.Keep()]
    docs: Annotated[list[str], ks.Refetch(_never, using="question")]
    db: Annotated[Any, ks.Reopen(_never)]
    key: Annotated[str, ks.Secret("env:KEEPSET_TEST_NO_SUCH_VARIABLE")]
    folder: Annotated[str, ks.Scratch(_never)]


def looped(folder: Path, steps: int = 100) -> Path:
    """A graph that goes round and round, forked twice, so that writes are bundled."""
    path = folder / "looped.db"

    def step(state: Any) -> Any:
        number = state["count"]
        large = "y" * 100_000 if number == 5 else "z"
        return {"count": number + 1, "log": [f"line {number} " + "x" * 80], "large": large}

    class Loop(TypedDict, total=False):
        count: int
        log: Annotated[list[str], operator.add]
        large: str

    builder: Any = StateGraph(Loop)
    builder.add_node("step", step)
    builder.add_edge(START, "step")
    builder.add_conditional_edges("step", lambda s: "step" if s["count"] < steps else END)
    with ks.open(url(path)) as store:
        graph = builder.compile(checkpointer=KeepsetSaver(store))
        config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 2 * steps}
        graph.invoke({"count": 0}, config)
        history = list(graph.get_state_history(config))
        for at in (20, 40):
            graph.update_state(history[at].config, {"log": [f"forked at {at}"]})
    return path
