"""What is measured of a graph and its saver, in the process of one system."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph

import keepset as ks
from keepset.adapters.langgraph.saver import KeepsetSaver
from keepset.cli.bench import sizes
from keepset.cli.bench.systems.graph_savers import (
    ON_DISK,
    SAVERS,
    THREAD,
    Call,
    Course,
    Graph,
    Recorded,
    messages,
)
from keepset.cli.bench.workload import DOCUMENT, IDS, Chain, State

Job = Mapping[str, Any]
Answer = dict[str, Any]

READS = 5
"""How often a checkpoint, and a history, is read in a round; the median counts."""
HISTORY = 200
"""Checkpoints of the history that is read."""
TENTH = 10
REPLAYED = frozenset({"graph", "saver", "delta"})
"""Savers that are measured alone as well."""
_EXCERPT = 40
"""Characters of an excerpt of a document that is looked for."""


def graph(job: Job) -> Answer:
    """Run the graph once, look at the file, call the saver once more as it was called, and read."""
    name, path, steps = job["system"], Path(job["path"]), job["steps"]
    open_graph, reducer = SAVERS[name]
    course = Course(messages(steps), reducer)
    with open_graph(path, course.builder()):
        pass
    empty = sizes.settle(path) if name in ON_DISK else None
    calls: list[Call] = []
    with open_graph(path, course.builder()) as opened:
        if name in REPLAYED:
            Recorded(calls).on(opened.checkpointer)
        state = course.run(opened, saved=name != "none")
        told: Answer = {"exact": state["messages"] == messages(steps), **_memory(name, opened)}
    took = [after - before for before, after in pairwise(course.began)]
    told |= {
        "step": median(took),
        "step_last": median(took[-max(1, steps // TENTH) :]),
        "disk_bytes": None if empty is None else sizes.settle(path) - empty,
    }
    if name in ON_DISK:
        told |= _read(name, path, course, steps)
    replayed = _replay(name, Path(job["again"]), course, calls) if calls else None
    return {"resume": None, "history": None, **told, "replay": replayed}


def _memory(name: str, opened: Graph) -> Answer:
    """Read what only lives as long as the process."""
    return (
        {"resume": _timed(lambda: opened.checkpointer.get_tuple(THREAD))}
        if (name == "memory")
        else {}
    )


def _read(name: str, path: Path, course: Course, steps: int) -> Answer:
    """Read the newest checkpoint, with nothing in memory, and the newest of the history."""
    open_graph, _ = SAVERS[name]

    def newest(opened: Graph) -> Any:
        return opened.checkpointer.get_tuple(THREAD)

    def history(opened: Graph) -> Any:
        return list(opened.get_state_history(THREAD, limit=HISTORY))

    def fresh(read: Callable[[Graph], Any]) -> float:
        took = []
        for _ in range(READS):
            with open_graph(path, course.builder()) as opened:
                begun = perf_counter_ns()
                read(opened)
                took.append(perf_counter_ns() - begun)
        return median(took)

    return {"resume": fresh(newest), "history": fresh(history) if steps <= HISTORY else None}


def _timed(read: Callable[[], Any]) -> float:
    took = []
    for _ in range(READS):
        begun = perf_counter_ns()
        read()
        took.append(perf_counter_ns() - begun)
    return median(took)


def _replay(name: str, path: Path, course: Course, calls: Sequence[Call]) -> float:
    """Call a fresh saver as the graph's was called, one call after the other; the median step."""
    open_graph, _ = SAVERS[name]
    took, so_far = [], 0
    with open_graph(path, course.builder()) as opened:
        for method, arguments in calls:
            called = getattr(opened.checkpointer, method)
            begun = perf_counter_ns()
            called(*arguments)
            so_far += perf_counter_ns() - begun
            if method == "put":
                took.append(so_far)
                so_far = 0
    return median(took)


# --- documents that are fetched again -------------------------------------------------------------


class _Library:
    """1 MB of documents, and how long it took to give them the last time."""

    def __init__(self) -> None:
        chain = Chain()
        self.took = 0
        self._shelf = {f"doc-{number}": chain.text(DOCUMENT) for number in range(IDS)}

    @property
    def ids(self) -> list[str]:
        return list(self._shelf)

    def load(self, ids: list[str]) -> list[dict[str, str]]:
        begun = perf_counter_ns()
        found = [{"id": one, "text": self._shelf[one]} for one in ids]
        self.took = perf_counter_ns() - begun
        return found

    def excerpts(self) -> Iterator[bytes]:
        for text in self._shelf.values():
            for at in (0, len(text) // 2, len(text) - _EXCERPT):
                yield text[at : at + _EXCERPT].encode()


class _Inquiry:
    """A graph that fetches the documents and answers with them; it may stop in between.

    Attributes:
        library: Where the documents are.
        began: When its node had them, the last time.
    """

    def __init__(self) -> None:
        self.library = _Library()
        self.began = 0
        rule = ks.Refetch(self.library.load, using="ids")
        hints = {"question": str, "ids": list[str], "docs": Annotated[list[dict[str, str]], rule]}
        self._schema: Any = type("Inquiry", (dict,), {"__annotations__": hints})

    def builder(self) -> Any:
        made: Any = StateGraph(self._schema)
        made.add_node("fetch", lambda state: {"docs": self.library.load(state["ids"])})
        made.add_node("answer", self._answer)
        made.add_edge(START, "fetch")
        made.add_edge("fetch", "answer")
        made.add_edge("answer", END)
        return made

    def _answer(self, state: State) -> State:
        self.began = perf_counter_ns()
        return {"question": f"{len(state['docs'])} documents"}


def documents(job: Job) -> Answer:
    """Run a graph with documents under a Refetch rule, stop it, look at its file, and resume it.

    Nothing is compressed, so that a text that was stored would be found.
    """
    path, inquiry = Path(job["path"]), _Inquiry()
    question = Chain(1).text(_EXCERPT)
    asked = {"question": question, "ids": inquiry.library.ids}
    with ks.open(f"sqlite:///{path}", compression=False) as store:
        stopping = inquiry.builder().compile(interrupt_before=["answer"])
        KeepsetSaver(store).bind(stopping).invoke(asked, THREAD, durability="sync")
    held = b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    with ks.open(f"sqlite:///{path}", compression=False) as store:
        graph = KeepsetSaver(store).bind(inquiry.builder().compile())
        begun = perf_counter_ns()
        state = graph.invoke(None, THREAD, durability="sync")
    return {
        "resume": inquiry.began - begun,
        "loading": inquiry.library.took,
        "found": sum(excerpt in held for excerpt in inquiry.library.excerpts()),
        "exact": question.encode() in held and state["question"] == f"{IDS} documents",
    }
