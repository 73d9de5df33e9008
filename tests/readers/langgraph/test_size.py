"""Reading takes little memory, however large the store is."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

from tests.readers.langgraph.stores import connected, reading

TEXT = "word " * 40_000


def written(path: Path, checkpoints: int) -> int:
    """Write a thread of 200 KB for each checkpoint, no two of them the same."""
    with connected(path) as saver:
        config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        for number in range(checkpoints):
            checkpoint: Any = {
                "v": 4, "id": f"{number:06}", "ts": "2026-01-02T00:00:00+00:00",
                "channel_versions": {}, "versions_seen": {},
                "channel_values": {"text": f"{number} {TEXT}", "list": [f"{number}"] * 99},
            }  # fmt: skip
            config = saver.put(config, checkpoint, {"source": "loop"}, {})
            saver.put_writes(config, [("text", f"{number} {TEXT}")], "task")
    return path.stat().st_size


def peak(path: Path) -> int:
    with reading(path) as reader:
        tracemalloc.start()
        try:
            for one in reader.runs():
                for item in reader.items(one.run):
                    del item
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def test_a_store_ten_times_as_large_takes_no_more_memory_to_read(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    assert written(large, 150) > 50_000_000
    written(small, 40)
    assert peak(large) < 25_000_000
    assert peak(large) < peak(small) * 1.3 + 1_000_000
