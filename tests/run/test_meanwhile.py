"""What others do between two requests of a reader is no damage."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.backends.port import Backend
from keepset.errors import KeepsetError
from keepset.plan.reads import ReadBlobs
from keepset.plan.requests import Flow
from keepset.plan.verify import verify_run
from keepset.run.reader import Reader
from tests.run.states import Chat

A, B = "first " * 20_000, "second " * 20_000


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


def driven(flow: Flow[Any], backend: Backend, meanwhile: Callable[[], object]) -> Any:
    """Run a flow that reads; do something once, just before it asks for large values."""
    answer: Any = None
    error: KeepsetError | None = None
    done = False
    try:
        while True:
            request: Any = flow.throw(error) if error else flow.send(answer)
            if isinstance(request, ReadBlobs) and not done:
                done = True
                meanwhile()
            answer = error = None
            try:
                answer = backend.execute(request)
            except KeepsetError as refused:
                error = refused
    except StopIteration as stop:
        assert done
        return stop.value


def saved(store: ks.Store) -> tuple[ks.Run, Reader]:
    run = store.run(Chat, "r")
    run.save("one", {"draft": A})
    run.save("two", {"draft": B})
    services = run.core.services
    return run, Reader(services, "r", services.inspector)


def test_a_run_that_is_pruned_while_it_is_verified_is_verified_as_it_then_is(url: str) -> None:
    with ks.open(url) as store:
        run, reader = saved(store)
        services = run.core.services
        flow = verify_run(reader.key, reader.mark, services.inspector)
        found = driven(flow, services.backend, lambda: store.prune("r", keep_latest=1))
        assert (found.problems, found.checkpoints) == ((), 1)


def test_a_run_that_is_deleted_while_it_is_verified_is_no_problem(url: str) -> None:
    with ks.open(url) as store:
        run, reader = saved(store)
        services = run.core.services
        flow = verify_run(reader.key, reader.mark, services.inspector)
        found = driven(flow, services.backend, lambda: store.delete("r"))
        assert (found.runs, found.problems) == (0, ())


def test_a_run_that_goes_on_and_is_pruned_while_it_is_loaded_is_loaded_as_it_then_is(
    url: str,
) -> None:
    with ks.open(url) as store:
        run, reader = saved(store)

        def go_on() -> None:
            run.save("three", {"draft": "short"})
            store.prune("r", keep_latest=1)

        _, _, values = driven(reader.load(), run.core.services.backend, go_on)
        assert values == {"draft": "short"}


def test_a_large_value_that_is_really_gone_is_told(url: str, tmp_path: Path) -> None:
    with ks.open(url) as store:
        run, reader = saved(store)
        services = run.core.services

        def damage() -> None:
            with closing(sqlite3.connect(tmp_path / "runs.db")) as other, other:
                other.execute("DELETE FROM blob")

        flow = verify_run(reader.key, reader.mark, services.inspector)
        found = driven(flow, services.backend, damage)
        assert [problem.code for problem in found.problems] == ["blob.missing"]
