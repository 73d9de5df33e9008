"""Run an operation that was written once, synchronously or asynchronously.

An operation is a generator (`keepset.plan.requests.Flow`): it yields plans and calls, and
receives what they gave, or their exception at the place of the yield.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import wait
from typing import Any, TypeVar

from keepset.backends.outcome import Outcome
from keepset.backends.port import Backend
from keepset.errors import KeepsetError, UsageError
from keepset.plan.requests import Call, Flow, Request, Wait, Write

T = TypeVar("T")

_NOTHING = Outcome()
"""What a flow begins with."""


def drive(flow: Flow[T], backend: Backend) -> T:
    """Run a flow to its end in this thread.

    When the thread is interrupted during a write that has begun, the write is waited for and its
    result handed to the flow, so that what the flow remembers is what the store holds; the
    interrupt is raised at the flow's next request or at its end. During anything else the flow
    ends at once.

    Raises:
        UsageError: ``flow.async-callable``: a call needs an event loop.
        KeepsetError: What the flow raises.
    """
    outcome = _NOTHING
    interrupt: BaseException | None = None
    try:
        while True:
            request = flow.throw(outcome.error) if outcome.error else flow.send(outcome.value)
            if interrupt:
                raise interrupt
            outcome = Outcome()
            if isinstance(request, Write):
                interrupt = _write(request, backend, outcome)
            else:
                with outcome:
                    outcome.value = _answer(request, backend)
    except StopIteration as stop:
        if interrupt:
            raise interrupt from None
        result: T = stop.value
        return result
    except KeepsetError as error:
        if interrupt:
            raise interrupt from error
        raise
    finally:
        flow.close()


async def adrive(flow: Flow[T], backend: Backend) -> T:
    """Run a flow to its end on the running event loop, without blocking it.

    When the task is cancelled during a write, the write is waited for and its result handed to
    the flow, so that what the flow remembers is what the store holds; the cancellation is raised
    at the flow's next request or at its end. During anything else the flow ends at once.

    Raises:
        KeepsetError: What the flow raises.
    """
    outcome = _NOTHING
    cancelled: asyncio.CancelledError | None = None
    try:
        while True:
            request = flow.throw(outcome.error) if outcome.error else flow.send(outcome.value)
            if cancelled:
                raise cancelled
            outcome = Outcome()
            if isinstance(request, Write):
                cancelled = await _settle(backend.aexecute(request), outcome)
            else:
                with outcome:
                    outcome.value = await _aanswer(request, backend)
    except StopIteration as stop:
        if cancelled:
            raise cancelled from None
        result: T = stop.value
        return result
    except KeepsetError as error:
        if cancelled:
            raise cancelled from error
        raise
    finally:
        flow.close()


def _write(plan: Write[Any], backend: Backend, outcome: Outcome) -> BaseException | None:
    """Execute a write; give the interrupt that came before it was done, if any."""
    try:
        backend.settle(plan, outcome)
    except KeepsetError as error:
        outcome.error = error
    except BaseException as interrupt:
        if not outcome.settled:
            raise
        return interrupt
    return None


def _answer(request: Request, backend: Backend) -> Any:
    if isinstance(request, Wait):
        return wait((request.work,), request.seconds)
    if not isinstance(request, Call):
        return backend.execute(request)
    if _is_async(request.function):
        raise _needs_a_loop(request.function)
    result = _called(request.function, request.arguments)
    if inspect.iscoroutine(result):
        result.close()
        raise _needs_a_loop(request.function)
    return result


def _called(function: Callable[..., Any], arguments: tuple[object, ...]) -> Any:
    """Call a user's function; its StopIteration would end the flow, or never leave a thread."""
    try:
        return function(*arguments)
    except StopIteration as error:
        name = getattr(function, "__qualname__", type(function).__name__)
        msg = f"{name} raised StopIteration"
        raise RuntimeError(msg) from error


async def _aanswer(request: Request, backend: Backend) -> Any:
    if isinstance(request, Wait):
        return await asyncio.wait((asyncio.wrap_future(request.work),), timeout=request.seconds)
    if not isinstance(request, Call):
        return await backend.aexecute(request)
    if _is_async(request.function):
        return await request.function(*request.arguments)
    result = await asyncio.to_thread(_called, request.function, request.arguments)
    return await result if inspect.iscoroutine(result) else result


async def _settle(work: Awaitable[Any], outcome: Outcome) -> asyncio.CancelledError | None:
    """Wait until the work has ended; give the cancellation that came meanwhile, if any."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    with outcome:
        outcome.value = task.result()
    return cancelled


def _is_async(function: Callable[..., Any]) -> bool:
    called = type(function).__call__ if not inspect.isroutine(function) else function
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _needs_a_loop(function: Callable[..., Any]) -> UsageError:
    name = getattr(function, "__qualname__", type(function).__name__)
    return UsageError(
        f"{name} is asynchronous, and this store is not",
        code="flow.async-callable",
        hint="Open the store with `await keepset.aopen(...)`, or give a plain function.",
    )
