"""A thread and the graph that goes on with it: what wrote it, whether they fit, what has moved."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, TypeVar

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.pregel import Pregel
from langgraph.types import Command

from keepset.adapters.langgraph.address import Address
from keepset.adapters.langgraph.checkpoints import GRAPH, OWN, SEEN, VERSIONS
from keepset.adapters.langgraph.compare import Present, Standing, reasons
from keepset.adapters.langgraph.executing import EXECUTION, Execution, execution_of
from keepset.adapters.langgraph.graph import Structure, read_structure, structure_of_graph
from keepset.adapters.langgraph.needs import Needs
from keepset.adapters.langgraph.renaming import (
    Answers,
    Place,
    Renames,
    answers_in,
    ids_of,
    moved_checkpoint,
    moved_ids,
    moved_tasks,
    moved_writes,
)
from keepset.adapters.langgraph.standing import Swap, Task, tasks_of
from keepset.contracts import Contract
from keepset.errors import SchemaError
from keepset.run.hosted import Stored
from keepset.verdict.resume import Reason, weigh
from keepset.verdict.status import Resume

T = TypeVar("T")

_NESTED: Final = "__pregel_task_id"
_NESTED_RESUMING: Final = "__pregel_resuming"
_START: Final = "__start__"
_REMEMBERED: Final = 1024

_log = logging.getLogger("keepset")
_read = lru_cache(maxsize=256)(read_structure)


class Bounded(OrderedDict[Any, T]):
    """A mapping that forgets what was put into it first; any thread may use it."""

    def __init__(self) -> None:
        """Begin empty."""
        super().__init__()
        self._lock = threading.Lock()

    def put(self, key: Any, value: T) -> None:
        """Put a value in, as the newest one."""
        with self._lock:
            self.pop(key, None)
            self[key] = value
            while len(self) > _REMEMBERED:
                self.popitem(last=False)


class Graphs:
    """The graphs of a binding, by namespace, and the threads that they go on with."""

    def __init__(
        self,
        graph: Pregel[Any, Any, Any, Any],
        contracts: Mapping[str, Contract],
        renamed: Mapping[str, str],
    ) -> None:
        """Describe a graph and those inside it.

        Args:
            graph: The graph as it was compiled.
            contracts: The contracts of all of them, by namespace without the ids of tasks.
            renamed: The present name of each node that had another, by the one that it had.

        Raises:
            UsageError: ``langgraph.renamed``: what is declared contradicts the graph.
        """
        inner = {n: one for n, one in graph.get_subgraphs(recurse=True) if isinstance(one, Pregel)}
        graphs = {n: one for n, one in {"": graph, **inner}.items() if n in contracts}
        self.renames = Renames(renamed, {node for one in graphs.values() for node in one.nodes})
        self._present = {name: self._of(one, contracts[name]) for name, one in graphs.items()}
        self._written = {name: present.structure.text for name, present in self._present.items()}
        self._roots: Bounded[Mapping[str, str]] = Bounded()
        self._places: Bounded[str] = Bounded()
        self._former: Bounded[str] = Bounded()
        self._removed: Bounded[list[str]] = Bounded()
        self._told: Bounded[None] = Bounded()

    def _of(self, graph: Pregel[Any, Any, Any, Any], contract: Contract) -> Present:
        structure = structure_of_graph(graph, contract)
        return Present(structure, contract, Needs(graph), self.renames)

    # --- writing ----------------------------------------------------------------------------------

    def written(self, namespace: str) -> dict[str, str] | None:
        """Give what is stored of the graphs with a checkpoint: it changes only when they do.

        Inside a task nothing is stored: what wrote it is what wrote the thread at that time.
        """
        if not namespace:
            return self._written
        own = self._written.get(namespace)
        return None if own is None else {"": own}

    def removed(self, to: Address) -> list[str]:
        """Give the channels that go with the checkpoint after one, once."""
        return self._removed.pop((to.thread, to.namespace, to.checkpoint), [])

    def calling(
        self, given: Any, config: Mapping[str, Any] | None
    ) -> tuple[Any, Mapping[str, Any] | None]:
        """Give what a bound graph is called with, and the config: it says whether to go on.

        Answers under the ids of interrupts are found under those that they have now.
        """
        configurable = dict(configurable_of(config))
        if _NESTED in configurable and execution_of({"configurable": configurable}) is not None:
            return given, config
        nested = bool(configurable.get(_NESTED_RESUMING, True)) if _NESTED in configurable else None
        resuming = given is None or isinstance(given, Command) if nested is None else nested
        configurable[EXECUTION] = Execution(resuming=resuming)
        if isinstance(given, Command) and (answers := answers_in(given.resume)):
            given = replace(given, resume=Answers(answers, self._former))
        return given, {**(config or {}), "configurable": configurable}

    # --- reading ----------------------------------------------------------------------------------

    def located(self, to: Address) -> Address:
        """Give the address under which a namespace lies whose tasks had other ids."""
        if not self._places:
            return to
        parts = to.namespace.split("|")
        for length in range(len(parts), 0, -1):
            place = self._places.get((to.thread, "|".join(parts[:length])))
            if place is not None:
                return to._replace(namespace="|".join((place, *parts[length:])))
        return to

    def check(self, config: Mapping[str, Any], asked: Address, stored: Stored) -> None:
        """Refuse to go on with a thread that does not fit; note what goes on the way.

        Raises:
            SchemaError: ``langgraph.node-gone``, ``langgraph.channel-changed``,
                ``langgraph.field-lost`` or ``langgraph.field-gained``.
        """
        found = list(self.reasons(asked, stored, resuming=is_resuming(config)))
        report = weigh(found)
        if report.verdict is not Resume.AS_IS:
            worst = report.reasons[0]
            raise SchemaError(worst.message, code=worst.code, hint=worst.hint)
        for reason in found:
            key = (asked.thread, asked.namespace, reason.message)
            if key not in self._told:
                self._told.put(key, None)
                _log.warning("thread %s: %s", asked.thread, reason.message)

    def reasons(self, asked: Address, stored: Stored, *, resuming: bool) -> Iterator[Reason]:
        """Say what stands between a stored checkpoint and the graph of its namespace."""
        now = self._now(asked.namespace)
        if now is None:
            return
        old = self._old(asked, stored)
        if old is not None and old.text == now.structure.text:
            return
        tasks = _tasks(old, stored) if resuming else ()
        yield from reasons(Standing(old, tasks, *_values(stored)), now)

    def inside(self, at: Address, stored: Stored, said: Mapping[str, Any]) -> list[Address]:
        """Give where graphs inside lie, in which a thread may wait at a checkpoint."""
        names = [name for _, _, name in self._inside(at, stored, said)]
        return [at._replace(namespace=name, checkpoint="") for name in names]

    def _inside(
        self, at: Address, stored: Stored, said: Mapping[str, Any]
    ) -> Iterator[tuple[Task, str, str]]:
        """Give the tasks that are next, each with its id and the namespace inside it."""
        namespace = stored.line.namespace
        place = _place(stored, said.get("step", -1), (said.get(OWN) or [0])[0], namespace)
        for task in _tasks(self._old(at, stored), stored):
            yield task, *ids_of(task, place)

    def has_other_graphs(self, at: Address, stored: Stored) -> bool:
        """Tell whether the graphs inside are, or are called, others than those that wrote a thread.

        Of a thread that no bound graph wrote nothing is known.
        """
        self._old(at, stored)  # what the thread's own checkpoint says of all of them
        root = self._roots.get(at.thread)
        return root is not None and root.keys() != self._written.keys()

    def swaps(self, at: Address, stored: Stored, said: Mapping[str, Any]) -> Iterator[Swap]:
        """Give the tasks that are next whose node was a graph and is a function, or the reverse."""
        now, root = self._now(at.namespace), self._roots.get(at.thread) or {}
        for task, name, inside in self._inside(at, stored, said):
            node, was = self.renames.node(task.node), without_tasks(inside) in root
            if now is None or node not in now.structure.nodes:
                continue  # that the node is gone is said elsewhere
            is_now = self._now(inside) is not None
            if (was and not is_now) or (not was and now.needs.is_graph(node)):
                yield Swap(node, name, was, inside, without_tasks(inside))

    def structure(self, namespace: str) -> Structure | None:
        """Give the graph of a namespace, without the ids of tasks; None where it is not known."""
        present = self._present.get(namespace)
        return None if present is None else present.structure

    def _now(self, namespace: str) -> Present | None:
        return self._present.get(without_tasks(self.renames.namespace(namespace)))

    def _old(self, asked: Address, stored: Stored) -> Structure | None:
        """Give the graph that wrote a checkpoint; None where no bound one did."""
        own = stored.values.get(GRAPH)
        if isinstance(own, dict):
            if not asked.namespace:
                self._roots.put(asked.thread, own)
            text = own.get("")
        else:
            root = self._roots.get(asked.thread) or {}
            text = root.get(without_tasks(stored.line.namespace))
        return None if text is None else _read(text)

    def shown(self, found: CheckpointTuple, asked: Address, stored: Stored) -> CheckpointTuple:
        """Give a checkpoint as the present graph calls what is in it.

        What it does not have any more is left out of the versions for a run, which would else take
        it for a change that is yet to be dealt with.
        """
        now = self._now(asked.namespace)
        old = self._old(asked, stored)
        if now is None or (old is not None and old.text == now.structure.text):
            return found
        checkpoint: Any = moved_checkpoint(found.checkpoint, self.renames)
        step, version = found.metadata.get("step", -1), found.checkpoint["v"]
        place = _place(stored, step, version, asked.namespace)
        tasks = list(moved_tasks(_tasks(old, stored), now.structure, self.renames, place))
        for task in tasks:
            self._places.put((asked.thread, task.is_in), task.was_in)
        for called, former in moved_ids(found.pending_writes or [], tasks):
            self._former.put(called, former)
        writes: Any = moved_writes(found.pending_writes or [], tasks, self.renames)
        if asked.loop:
            self._forget_versions(checkpoint, asked, now.structure)
        return found._replace(checkpoint=checkpoint, pending_writes=writes)

    def _forget_versions(self, checkpoint: dict[str, Any], asked: Address, now: Structure) -> None:
        versions = checkpoint["channel_versions"]
        gone = {name for name in versions if now.kind(name) is None}
        ours = sorted(
            name for name in gone & checkpoint["channel_values"].keys() if ":" not in name
        )
        if ours:
            self._removed.put((asked.thread, asked.namespace, checkpoint["id"]), ours)
        checkpoint["channel_versions"] = {n: v for n, v in versions.items() if n not in gone}
        checkpoint["versions_seen"] = {
            node: {name: version for name, version in seen.items() if name not in gone}
            for node, seen in checkpoint["versions_seen"].items()
        }


def _place(stored: Stored, step: int, version: int, asked: str) -> Place:
    return Place(stored.header.checkpoint, version, step + 1, stored.line.namespace, asked)


def _tasks(old: Structure | None, stored: Stored) -> tuple[Task, ...]:
    values = stored.values
    return tasks_of(old, values, values.get(VERSIONS, {}), values.get(SEEN, {}))


def _values(stored: Stored) -> tuple[dict[str, Any], frozenset[str]]:
    """Give the channels that have a value, and all fields that have one or were given one."""
    values = {name: value for name, value in stored.values.items() if "#" not in name}
    entered = values.get(_START)
    given = {*values, *(write.channel for write in stored.writes)}
    if isinstance(entered, dict):
        given |= {name for name in entered if isinstance(name, str)}
    return values, frozenset(given)


def configurable_of(config: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Give the configurable that a graph is called with: without one, that of the code around."""
    own = (config or {}).get("configurable")
    around: Mapping[str, Any] = var_child_runnable_config.get() or {}
    return own or around.get("configurable") or {}


def is_resuming(config: Mapping[str, Any]) -> bool:
    """Tell whether a run goes on with what is next, and does not begin with a new input."""
    configurable = config.get("configurable") or {}
    if _NESTED in configurable:
        return bool(configurable.get(_NESTED_RESUMING, True))
    execution = execution_of(config)
    return execution is None or execution.resuming


def without_tasks(namespace: str) -> str:
    """Take the ids of tasks and the numbers of calls out of a namespace."""
    parts = (part.split(":", maxsplit=1)[0] for part in namespace.split("|"))
    return "|".join(part for part in parts if not part.isdigit())
