"""What a graph does not store, on every way to the store, and how a run that resumes gets it again.

A field that is not stored may also lie in the input of a graph and in the argument of a `Send`,
which are mappings or instances, and in what a graph inside is handed of the state around it.
There a marker stands in its place, so that a node never finds a key missing: a run that resumes
gets what the field's rule restores, or the marker, whose use says what was not stored.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from langgraph.types import Send

from keepset.adapters.langgraph.nesting import unstored
from keepset.adapters.langgraph.records import changed, entered, held
from keepset.codec import Codec, Withheld, format_path
from keepset.codec.markers import NOT_STORED
from keepset.contracts import MISSING, Contract, Drop, Refetch
from keepset.plan.pictured import shown
from keepset.plan.requests import Flow
from keepset.plan.restore import as_ruled, restore
from keepset.run.pending import PendingWrite

START: Final = "__start__"
TASKS: Final = "__pregel_tasks"
WHOLE: Final = frozenset({START, TASKS})
"""Channels in which fields of a state lie that are not channels of their own there."""
_NO_WRITES: Final = "__no_writes__"


def outgoing(contract: Contract, writes: Sequence[tuple[str, Any]]) -> Sequence[tuple[str, Any]]:
    """Give what a task writes without what is not stored.

    A task of which nothing is left says so, since one without writes would run again.
    """
    fields = contract.fields
    kept = [
        (channel, left_out(contract, channel, value))
        for channel, value in writes
        if channel not in fields or fields[channel].rule.stored
    ]
    return kept if kept or not writes else [(_NO_WRITES, None)]


def left_out(contract: Contract, channel: str, value: Any) -> Any:
    """Give a channel's value, or what a task writes to it, without what is not stored.

    Args:
        contract: The contract of the channel's graph.
        channel: ``__start__`` or ``__pregel_tasks``; the value of any other one is given back.
        value: The input, a `Send`, or a list of them, or a picture; nothing in it is changed.
    """
    if channel not in WHOLE:
        return value
    given = shown(value)
    if channel == START:
        kept = _marked(contract, entered(contract, given), (START,))
    elif isinstance(given, list | tuple):
        kept = [_sent(contract, item, (index,)) for index, item in enumerate(given)]
        kept = given if all(map(operator.is_, kept, given)) else kept
    else:
        kept = _sent(contract, given, ())
    return value if kept is given else kept


def _sent(contract: Contract, packet: Any, at: tuple[int, ...]) -> Any:
    if not isinstance(packet, Send):
        return packet
    kept = _marked(contract, packet.arg, (TASKS, *at))
    return packet if kept is packet.arg else with_argument(packet, kept)


def with_argument(packet: Send, argument: Any) -> Send:
    """Give a packet with another argument."""
    timeout = getattr(packet, "timeout", None)
    return (
        Send(packet.node, argument)
        if timeout is None
        else Send(packet.node, argument, timeout=timeout)
    )


def _marked(contract: Contract, given: Any, path: tuple[str | int, ...]) -> Any:
    """Put markers in place of what is not stored of a mapping, or of an instance with keys."""
    fields = unstored(contract)
    hidden = [key for key in held(given, fields) if key in fields] if fields else []
    if not hidden:
        return given
    marked: dict[str, Any] = {}
    for key in hidden:
        dropped = any(isinstance(item, Drop) for item in fields[key].metadata)
        default = fields[key].fill({}) if dropped else MISSING
        if default is not MISSING:
            marked[key] = default
        elif not dropped or not isinstance(given, dict):
            marked[key] = Withheld(NOT_STORED, format_path((*path, key)))
    if not isinstance(given, dict):
        return changed(given, marked)
    return {key: value for key, value in given.items() if key not in hidden} | marked


def channels_as_ruled(contract: Contract, values: Mapping[str, Any]) -> dict[str, Any]:
    """Give a checkpoint's channels as they would have been stored by the rules of today."""
    kept = as_ruled(contract, values)
    for channel in WHOLE & kept.keys():
        kept[channel] = left_out(contract, channel, kept[channel])
    return kept


