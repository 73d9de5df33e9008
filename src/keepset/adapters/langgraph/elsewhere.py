"""What a thread is where keepset does not have it yet: in the saver that a team comes from.

Its checkpoints are read by any saver's own methods, and become what they would be if keepset had
stored them: rules apply, and of the metadata only what LangGraph itself says is taken over. Most
savers copy every plain value of a config into it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from keepset.adapters.langgraph.address import ALLOWED, told
from keepset.adapters.langgraph.admitting import Admission
from keepset.adapters.langgraph.checkpoints import (
    SPECIAL,
    STEP,
    as_text,
    fields_of,
    small_parts,
    source_of,
    status_of,
)
from keepset.adapters.langgraph.nesting import with_around
from keepset.adapters.langgraph.restoring import START, TASKS, left_out
from keepset.errors import UsageError
from keepset.plan.project import project
from keepset.plan.record import Header
from keepset.plan.requests import Call, Flow
from keepset.plan.rows import LineRow, StepRow
from keepset.run.hosted import HostStep, Stored, Surface
from keepset.run.metadata import pack_metadata
from keepset.run.pending import PendingWrite
from keepset.scan import Finding

_SAID: Final = ("source", "step", "parents", "counters_since_delta_snapshot")
"""What LangGraph says of a checkpoint; a saver adds what stands in the config."""
_UNKNOWN: Final = -1


class Conversion:
    """What becomes of a checkpoint of another saver.

    Attributes:
        names: The keys of its metadata that are of use.
    """

    def __init__(self, keys: Collection[str] = ()) -> None:
        """Take the keys of its metadata that are taken over beside LangGraph's own."""
        self._keys = frozenset(keys)
        self.names = (*_SAID, *ALLOWED, *sorted(self._keys))

    def stored(self, found: CheckpointTuple, surface: Surface) -> Stored:
        """Give a checkpoint as if it had been stored here, but for secrets, which stay.

        Raises:
            PolicyError: A rule cannot be applied to it.
        """
        step, _ = self.step(found, parent_of(found), surface)
        own = step.header
        header = StepRow(
            seq=0,
            checkpoint=own.checkpoint,
            parent=step.parent,
            name=own.name,
            status=own.status,
            at=own.at,
            metadata=own.metadata,
            changes=b"",
            digest=b"",
        )
        writes = [
            PendingWrite(task, "", place, channel, value)
            for task, written in self.writes(found, surface).items()
            for place, (channel, value) in enumerate(written)
        ]
        line = LineRow(_UNKNOWN, step.namespace, 0, None, 0, 0)
        kept = project(surface.contract, step.values, surface.guard.codec)
        return Stored(line, header, kept, writes)

    def step(
        self, found: CheckpointTuple, parent: str, surface: Surface
    ) -> tuple[HostStep, list[Finding]]:
        """Give a checkpoint as it is stored here after its parent, and what its metadata hold.

        Raises:
            PolicyError: A rule cannot be applied to it, or its metadata are refused.
        """
        namespace = str(found.config["configurable"].get("checkpoint_ns") or "")
        packed, findings = pack_metadata(surface.guard, self.said(found))
        header = Header(
            found.checkpoint["id"],
            STEP + source_of(found.metadata, surface.services.scanner),
            status_of(found.checkpoint["channel_values"]),
            _time(found, surface),
            packed,
        )
        values = self._values(found, surface)
        return HostStep(namespace, parent, header, values, follows=False), findings

    def writes(self, found: CheckpointTuple, surface: Surface) -> dict[str, list[tuple[str, Any]]]:
        """Give the pending writes of a checkpoint by their tasks, in order."""
        admission = Admission(surface.contract, {})
        entering = Admission(with_around(surface.contract), {})
        tasks: dict[str, list[tuple[str, Any]]] = {}
        for task, channel, value in found.pending_writes or ():
            given = entering.input(value) if channel == START else entering.sent(value)
            admitted = admission.writes([(channel, as_text(channel, given))])
            tasks.setdefault(task, []).extend(admitted)
        # A write has its place among those of its task, but for LangGraph's own ones.
        return {
            task: sorted(written, key=lambda one: one[0] in SPECIAL)
            for task, written in tasks.items()
        }

    def _values(self, found: CheckpointTuple, surface: Surface) -> dict[str, Any]:
        """Give the fields of a checkpoint, as they enter a state here.

        Raises:
            PolicyError: A rule cannot be applied to one of them.
        """
        admission = Admission(surface.contract, {})
        admitted = dict(admission.writes(list(fields_of(found.checkpoint).items())))
        entering = Admission(with_around(surface.contract), {})
        if START in admitted:
            admitted[START] = entering.input(admitted[START])
        if isinstance(admitted.get(TASKS), list):
            admitted[TASKS] = [entering.sent(packet) for packet in admitted[TASKS]]
        return {name: left_out(surface.contract, name, one) for name, one in admitted.items()}

    def said(self, found: CheckpointTuple) -> dict[str, Any]:
        """Give what is taken over of a checkpoint's metadata."""
        metadata: Mapping[str, Any] = found.metadata or {}
        own = {name: metadata[name] for name in _SAID if name in metadata}
        asked = told({"metadata": metadata}, self._keys)
        return {**asked, **own, **small_parts(found.checkpoint)}


