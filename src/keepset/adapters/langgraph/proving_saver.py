"""A saver that tells what lands, and ends with the life that it saves for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from keepset.adapters.langgraph.address import address
from keepset.adapters.langgraph.continuing import without_tasks
from keepset.adapters.langgraph.proving_fields import GraphFields
from keepset.adapters.langgraph.proving_points import Points
from keepset.adapters.langgraph.saver import KeepsetSaver
from keepset.plan.pictured import Pictured
from keepset.prove.leaving import LeftOut


class Carried:
    """What one life knows of fields that are never stored, from one call of its graph to the next.

    LangGraph reads a thread anew whenever it is called, with an answer or another turn. What is
    left out is gone with the process, and not with each call.

    Attributes:
        live: What was there when the newest checkpoints landed and is in none of them, by field id;
            more may be in it.
    """

    def __init__(self, fields: GraphFields) -> None:
        """Know nothing yet, but for the ids of fields."""
        self._fields = fields
        self.live: dict[str, Any] = {}
        self._values: dict[tuple[str, str], dict[str, Any]] = {}
        self._writes: dict[tuple[str, str], list[tuple[str, str, Any]]] = {}

    def put(self, config: Any, checkpoint: Mapping[str, Any], left: frozenset[str]) -> None:
        """Note what a checkpoint does not store."""
        values, namespace = checkpoint["channel_values"], address(config).namespace
        if left:
            kept = {name: values[name] for name in left if name in values}
            self._values[namespace, checkpoint["id"]] = kept
        place = without_tasks(namespace)
        if place in self._fields.contracts:
            own = self._fields.contracts[place].fields
            self.live |= {
                self._fields.id_of(place, name): value
                for name, value in values.items()
                if name in own and not isinstance(value, Pictured)
            }

    def write(
        self, config: Any, task: str, writes: Sequence[tuple[str, Any]], left: frozenset[str]
    ) -> None:
        """Note what is not stored of what a task wrote."""
        kept = [(task, channel, value) for channel, value in writes if channel in left]
        if kept:
            at = address(config)
            self._writes.setdefault((at.namespace, at.checkpoint), []).extend(kept)

    def given(self, config: Any, found: CheckpointTuple, left: frozenset[str]) -> CheckpointTuple:
        """Give a checkpoint with what this life knows of it, and nothing that another one does.

        The life before may have had other rules, and stored what is left out now.
        """
        if not left:
            return found
        key = (address(config).namespace, found.checkpoint["id"])
        values = found.checkpoint["channel_values"]
        known = {name: value for name, value in values.items() if name not in left}
        checkpoint: Any = {**found.checkpoint, "channel_values": known | self._values.get(key, {})}
        stored = [write for write in found.pending_writes or () if write[1] not in left]
        writes = [*stored, *self._writes.get(key, [])]
        return found._replace(checkpoint=checkpoint, pending_writes=writes)


class ProvingSaver(KeepsetSaver):
    """A saver that tells of each checkpoint, and saves nothing once a life has ended."""

    points: Points
    carried: Carried

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        """See `KeepsetSaver.get_tuple`."""
        return self._loaded(config, super().get_tuple(config))

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        """See `get_tuple`."""
        return self._loaded(config, await super().aget_tuple(config))

    def _loaded(self, config: Any, found: CheckpointTuple | None) -> CheckpointTuple | None:
        if found is None or not address(config).loop:
            return found
        self.points.loaded(config, found)
        return self.carried.given(config, found, self._left_out(config))

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """See `KeepsetSaver.put`; `Halted` where the life ends."""
        with self.points.saving():
            self.points.require_alive()
            try:
                saved = super().put(config, checkpoint, metadata, new_versions)
            except BaseException:
                self.points.skipped(config, checkpoint)
                raise
            self.carried.put(config, checkpoint, self._left_out(config))
            self.points.landed(config, checkpoint, metadata)
        return saved

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """See `put`."""
        self.points.require_alive()
        try:
            saved = await super().aput(config, checkpoint, metadata, new_versions)
        except BaseException:
            self.points.skipped(config, checkpoint)
            raise
        self.carried.put(config, checkpoint, self._left_out(config))
        self.points.landed(config, checkpoint, metadata)
        return saved

    def put_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """See `KeepsetSaver.put_writes`; what comes after the end is let go."""
        with self.points.saving() as alive:
            if alive:
                super().put_writes(config, writes, task_id, task_path)
                self.carried.write(config, task_id, writes, self._left_out(config))
        self.points.wrote(task_id)

    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """See `put_writes`."""
        if not self.points.is_halted:
            await super().aput_writes(config, writes, task_id, task_path)
            self.carried.write(config, task_id, writes, self._left_out(config))
        self.points.wrote(task_id)

    def _left_out(self, config: Any) -> frozenset[str]:
        """Give the fields of a namespace that are never stored."""
        contract = self.binding.contract(address(config).namespace) if self.binding else None
        fields = contract.fields.items() if contract is not None else ()
        return frozenset(name for name, field in fields if isinstance(field.rule, LeftOut))
