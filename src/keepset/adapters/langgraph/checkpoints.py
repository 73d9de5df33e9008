"""From a LangGraph checkpoint to a run's fields, and back.

A channel is a field of its name, so that each has differences of its own. What LangGraph keeps of
its own in a checkpoint changes in every step: the versions of channels and those that nodes have
seen are two more fields, so that a step stores the few that moved; the rest is a few bytes and lies
beside the step's metadata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from langgraph.checkpoint.base import WRITES_IDX_MAP

from keepset.contracts import Field, Keep
from keepset.errors import DecodeError, UsageError
from keepset.plan.guard import OURS
from keepset.plan.project import is_pin
from keepset.run.pending import Batch
from keepset.scan import Scanner
from keepset.verdict.status import Status

OWN: Final = "langgraph#"
"""What names of our own begin with, and no channel may begin with."""

VERSIONS: Final = "langgraph#versions"
SEEN: Final = "langgraph#seen"
MORE: Final = "langgraph#more"
GRAPH: Final = "langgraph#graph"
"""The graphs that wrote a checkpoint, where the saver knows them."""
ASKED: Final = "langgraph#asked"
"""A pending write of our own: what a task has asked so far."""
STEP: Final = "langgraph:"
"""What the names of steps begin with; the source of the checkpoint follows, see `source_of`."""
SPECIAL: Final[Mapping[str, int]] = MappingProxyType(
    {**WRITES_IDX_MAP, ASKED: min(WRITES_IDX_MAP.values()) - 100}
)
"""Channels whose writes have a position of their own, and are replaced."""
_ERROR: Final = "__error__"
_STOPS: Final[Mapping[str, str]] = MappingProxyType(
    {_ERROR: Status.FAILED.value, "__interrupt__": Status.PAUSED.value}
)
_GOES_ON: Final[Mapping[str, str]] = MappingProxyType({"__resume__": Status.RUNNING.value})
"""Where a thread stands once something is written to a channel of LangGraph's own."""
_SMALL: Final = ("v", "ts", "updated_channels")
_COMPARED: Final = ("updated_channels", "channel_versions", "versions_seen")
_APART: Final = frozenset(
    {"id", "channel_values", "channel_versions", "versions_seen", "updated_channels", "v", "ts"}
)
_START: Final = "__start__"
_TASKS: Final = "__pregel_tasks"
_WAITING: Final = ("branch:to:", "join:")


def _own(name: str) -> Field:
    rule = Keep(secrets="allow")  # versions and names of nodes: LangGraph's, not the user's
    unseen = () if name == ASKED else (OURS,)
    return Field(name, object, rule, declared=True, required=False, metadata=unseen)


OWN_FIELDS: Final[Mapping[str, Field]] = MappingProxyType(
    {name: _own(name) for name in (VERSIONS, SEEN, GRAPH, ASKED)}
)
"""The fields that a checkpoint has beside its channels; `MORE` goes through the detectors."""


def fields_of(checkpoint: Mapping[str, Any]) -> dict[str, Any]:
    """Give all fields of a checkpoint: its channels, and what is LangGraph's own.

    Raises:
        UsageError: ``langgraph.channel``: a channel has a name that no field can have.
    """
    fields: dict[str, Any] = {}
    for channel, value in checkpoint["channel_values"].items():
        if type(channel) is not str or not channel or is_pin(channel) or channel.startswith(OWN):
            raise UsageError(
                f"a channel cannot be called {channel!r}",
                code="langgraph.channel",
                hint="Give the state's key another name.",
            )
        fields[channel] = value
    fields[VERSIONS] = dict(checkpoint["channel_versions"])
    fields[SEEN] = {node: dict(seen) for node, seen in checkpoint["versions_seen"].items()}
    more = {name: value for name, value in checkpoint.items() if name not in _APART}
    if more:
        fields[MORE] = more
    return fields


