"""LangGraph's own conformance suite, for both kinds of methods and both kinds of stores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from keepset.langgraph import KeepsetSaver

validation = pytest.importorskip("langgraph.checkpoint.conformance")

TESTS = 81
STORES = ["memory:", "sqlite:///{folder}/runs.db"]


class Twins(KeepsetSaver):
    """The saver with its synchronous methods behind the names of the others."""

    async def aget_tuple(self, config: Any) -> Any:
        return self.get_tuple(config)

    async def aput(self, *arguments: Any) -> Any:
        return self.put(*arguments)

    async def aput_writes(self, *arguments: Any, **named: Any) -> None:
        self.put_writes(*arguments, **named)

    async def alist(self, *arguments: Any, **named: Any) -> AsyncIterator[Any]:
        for found in self.list(*arguments, **named):
            yield found

    async def adelete_thread(self, thread_id: str) -> None:
        self.delete_thread(thread_id)

    async def adelete_for_runs(self, run_ids: Any) -> None:
        self.delete_for_runs(run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self.copy_thread(source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Any, *, strategy: str = "keep_latest") -> None:
        self.prune(thread_ids, strategy=strategy)


@pytest.mark.parametrize("url", STORES, ids=["memory", "sqlite"])
@pytest.mark.parametrize("saver", [KeepsetSaver, Twins], ids=["async", "sync"])
def test_every_test_of_the_conformance_suite_passes(
    saver: type[KeepsetSaver], url: str, tmp_path: Path
) -> None:
    opened = 0

    async def fresh() -> AsyncIterator[KeepsetSaver]:
        nonlocal opened
        opened += 1
        (folder := tmp_path / str(opened)).mkdir(mode=0o700)
        async with saver(url.format(folder=folder)) as made:
            yield made

    registered = validation.checkpointer_test(name=f"{saver.__name__} {url}")(fresh)
    report = asyncio.run(validation.validate(registered))
    failures = [line for result in report.results.values() for line in result.failures]
    assert failures == []
    passed = sum(result.tests_passed for result in report.results.values())
    assert (passed, opened) == (TESTS, 8)
