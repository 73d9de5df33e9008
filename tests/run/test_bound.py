"""What runs remember is counted as what it takes, so that the bound holds."""

from __future__ import annotations

import os
import tracemalloc
from typing import Any

import pytest

import keepset as ks
from tests.run.states import Chat


def long_metadata(run: ks.Run) -> None:
    for number in range(40):
        run.save("step", {"count": number}, metadata={"said": os.urandom(20_000)})


def many_flags(run: ks.Run) -> None:
    flags: dict[str, Any] = {f"flag number {number}": number * 1_000 for number in range(1_000)}
    for number in range(3):
        flags["flag number 7"] = f"{number}"
        run.save("step", {"anything": dict(flags)})


@pytest.mark.parametrize("fill", [long_metadata, many_flags])
def test_what_is_counted_is_nearly_what_it_takes(fill: Any) -> None:
    with ks.open("memory:") as store:
        fill(store.run(Chat, "first"))
        before = store.services.retention.total
        tracemalloc.start()
        try:
            runs = [store.run(Chat, f"r{number}") for number in range(10)]
            for run in runs:
                fill(run)
                run.core._state = None
            taken, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        counted = store.services.retention.total - before
        assert taken / 2 < counted < taken * 2
