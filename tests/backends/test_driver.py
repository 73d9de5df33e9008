"""Flows run on a backend: what they yield is done, and what goes wrong reaches them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any

import pytest

from keepset.backends import adrive, drive
from keepset.backends.sqlite import SQLiteBackend, open_memory
from keepset.errors import ConflictError, KeepsetError, UsageError
from keepset.plan.reads import FindRun, ReadEverything
from keepset.plan.requests import Call, Flow, Wait
from keepset.testing.contract.base import Scribe


@pytest.fixture
def backend() -> Iterator[SQLiteBackend]:
    opened = open_memory()
    yield opened
    opened.close()


def _calls(*calls: Call[Any]) -> Flow[list[Any]]:
    results = list[Any]()
    for call in calls:
        result = yield call
        results.append(result)
    return results


async def _double(value: int) -> int:
    await asyncio.sleep(0)
    return value * 2


def _hidden(value: int) -> Any:
    return _double(value)


class _Doubler:
    async def __call__(self, value: int) -> int:
        return await _double(value)


def test_a_flow_receives_what_its_plans_and_calls_gave(backend: SQLiteBackend) -> None:
    scribe = Scribe(backend)

    def flow() -> Flow[tuple[Any, ...]]:
        before = yield scribe.find()
        saved = yield scribe.plan()
        called = yield Call(max, (1, 2))
        after = yield scribe.find()
        return before.run, saved.fence.token, called, after.run.key

    assert drive(flow(), backend) == (None, 1, 2, scribe.key)
    scribe.run_id = "another"
    assert asyncio.run(adrive(flow(), backend)) == (None, 1, 2, scribe.key)


def test_a_flow_can_handle_what_was_refused(backend: SQLiteBackend) -> None:
    scribe = Scribe(backend).save_many(1)
    scribe.head = 9

    def flow() -> Flow[str]:
        try:
            yield scribe.plan()
        except ConflictError as error:
            yield scribe.find()
            return error.code
        return "nothing was refused"

    assert drive(flow(), backend) == "conflict.head"
    assert asyncio.run(adrive(flow(), backend)) == "conflict.head"


def test_what_a_callable_raises_reaches_the_flow_and_then_the_caller(
    backend: SQLiteBackend,
) -> None:
    for run in (drive, lambda flow, on: asyncio.run(adrive(flow, on))):
        with pytest.raises(ZeroDivisionError):
            run(_calls(Call(divmod, (1, 0))), backend)


def test_a_coroutine_function_is_awaited_and_a_plain_one_leaves_the_loop_free(
    backend: SQLiteBackend,
) -> None:
    calls: list[Call[Any]] = [
        Call(_double, (1,)),
        Call(partial(_double, 2)),
        Call(_Doubler(), (3,)),
        Call(lambda: _double(4)),
        Call(threading.get_ident),
    ]
    *values, thread = asyncio.run(adrive(_calls(*calls), backend))
    assert values == [2, 4, 6, 8]
    assert thread != threading.get_ident()


@pytest.mark.parametrize("function", [_double, partial(_double), _Doubler(), _hidden])
def test_a_coroutine_function_is_refused_where_there_is_no_loop(
    backend: SQLiteBackend, function: Any
) -> None:
    with pytest.raises(UsageError) as caught:
        drive(_calls(Call(function, (1,))), backend)
    assert caught.value.code == "flow.async-callable"


def test_a_flow_that_is_cancelled_during_a_save_remembers_it(backend: SQLiteBackend) -> None:
    scribe, events = Scribe(backend), list[str]()

    def flow() -> Flow[None]:
        saved = yield scribe.plan()
        events.append(f"saved {saved.line.branch}")
        yield scribe.find()
        events.append("went on")

    async def cancel_in_the_middle() -> None:
        task = asyncio.ensure_future(adrive(flow(), backend))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel_in_the_middle())
    assert events == ["saved 0"]
    assert len(backend.execute(ReadEverything(scribe.key)).lines[0].steps) == 1


def test_a_flow_that_is_cancelled_and_fails_is_cancelled(backend: SQLiteBackend) -> None:
    scribe = Scribe(backend).save_many(1)
    scribe.head = 9

    async def cancel_in_the_middle() -> None:
        def flow() -> Flow[None]:
            yield scribe.plan()

        task = asyncio.ensure_future(adrive(flow(), backend))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        assert isinstance(caught.value.__cause__, KeepsetError)

    asyncio.run(cancel_in_the_middle())


def test_a_flow_that_is_cancelled_while_it_waits_cleans_up(backend: SQLiteBackend) -> None:
    events = []

    def flow() -> Generator[Any, Any, None]:
        try:
            yield Call(asyncio.sleep, (3600,))
        finally:
            events.append("cleaned up")

    async def cancel_in_the_middle() -> None:
        task = asyncio.ensure_future(adrive(flow(), backend))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel_in_the_middle())
    assert events == ["cleaned up"]


def test_an_interrupt_ends_the_flow(backend: SQLiteBackend) -> None:
    events = []

    def interrupt() -> None:
        raise KeyboardInterrupt

    def flow() -> Flow[None]:
        try:
            yield Call(interrupt)
        finally:
            events.append("cleaned up")

    with pytest.raises(KeyboardInterrupt):
        drive(flow(), backend)
    assert events == ["cleaned up"]


def test_a_flow_without_requests_gives_its_result(backend: SQLiteBackend) -> None:
    def flow() -> Flow[int]:
        if backend is None:
            yield FindRun(Scribe(backend).key, b"")
        return 7

    assert drive(flow(), backend) == asyncio.run(adrive(flow(), backend)) == 7


def _waits(work: Future[None], seconds: float) -> Flow[bool]:
    done, _ = yield Wait(work, seconds)
    return bool(done)


def test_a_flow_waits_for_the_work_of_another_one_and_not_for_ever(backend: SQLiteBackend) -> None:
    work = Future[None]()
    assert drive(_waits(work, 0.01), backend) is False
    assert asyncio.run(adrive(_waits(work, 0.01), backend)) is False
    other = threading.Thread(target=work.set_result, args=(None,))
    other.start()
    assert drive(_waits(work, 60), backend) is True
    other.join()


def test_a_flow_on_an_event_loop_waits_for_one_on_the_same_loop(backend: SQLiteBackend) -> None:
    work = Future[None]()

    def does() -> Flow[None]:
        yield Call(work.set_result, (None,))

    async def both() -> list[Any]:
        waits = [adrive(_waits(work, 60), backend) for _ in range(20)]
        return await asyncio.gather(*waits, adrive(does(), backend))

    assert asyncio.run(both()) == [*([True] * 20), None]