class Fallback(Conversion):
    """A saver that is only read, but for deletions.

    Its plain methods are called, on a thread of their own where an event loop asks. A saver that
    has asynchronous ones only is asked on the loop.
    """

    def __init__(self, saver: object, keys: Collection[str] = ()) -> None:
        """Take a saver.

        Args:
            saver: Any saver of LangGraph's.
            keys: Keys of its metadata that are taken over beside LangGraph's own.

        Raises:
            UsageError: ``langgraph.fallback``: it is none.
        """
        if not isinstance(saver, BaseCheckpointSaver):
            raise UsageError(
                f"a {type(saver).__qualname__} cannot be a fallback",
                code="langgraph.fallback",
                hint="Pass the saver that the threads lie in: fallback=PostgresSaver(…). One that "
                "`from_conn_string` gives is used inside its `with` block.",
            )
        super().__init__(keys)
        self._saver: BaseCheckpointSaver[Any] = saver

    def allowing(self, classes: Collection[tuple[str, ...]]) -> Fallback:
        """Give the same, where the saver may read instances of some more classes."""
        return Fallback(self._saver.with_allowlist(classes), self._keys)

    def get(self, config: Mapping[str, Any]) -> Flow[CheckpointTuple | None]:
        """Read the checkpoint that a config names, or the newest of its namespace."""
        saver = self._saver
        found: CheckpointTuple | None = yield self._call(
            "get_tuple",
            lambda: saver.get_tuple(config),  # type: ignore[arg-type] # LangGraph's own
            lambda: saver.aget_tuple(config),  # type: ignore[arg-type] # the same
        )
        return found

    def collect(
        self,
        take: Callable[[CheckpointTuple], bool],
        config: Mapping[str, Any] | None,
        **options: Any,
    ) -> Flow[None]:
        """Hand over checkpoints until no more are wanted; none of them is kept here.

        Args:
            take: Gets one, and tells whether it wants the next.
            config: Names a thread, and more; None for all threads.
            options: ``filter``, ``before`` and ``limit``.
        """
        saver: Any = self._saver

        def plain() -> None:
            listed = saver.list(config, **options)
            try:
                for found in listed:
                    if not take(found):
                        break
            finally:
                if hasattr(listed, "close"):
                    listed.close()  # it may hold a lock of its saver's

        async def on_loop() -> None:
            async for found in saver.alist(config, **options):
                if not take(found):
                    break

        yield self._call("list", plain, on_loop)

    def channel_history(self, config: Mapping[str, Any], channels: Sequence[str]) -> Flow[Any]:
        """Ask what was written to channels; see `KeepsetSaver.get_delta_channel_history`."""
        saver: Any = self._saver
        return (
            yield self._call(
                "get_delta_channel_history",
                lambda: saver.get_delta_channel_history(config=config, channels=channels),
                lambda: saver.aget_delta_channel_history(config=config, channels=channels),
            )
        )

    def delete(self, thread: str) -> Flow[None]:
        """Delete a thread there.

        Raises:
            UsageError: ``langgraph.fallback-keeps``: the saver cannot.
        """
        saver = self._saver
        try:
            yield self._call(
                "delete_thread",
                lambda: saver.delete_thread(thread),
                lambda: saver.adelete_thread(thread),
            )
        except NotImplementedError as error:
            raise UsageError(
                f"{type(saver).__qualname__} cannot delete a thread, so it would be read there",
                code="langgraph.fallback-keeps",
                hint="Delete it there by other means, then once more here; nothing is deleted yet.",
            ) from error

    def _call(
        self,
        method: str,
        plain: Callable[[], Any],
        on_loop: Callable[[], Coroutine[Any, Any, Any]],
    ) -> Call[Any]:
        """Ask the saver by a plain method, and on the event loop where it has none."""
        twin, cls = f"a{method}", type(self._saver)

        def ask() -> Any:
            try:
                return plain()
            except NotImplementedError:
                if getattr(cls, twin) is getattr(BaseCheckpointSaver, twin):
                    raise
                return on_loop()

        ask.__qualname__ = f"{cls.__qualname__}.{method}"  # an error says it
        return Call(ask)


def parent_of(found: CheckpointTuple) -> str:
    """Give the id of a checkpoint's parent; empty where it has none."""
    parent = found.parent_config or {}
    return str((parent.get("configurable") or {}).get("checkpoint_id") or "")


def _time(found: CheckpointTuple, surface: Surface) -> int:
    """Give when a checkpoint was made, milliseconds; now, where it does not say it."""
    try:
        made = datetime.fromisoformat(str(found.checkpoint.get("ts")))
    except ValueError:
        return surface.services.now()
    return int(made.replace(tzinfo=made.tzinfo or UTC).timestamp() * 1000)
