"""Threads that are made checkpoint by checkpoint, and what came of the last leg."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint

from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.exporting import legs
from tests.cli.terminal import ROOT

SCRIPT = Path(__file__).with_name("last_leg.py")


def put(url: str, thread: str, *states: dict[str, Any], **options: Any) -> None:
    """Store checkpoints with these channels, one after the other."""
    with KeepsetSaver(url, **options) as saver:
        fill(saver, thread, *states)


def fill(saver: KeepsetSaver, thread: str, *states: dict[str, Any]) -> None:
    """The same, where the store is open."""
    at: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    for number, values in enumerate(states, 1):
        checkpoint = {
            **empty_checkpoint(),
            "channel_values": values,
            "channel_versions": dict.fromkeys(values, number),
        }
        metadata: Any = {"source": "loop", "step": number, "parents": {}}
        at = saver.put(at, checkpoint, metadata, {})


def process(place: str) -> subprocess.CompletedProcess[str]:
    """Go the last leg in a process without keepset."""
    return subprocess.run(
        [sys.executable, "-I", str(SCRIPT), str(ROOT), place],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def last_leg(place: str) -> dict[str, Any]:
    """Go the last leg, and give what it has told."""
    done = process(place)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def require_same(travelled: dict[str, Any], stayed: dict[str, Any]) -> None:
    assert travelled.keys() == stayed.keys() == legs.WAYS.keys()
    for thread, right in stayed.items():
        for ours, theirs in zip(travelled[thread], right, strict=True):
            assert ours == theirs, thread
