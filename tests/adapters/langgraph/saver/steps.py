"""Write threads as LangGraph does, step by step, without a graph."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.base.id import uuid6

from keepset.langgraph import KeepsetSaver


def config(thread: str, checkpoint: str | None = None, *, namespace: str = "") -> Any:
    found: dict[str, Any] = {"thread_id": thread, "checkpoint_ns": namespace}
    if checkpoint is not None:
        found["checkpoint_id"] = checkpoint
    return {"configurable": found}


def in_loop(given: Any, **metadata: Any) -> Any:
    """Make a config one that a run of a graph passes."""
    return {"configurable": {**given["configurable"], "__pregel_runtime": object()}, **metadata}


def checkpoint(step: int, **values: Any) -> Any:
    return {
        "v": 4,
        "id": str(uuid6(clock_seq=step)),
        "ts": "2026-01-02T03:04:05.678901+00:00",
        "channel_values": values,
        "channel_versions": dict.fromkeys(values, step + 1),
        "versions_seen": {"node": dict.fromkeys(values, step)},
        "updated_channels": sorted(values),
    }


def put(saver: KeepsetSaver, at: Any, step: int, /, source: str = "loop", **values: Any) -> Any:
    made = checkpoint(step, **values)
    metadata = {"source": source, "step": step, "parents": {}}
    return saver.put(at, made, metadata, made["channel_versions"])


def grow(saver: KeepsetSaver, thread: str, steps: int, text: str) -> list[Any]:
    """Write a thread whose list grows by one text a step; each task writes what comes next."""
    configs: list[Any] = []
    log: list[str] = []
    at = config(thread)
    for step in range(steps):
        at = put(saver, at, step, log=list(log), count=step)
        configs.append(at)
        line = f"{text} {step}"
        saver.put_writes(at, [("log", [line]), ("count", step + 1)], f"task-{step}", "~path")
        log.append(line)
    return configs