def small_parts(checkpoint: Mapping[str, Any]) -> dict[str, Any]:
    """Give the parts that lie beside the metadata, under `OWN`."""
    return {OWN: [checkpoint.get("v"), checkpoint.get("ts"), checkpoint.get("updated_channels")]}


def checkpoint_of(
    checkpoint: str, fields: Mapping[str, Any], metadata: Mapping[str, Any]
) -> dict[str, Any]:
    """Put a checkpoint together again.

    Args:
        checkpoint: Its id.
        fields: Its fields.
        metadata: Its metadata as it was stored, `OWN` among it.

    Raises:
        DecodeError: ``langgraph.other-run``: it was not written by this adapter;
            ``langgraph.damaged``: LangGraph could not go on with it.
    """
    small = metadata.get(OWN)
    if type(small) is not list or len(small) != len(_SMALL):
        raise DecodeError(
            f"checkpoint {checkpoint} was not written by LangGraph",
            code="langgraph.other-run",
            hint="The run of this id belongs to another host: give the thread another id.",
        )
    made = {
        "id": checkpoint,
        **dict(zip(_SMALL, small, strict=True)),
        "channel_values": {
            name: value
            for name, value in fields.items()
            if not name.startswith(OWN) and not is_pin(name)
        },
        "channel_versions": fields.get(VERSIONS, {}),
        "versions_seen": fields.get(SEEN, {}),
    }
    if not is_sound(made):
        raise damaged(f"checkpoint {checkpoint}")
    more = fields.get(MORE)
    return {**more, **made} if isinstance(more, dict) else made


def is_sound(made: Mapping[str, Any]) -> bool:
    """Tell whether LangGraph can compare what a checkpoint says of versions."""
    updated, versions, seen = (made.get(n) for n in _COMPARED)
    if type(seen) is not dict or not isinstance(made.get("v"), int | None):
        return False
    if not (updated is None or (type(updated) is list and all(type(n) is str for n in updated))):
        return False
    tables = [versions, *seen.values()]
    if not all(type(table) is dict for table in tables):
        return False
    kinds = {type(version) for table in tables for version in table.values()}
    return kinds <= {str} or kinds <= {int, float}


def damaged(what: str) -> DecodeError:
    """Make the error for what nobody can have written who meant well."""
    return DecodeError(
        f"{what} does not hold what LangGraph goes on with",
        code="langgraph.damaged",
        hint="Run `keepset verify`; restore from a backup, or go on from an older checkpoint.",
    )


def metadata_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Give a checkpoint's metadata without what is our own."""
    return {name: value for name, value in stored.items() if name != OWN}


def source_of(metadata: Mapping[str, Any], scanner: Scanner) -> str:
    """Give the source of a checkpoint as rows and logs may say it: what is secret in it is masked.

    Args:
        metadata: What is said of the checkpoint.
        scanner: The detectors.
    """
    return scanner.text(str(metadata.get("source") or "checkpoint"))


def as_text(channel: str, value: Any) -> Any:
    """Give a task's error as the text that other savers make of it, which detectors can read."""
    return repr(value) if channel == _ERROR and isinstance(value, BaseException) else value


def batch_of(task: str, given: Sequence[tuple[str, Any]], path: str) -> Batch:
    """Give what a task wrote as it is stored, with what it says of where the thread stands.

    A task that asks once more writes the answers that it has had beside its question.
    """
    stops = any(channel in _STOPS for channel, _ in given)
    status = _STOPS if stops else _GOES_ON
    return Batch(task, given, path, special=SPECIAL, status=status, admitted=True)


def status_of(values: Mapping[str, Any]) -> str:
    """Say where a thread stands after a checkpoint: a node is next, or none is."""
    waits = any(
        name == _START or name.startswith(_WAITING[0]) or (name.startswith(_WAITING[1]) and value)
        for name, value in values.items()
    )
    return (Status.RUNNING if waits or values.get(_TASKS) else Status.DONE).value
