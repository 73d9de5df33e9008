"""What a LangGraph config says to a saver: which checkpoint, and who asks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from keepset.errors import UsageError
from keepset.store.opening import check_name

RUNTIME = "__pregel_runtime"
"""What the configurable of a run of a graph has, and that of a look at its state has not."""

_REPLAY = "__pregel_replay_state"
ALLOWED = ("run_id",)
"""What is taken over from a config into a checkpoint's metadata; the thread's id is the run's."""


class Address(NamedTuple):
    """Which checkpoint a config names.

    Attributes:
        thread: The thread's id, which is the run's id.
        namespace: The namespace: empty for the graph itself, else that of a subgraph.
        checkpoint: The checkpoint's id; empty for the newest.
        loop: Whether a run of a graph asks.
        addressed: Whether that run was sent to a checkpoint instead of going on from the newest.
    """

    thread: str
    namespace: str
    checkpoint: str
    loop: bool
    addressed: bool


def address(config: Mapping[str, Any]) -> Address:
    """Read a config.

    Raises:
        UsageError: It names no thread, or the name is none that a run can have.
    """
    configurable = config.get("configurable") or {}
    if "thread_id" not in configurable:
        raise UsageError(
            "the config names no thread",
            code="langgraph.thread",
            hint='Pass {"configurable": {"thread_id": "…"}} with every call of the graph.',
        )
    sent = (config.get("metadata") or {}).get("checkpoint_id") or configurable.get(_REPLAY)
    return Address(
        thread=check_name("thread id", str(configurable["thread_id"])),
        namespace=str(configurable.get("checkpoint_ns") or ""),
        checkpoint=str(configurable.get("checkpoint_id") or ""),
        loop=RUNTIME in configurable,
        addressed=bool(sent),
    )


def config_of(thread: str, namespace: str, checkpoint: str) -> dict[str, Any]:
    """Make the config that names one checkpoint."""
    return {
        "configurable": {
            "thread_id": thread,
            "checkpoint_ns": namespace,
            "checkpoint_id": checkpoint,
        }
    }


def told(config: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
    """Take over from a config what was asked for by name, and the id of the execution.

    Nothing else is taken over: what stands in a configurable is there for nodes to use, and may be
    a key.
    """
    found: dict[str, Any] = {}
    for source in (config.get("metadata"), config.get("configurable")):
        for name in (*ALLOWED, *keys):
            if source and name in source and name not in found:
                found[name] = source[name]
    return found
