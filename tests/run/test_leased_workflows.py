"""A workflow has its run to itself from before its first step to its end."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.errors import ConflictError
from tests.run.leased import (
    PATIENCE,
    lease,
    refusal,
)
from tests.run.states import Chat


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'runs.db'}"


class Steps:
    """A workflow of two steps, of which the second one waits."""

    def __init__(self) -> None:
        self.entered, self.go_on = threading.Event(), threading.Event()
        self.done: list[str] = []
        self.workflow = ks.Workflow(Chat, [self.ask, self.pay])

    def ask(self, _: Any) -> Any:
        self.done.append("ask")
        return {"question": "?"}

    def pay(self, _: Any) -> Any:
        self.done.append("pay")
        self.entered.set()
        assert self.go_on.wait(PATIENCE)
        return {"count": 1}


def test_a_second_workflow_of_a_live_run_is_refused_before_it_does_a_step(url: str) -> None:
    steps = Steps()
    with ks.open(url) as store:
        first = threading.Thread(target=steps.workflow.run, args=(store, "r", {}))
        first.start()
        assert steps.entered.wait(PATIENCE)
        error = refusal(lambda: steps.workflow.run(store, "r"))
        assert store.run(Chat, "r").state == {"question": "?"}, "who reads is not refused"
        steps.go_on.set()
        first.join()
        assert (error.code, steps.done) == ("run.leased", ["ask", "pay"])
        assert f"run r: process {os.getpid()} on {os.uname().nodename}" in error.message
        assert lease(store) is None
        assert steps.workflow.run(store, "r") == {"question": "?", "count": 1}


def test_of_two_workflows_that_begin_a_run_the_second_one_does_not_do_the_first_step(
    url: str,
) -> None:
    done, entered, go_on = [], threading.Event(), threading.Event()

    def charge(_: Any) -> Any:
        done.append("charge")
        entered.set()
        assert go_on.wait(PATIENCE)
        return {"count": 1}

    workflow = ks.Workflow(Chat, [charge])
    with ks.open(url) as store:
        first = threading.Thread(target=workflow.run, args=(store, "r", {}))
        first.start()
        assert entered.wait(PATIENCE)
        assert store.runs() == []
        assert refusal(lambda: workflow.run(store, "r", {})).code == "run.leased"
        go_on.set()
        first.join()
        assert (done, store.run(Chat, "r").state) == (["charge"], {"count": 1})


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("at", [0, 1])
def test_a_workflow_that_ends_with_an_error_has_no_lease_any_more(
    url: str, kind: type[BaseException], at: int
) -> None:
    """Nor has it left a run, where the error came before anything was saved."""
    broken = [True]

    def step(number: int) -> Callable[[Any], Any]:
        def one(_: Any) -> Any:
            if number == at and broken:
                raise kind(*broken)
            return {"count": number}

        one.__name__ = f"step {number}"
        return one

    workflow = ks.Workflow(Chat, [step(0), step(1)])
    with ks.open(url) as store:
        with pytest.raises(kind) as caught:
            workflow.run(store, "r", {})
        assert len(store.runs()) == at
        broken.clear()
        outcome: list[Any] = []
        other = threading.Thread(target=lambda: outcome.append(workflow.run(store, "r", {})))
        other.start()
        other.join()
        assert outcome == [{"count": 1}]
        assert caught.value is not None, "whose traceback refers to the first one"


def test_a_workflow_whose_run_is_deleted_while_its_first_step_runs_does_not_bring_it_back(
    url: str,
) -> None:
    with ks.open(url) as store:
        workflow = ks.Workflow(Chat, [step_of(lambda: store.delete("r"))])
        assert refusal(lambda: workflow.run(store, "r", {})).code == "conflict.deleted"
        assert store.runs() == []
        assert store.run(Chat, "r").state is None


def step_of(action: Callable[[], object]) -> Callable[[Any], Any]:
    def step(_: Any) -> Any:
        action()
        return {"count": 1}

    return step


def test_on_an_event_loop_a_second_workflow_is_refused_and_a_cancelled_one_gives_way(
    url: str,
) -> None:
    done: list[str] = []

    async def work() -> None:
        entered = asyncio.Event()

        async def pay(_: Any) -> Any:
            done.append("pay")
            entered.set()
            if len(done) == 1:
                await asyncio.sleep(PATIENCE)
            return {"count": len(done)}

        workflow = ks.Workflow(Chat, [pay])
        async with await ks.aopen(url) as store:
            first = asyncio.create_task(workflow.arun(store, "r", {}))
            await entered.wait()
            with pytest.raises(ConflictError) as caught:
                await workflow.arun(store, "r", {})
            assert caught.value.code == "run.leased"
            first.cancel()
            await asyncio.wait([first])
            assert await workflow.arun(store, "r", {}) == {"count": 2}

    asyncio.run(work())
