"""The checkpoints of one thread as LangGraph's own savers are to have them, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from keepset.adapters.langgraph.checkpoints import (
    ASKED,
    SPECIAL,
    STEP,
    checkpoint_of,
    metadata_of,
)
from keepset.adapters.langgraph.exporting_restoring import Refetched
from keepset.adapters.langgraph.exporting_values import GONE, Passage
from keepset.adapters.langgraph.exporting_versions import Lineage
from keepset.adapters.langgraph.threads import Thread, Threads
from keepset.codec import Codec, Path, format_path
from keepset.plan.headers import unpack_metadata
from keepset.plan.requests import Flow
from keepset.run.hosted import Stored, Surface
from keepset.run.hosted.walking import Pick, Walk, loaded
from keepset.run.pending import PendingWrite

_PAGE: Final = 16
"""How many checkpoints are loaded at a time."""

Drive = Callable[[Flow[Any]], Any]
"""Carries a flow out on the store."""


@dataclass(frozen=True, slots=True)
class Task:
    """What one task wrote after a checkpoint.

    Attributes:
        id: Its id.
        path: Its path.
        writes: Pairs of channel and value, in order.
    """

    id: str
    path: str
    writes: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Leaving:
    """One checkpoint that leaves.

    Attributes:
        namespace: Where it lies.
        parent: Id of its parent; empty where it has none.
        checkpoint: LangGraph's own form of it.
        metadata: What is said of it.
        tasks: What tasks wrote after it.
        new: The versions that are new in it, by channel.
        codec: Knows the classes of its values.
        classes: Those of all objects in it.
    """

    namespace: str
    parent: str
    checkpoint: dict[str, Any]
    metadata: dict[str, Any]
    tasks: tuple[Task, ...]
    new: dict[str, Any]
    codec: Codec
    classes: set[type]

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.checkpoint["id"])

    @property
    def writes(self) -> list[tuple[str, str, Any]]:
        """What tasks wrote after it, as a saver gives it."""
        return [(task.id, *write) for task in self.tasks for write in task.writes]


@dataclass(slots=True)
class Departure:
    """A thread on its way out.

    Attributes:
        threads: All threads.
        thread: This one.
        walk: Its checkpoints, as they were when it was looked at.
        refetched: What loads again what is not stored; None where nothing does.
        withheld: The markers that were taken out: how often, by kind and place.
    """

    threads: Threads
    thread: Thread
    walk: Walk
    refetched: Refetched | None = None
    withheld: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def is_langgraphs(self) -> bool:
        """Whether LangGraph has written it."""
        return any(row.name.startswith(STEP) for _, row in self.walk.picks)

    def checkpoints(self, drive: Drive) -> Iterator[Leaving]:
        """Give its checkpoints, each after its parent.

        Raises:
            KeepsetError: One cannot be read, or a class of its values is not known.
        """
        self.withheld = Counter()
        self.walk = replace(self.walk, picks=tuple(self._landed()))
        lineage = Lineage((line.namespace, row.parent) for line, row in self.walk.picks)
        for part in self.walk.parts(_PAGE):
            found: list[Stored] = drive(
                loaded(self.thread.reader, self.walk.run, part, self._surface)
            )
            for stored in found:
                if stored.header.name.startswith(STEP):
                    with self.thread.named(stored.line.namespace):
                        yield self._leaving(stored, lineage, drive)

    def _landed(self) -> Iterator[Pick]:
        """Give the checkpoints but those of a graph inside whose own ones around it are to come.

        The graph around it may have been saved later than it, and not have been there yet.
        """
        newest: dict[str, str] = {}
        for line, row in self.walk.picks:
            newest[line.namespace] = max(newest.get(line.namespace, ""), row.checkpoint)
        late: set[str] = set()
        for line, row in self.walk.picks:
            if line.namespace and row.checkpoint > newest.get("", ""):
                codec = self._surface(line.namespace).guard.codec
                around = unpack_metadata(row, codec).get("parents") or {}
                if any(name in newest and own > newest[name] for name, own in around.items()):
                    late.add(line.namespace)
            if line.namespace not in late:
                yield line, row

    def _surface(self, namespace: str) -> Surface:
        return self.threads.surface(self.thread, namespace)

    def _leaving(self, stored: Stored, lineage: Lineage, drive: Drive) -> Leaving:
        header, namespace = stored.header, stored.line.namespace
        surface = self._surface(namespace)
        codec = surface.guard.codec
        said = unpack_metadata(header, codec)
        made = checkpoint_of(header.checkpoint, stored.values, said)
        place = (namespace, header.checkpoint)
        before = lineage.before(namespace, header.parent)
        versions = lineage.follow(
            place, header.parent, made["channel_versions"], made["versions_seen"]
        )
        if self.refetched is not None:
            restored = drive(self.refetched.values(stored, made, versions, before, surface))
            made["channel_values"] = restored
        passage = Passage(codec, self._tell)
        checkpoint = {
            **{name: made[name] for name in _OWN if name in made},
            **passage.mapping({name: one for name, one in made.items() if name not in _OWN}),
            "channel_values": passage.mapping(made["channel_values"]),
            "channel_versions": versions.channels,
            "versions_seen": versions.seen,
        }
        return Leaving(
            namespace=namespace,
            parent=header.parent,
            checkpoint=checkpoint,
            metadata=passage.mapping(metadata_of(said), ("metadata",)),
            tasks=tuple(_tasks(stored.writes, passage)),
            new={name: versions.channels[name] for name in versions.new},
            codec=codec,
            classes=passage.classes,
        )

    def _tell(self, kind: str, path: Path) -> None:
        self.withheld[kind, format_path(tuple("*" if type(at) is int else at for at in path))] += 1


_OWN: Final = frozenset(
    {
        "v",
        "id",
        "ts",
        "updated_channels",
        "channel_values",
        "channel_versions",
        "versions_seen",
    }
)
"""The parts of a checkpoint that LangGraph itself names."""


def _tasks(writes: Sequence[PendingWrite], passage: Passage) -> Iterator[Task]:
    """Give what tasks wrote, in the order in which a saver gives it back."""
    tasks: dict[str, list[PendingWrite]] = {}
    for write in writes:
        if write.channel != ASKED:
            tasks.setdefault(write.task, []).append(write)
    # Of a task that has come from another saver, the path is known only since it wrote here: until
    # then it is a number, which comes before any path.
    paths = {task: max(write.path for write in own) for task, own in tasks.items()}
    for task in sorted(tasks, key=lambda one: (paths[one], one)):
        kept = []
        for write in sorted(tasks[task], key=lambda one: one.index):
            value = passage.value(write.value, (write.channel,))
            if write.channel in SPECIAL and type(value) is tuple:
                value = list(value)  # questions: every saver of LangGraph's gives them like this
            kept.append((write.channel, None if value is GONE else value))
        yield Task(task, paths[task], tuple(kept))


def batches(task: Task) -> Iterator[tuple[tuple[str, Any], ...]]:
    """Give the writes of a task as they are handed to a saver: LangGraph's own by themselves.

    A saver gives a write the position that it has in its batch, but for LangGraph's own.
    """
    own = tuple(write for write in task.writes if write[0] in SPECIAL)
    plain = tuple(write for write in task.writes if write[0] not in SPECIAL)
    if plain:
        yield plain
    if own:
        yield own