def writes_as_ruled(contract: Contract, writes: Sequence[PendingWrite]) -> list[PendingWrite]:
    """Give pending writes as they would have been stored by the rules of today.

    What was written to a `Refetch` stays if it is there: no ids stand beside it.
    """
    kept = [write for write in writes if _replays(contract, write)]
    if len(kept) == len(writes):
        return kept
    left = {write.task for write in kept}
    for write in writes:
        if write.task not in left:
            left.add(write.task)
            kept.append(replace(write, channel=_NO_WRITES, value=None))
    return kept


def _replays(contract: Contract, write: PendingWrite) -> bool:
    if write.channel not in contract.fields:
        return True
    rule = contract.fields[write.channel].rule
    return rule.stored or (isinstance(rule, Refetch) and not isinstance(write.value, Withheld))


def restored(
    contract: Contract, values: dict[str, Any], codec: Codec, resolve: Any
) -> Flow[tuple[str, ...]]:
    """Restore the channels of a checkpoint, its input and the arguments of its packets, by rule.

    Args:
        contract: The contract of the checkpoint's namespace.
        values: The checkpoint's channels, pinned digests among them; what is restored is put in.
        codec: The codec of the contract.
        resolve: Reads a secret by its reference.

    Returns:
        The fields whose content is not what was there, under ``pin="report"``.

    Raises:
        NotFoundError: A loader or factory failed, or there is no secret under a reference.
        IntegrityError: A loader gave other documents than those asked for.
    """
    other = yield from restore(contract, values, codec, resolve)
    for name, field in contract.fields.items():
        if isinstance(field.rule, Drop) and field.rule.default is not MISSING:
            values.setdefault(name, field.fill({}))
    if START in values:
        values[START] = yield from _filled(contract, values[START], values, codec, resolve)
    packets = values.get(TASKS)
    if isinstance(packets, list):
        filled = []
        for packet in packets:
            filled.append((yield from refilled(contract, packet, values, codec, resolve)))  # noqa: PERF401 - a comprehension cannot yield
        values[TASKS] = filled
    return other


def refilled(
    contract: Contract, packet: Any, values: Mapping[str, Any], codec: Codec, resolve: Any
) -> Flow[Any]:
    """Restore the argument of one packet."""
    if not isinstance(packet, Send):
        return packet
    argument = yield from _filled(contract, packet.arg, values, codec, resolve)
    return packet if argument is packet.arg else with_argument(packet, argument)


def _filled(
    contract: Contract, given: Any, values: Mapping[str, Any], codec: Codec, resolve: Any
) -> Flow[Any]:
    """Put in place of markers what their fields' rules restore.

    A `Refetch` goes by what stands beside it; where that is not there, and for all other rules,
    the channel's own value is handed on.
    """
    there = held(given, contract.fields)
    missing = {key for key, value in there.items() if _is_not_stored(value)}
    if not missing:
        return given
    found = {key: value for key, value in there.items() if key not in missing}
    own = [key for key in missing if _is_beside(contract, key, found)]
    if own:
        fields = {
            name: field
            for name, field in contract.fields.items()
            if name in own or field.rule.stored
        }
        part = replace(contract, fields=MappingProxyType(fields))
        beside = {key: value for key, value in found.items() if key in contract.fields}
        yield from restore(part, beside, codec, resolve)
        found |= {key: beside[key] for key in own if key in beside}
    handed = {key: values[key] for key in missing if key in values}
    return changed(given, {**handed, **{key: found[key] for key in missing if key in found}})


def _is_not_stored(value: Any) -> bool:
    return isinstance(value, Withheld) and value.kind == NOT_STORED


def _is_beside(contract: Contract, name: str, found: Mapping[str, Any]) -> bool:
    rule = contract.fields[name].rule if name in contract.fields else None
    return isinstance(rule, Refetch) and all(used in found for used in rule.using)
