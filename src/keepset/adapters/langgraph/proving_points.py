"""The points of a graph's run: what has landed, and what comes after it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.runnables import Runnable
from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple

from keepset.adapters.langgraph.address import address
from keepset.adapters.langgraph.continuing import without_tasks
from keepset.adapters.langgraph.graph import Structure
from keepset.adapters.langgraph.proving_fields import dotted
from keepset.adapters.langgraph.proving_script import Course
from keepset.adapters.langgraph.proving_steps import Step, Superstep, done
from keepset.adapters.langgraph.renaming import Place, ids_of
from keepset.adapters.langgraph.standing import TASKS, tasks_of
from keepset.plan.pictured import shown
from keepset.prove.watch import Halted, Watch

_START: Final = "__start__"
_JOIN: Final = "join:"
_INPUT: Final = "input"


@dataclass(frozen=True, slots=True)
class Next:
    """A task that is next at a checkpoint.

    Attributes:
        id: Its id.
        node: Its node.
        inside: The namespace of what runs inside it.
    """

    id: str
    node: str
    inside: str


class Points:
    """What is told of one life.

    Attributes:
        watch: Hears of it.
        course: How far the script is.
        asked: The nodes that have asked since it was last looked at.
        structure: Gives the graph of a namespace, without the ids of tasks.
    """

    def __init__(self, watch: Watch, course: Course, live: Mapping[str, Any]) -> None:
        """Begin a life.

        Args:
            watch: Hears of steps and points.
            course: How far the script is.
            live: What is in no checkpoint, as it is when one lands.
        """
        self.watch = watch
        self.course = course
        self.asked: list[str] = []
        self.structure: Callable[[str], Structure | None] = lambda _: None
        self._live = live
        self._supersteps: dict[tuple[str, str], Superstep] = {}
        self._by_task: dict[str, Superstep] = {}
        self._lock = threading.RLock()
        self._is_halted = False

    # --- steps ------------------------------------------------------------------------------------

    def around(self, place: str, bound: Runnable[Any, Any]) -> Runnable[Any, Any]:
        """Give a node's runnable that tells when it begins.

        Args:
            place: The node, with those before it that it lies in (``node|inner``).
            bound: Its runnable.
        """
        return Step(dotted(place), bound, self)

    def superstep(self, namespace: str, checkpoint: str) -> Superstep:
        """Give the tasks after a checkpoint, which may be on its way."""
        return self._supersteps.setdefault((namespace, checkpoint), Superstep())

    # --- checkpoints ------------------------------------------------------------------------------

    def knows(self, namespace: str) -> bool:
        """Tell whether a graph is known whose checkpoints lie in a namespace."""
        return self.structure(without_tasks(namespace)) is not None

    def next(self, namespace: str, checkpoint: Mapping[str, Any], step: int) -> list[Next]:
        """Give the tasks that are next at a checkpoint, in the order in which they run here."""
        structure = self.structure(without_tasks(namespace))
        if structure is None:
            return []
        values = {
            name: shown(value) if name == TASKS or name.startswith(_JOIN) else value
            for name, value in checkpoint["channel_values"].items()
        }
        place = Place(checkpoint["id"], checkpoint["v"], step + 1, namespace, namespace)
        versions, seen = checkpoint["channel_versions"], checkpoint["versions_seen"]
        found = tasks_of(structure, values, versions, seen)
        pushed = [task for task in found if task.push is not None]
        pulled = sorted((task for task in found if task.push is None), key=lambda task: task.node)
        made = ((task.node, *ids_of(task, place)) for task in (*pushed, *pulled))
        return [Next(name, node, inside) for node, name, inside in made]

    def loaded(self, config: Mapping[str, Any], found: CheckpointTuple) -> None:
        """Note where a run goes on; what is done there is not run again."""
        namespace = address(config).namespace
        tasks = self.next(namespace, found.checkpoint, found.metadata.get("step", -1))
        superstep = self._expect(namespace, found.checkpoint["id"], tasks)
        for task in finished(found.pending_writes or ()):
            superstep.end(task)
        done(superstep.landed)

    def landed(
        self, config: Mapping[str, Any], checkpoint: Mapping[str, Any], metadata: Mapping[str, Any]
    ) -> None:
        """Tell that a checkpoint has landed, if a run can be resumed from it."""
        at = address(config)
        tasks = self.next(at.namespace, checkpoint, metadata.get("step", -1))
        superstep = self._expect(at.namespace, checkpoint["id"], tasks)
        ran = self._ran(metadata.get("source"), at.namespace, at.checkpoint, tasks)
        if ran and (tasks or (not at.namespace and self.course.has_turns)):
            within = without_tasks(at.namespace)
            prefix = f"{dotted(within)}." if within else ""
            self.tell(f"after {'+'.join(prefix + node for node in ran)}")
        done(superstep.landed)

    def _expect(self, namespace: str, checkpoint: str, tasks: Sequence[Next]) -> Superstep:
        superstep = self.superstep(namespace, checkpoint)
        superstep.expect([(task.id, task.node) for task in tasks])
        self._by_task |= {task.id: superstep for task in tasks}
        return superstep

    def _ran(self, source: object, namespace: str, parent: str, tasks: Sequence[Next]) -> list[str]:
        """Give the nodes after which a checkpoint is; ``input`` where none has run yet."""
        if source == "input":
            return [] if any(task.node == _START for task in tasks) else [_INPUT]
        if source != "loop":
            return []
        before = set(self.superstep(namespace, parent).nodes)
        return sorted(before - {_START}) or ([_INPUT] if before else [])

    def skipped(self, config: Mapping[str, Any], checkpoint: Mapping[str, Any]) -> None:
        """Note that a checkpoint was refused: nobody has to wait for it."""
        done(self.superstep(address(config).namespace, checkpoint["id"]).landed)

    def wrote(self, task: str) -> None:
        """Note that what a task wrote is stored."""
        superstep = self._by_task.get(task)
        if superstep is not None:
            superstep.end(task)

    # --- the end of a life ------------------------------------------------------------------------

    def tell(self, label: str) -> None:
        """Tell of a point; the life may end there.

        Raises:
            Halted: It ends.
        """
        try:
            self.watch.landed(label, self.course.progress, dict(self._live))
        except BaseException:
            self._halt()
            raise

    def _halt(self) -> None:
        """End the life: nothing begins and nothing is saved any more, and nobody waits."""
        self._is_halted = True
        for superstep in list(self._supersteps.values()):
            superstep.release()

    @property
    def is_halted(self) -> bool:
        """Whether the life has ended at its point."""
        return self._is_halted

    def require_alive(self) -> None:
        """Refuse to go on after the end.

        Raises:
            Halted: The life has ended.
        """
        if self._is_halted:
            raise Halted

    @contextmanager
    def saving(self) -> Iterator[bool]:
        """Save one at a time; tells whether there is still a life to save for."""
        with self._lock:
            yield not self._is_halted


def finished(writes: Sequence[tuple[str, str, Any]]) -> frozenset[str]:
    """Give the tasks that have ended, by what is stored of them."""
    return frozenset(task for task, channel, _ in writes if channel not in WRITES_IDX_MAP)
