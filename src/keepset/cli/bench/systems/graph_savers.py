"""The graph that savers are measured in: one node that loops and adds a message, and who saves it.

All run the same graph with ``durability="sync"``. Only DeltaChannel's is another in one thing: its
messages lie in a DeltaChannel, whose reducer is given all writes of a step at once.
"""

from __future__ import annotations

import operator
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from time import perf_counter_ns
from typing import Annotated, Any, Final
from uuid import UUID

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from keepset.adapters.langgraph.saver import KeepsetSaver
from keepset.cli.bench.workload import Chain, State

CHARACTERS: Final = 1_200
"""Characters of a message's text; with its id and fields a message packs to about 1.3 KB."""
EVERY: Final = 100
"""Steps after which DeltaChannel stores its whole value."""


def named(thread: str) -> dict[str, Any]:
    """Give the config of a LangGraph thread."""
    return {"configurable": {"thread_id": thread}}


THREAD: Final = named("run")

Graph = Any
"""A compiled graph."""
Call = tuple[str, tuple[Any, ...]]
"""What the graph called on its saver: the method's name and its arguments."""


def _appended(items: list[Any], writes: Sequence[list[Any]]) -> list[Any]:
    return items + [item for write in writes for item in write]


REDUCERS: Final[dict[str, Any]] = {
    "plain": operator.add,
    "delta": DeltaChannel(_appended, snapshot_frequency=EVERY),
}


def messages(steps: int, seed: int = 0) -> list[AIMessage]:
    """Make one message for each step, the same in every process."""
    chain = Chain(seed)
    return [AIMessage(content=chain.text(CHARACTERS), id=_id(chain)) for _ in range(steps)]


def _id(chain: Chain) -> str:
    digits = "".join(f"{chain.number(1 << 32):08x}" for _ in range(4))
    return str(UUID(hex=digits, version=4))


class Course:
    """A graph that adds the given messages, one a step, and notes when each step begins.

    Attributes:
        began: When each run of the node began, in nanoseconds.
    """

    def __init__(self, told: Sequence[AIMessage], reducer: str) -> None:
        """Take the messages.

        Args:
            told: The messages.
            reducer: A key of `REDUCERS`.
        """
        self.began: list[int] = []
        self._told = told
        hints = {"messages": Annotated[list[AnyMessage], REDUCERS[reducer]], "counter": int}
        self._schema: Any = type("Talk", (dict,), {"__annotations__": hints})

    def tell(self, told: Sequence[AIMessage]) -> None:
        """Take other messages, as many as before."""
        self._told = told

    def builder(self) -> Any:
        """Give the graph, which can be compiled."""
        steps = len(self._told)
        made: Any = StateGraph(self._schema)
        made.add_node("step", self._step)
        made.add_edge(START, "step")
        made.add_conditional_edges(
            "step", lambda state: END if state["counter"] >= steps else "step", ["step", END]
        )
        return made

    def _step(self, state: State) -> State:
        self.began.append(perf_counter_ns())
        number = state["counter"]
        return {"messages": [self._told[number]], "counter": number + 1}

    def run(self, graph: Graph, *, saved: bool, thread: str = "run") -> State:
        """Run a graph made of `builder` from its beginning to its end."""
        config = {**named(thread), "recursion_limit": len(self._told) + 2}
        how = {"durability": "sync"} if saved else {}
        state: State = graph.invoke({"messages": [], "counter": 0}, config, **how)
        self.began.append(perf_counter_ns())
        return state


class Recorded:
    """What a saver was called with by a graph."""

    def __init__(self, calls: list[Call]) -> None:
        """Write down calls in a list."""
        self._calls = calls

    def on(self, saver: Any) -> None:
        """Write down from now on what a saver is called with."""
        for name in ("put", "put_writes"):
            setattr(saver, name, self._noting(name, getattr(saver, name)))

    def _noting(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any) -> Any:
            self._calls.append((name, arguments))
            return method(*arguments)

        return noted


Opened = AbstractContextManager[Graph]
"""A graph that is compiled with a saver; the saver is closed at the end of the block."""


@contextmanager
def bound(path: Path, builder: Any) -> Iterator[Graph]:
    """Bind a graph to keepset."""
    with KeepsetSaver(f"sqlite:///{path}") as saver:
        yield saver.bind(builder.compile())


@contextmanager
def sqlite(path: Path, builder: Any) -> Iterator[Graph]:
    """Compile a graph with LangGraph's SqliteSaver."""
    with closing(sqlite3.connect(path, check_same_thread=False)) as db:
        saver = SqliteSaver(db)
        saver.setup()
        yield builder.compile(checkpointer=saver)


@contextmanager
def memory(path: Path, builder: Any) -> Iterator[Graph]:
    """Compile a graph with LangGraph's InMemorySaver, which has no file."""
    del path
    yield builder.compile(checkpointer=InMemorySaver())


@contextmanager
def unsaved(path: Path, builder: Any) -> Iterator[Graph]:
    """Compile a graph without a saver."""
    del path
    yield builder.compile()


SAVERS: Final[dict[str, tuple[Callable[[Path, Any], Opened], str]]] = {
    "graph": (bound, "plain"),
    "saver": (sqlite, "plain"),
    "delta": (sqlite, "delta"),
    "memory": (memory, "plain"),
    "none": (unsaved, "plain"),
}
"""How the graph of each system is opened, and how its messages are reduced."""
ON_DISK: Final = frozenset({"graph", "saver", "delta"})
"""Systems that have a file."""
