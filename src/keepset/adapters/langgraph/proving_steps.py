"""The steps of a graph that is proven: each says that it begins, and those side by side take turns.

LangGraph runs the tasks of one superstep at once. What comes first is then chance, and two runs of
the same graph differ. Here a task waits until those before it have ended and what they wrote is
stored: pushed ones first, then by name.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.pregel import Pregel

from keepset.adapters.langgraph.binding import is_bound

if TYPE_CHECKING:
    from keepset.adapters.langgraph.proving_points import Points

TASK: Final = "__pregel_task_id"
_CALL: Final = "__pregel_call"
_DURABILITY: Final = "__pregel_durability"
_MAP: Final = "checkpoint_map"
_PATIENCE: Final = 30.0
"""Seconds after which a task begins out of turn: one before it was never begun by LangGraph."""


class Superstep:
    """The tasks between two checkpoints.

    Attributes:
        nodes: Their nodes; empty until the checkpoint is known.
        landed: Ends when the checkpoint before them has landed.
    """

    def __init__(self) -> None:
        """Know no task yet."""
        self.nodes: tuple[str, ...] = ()
        self.landed: Future[None] = Future()
        self._ended: dict[str, Future[None]] = {}
        self._has_failed = False

    def expect(self, tasks: Sequence[tuple[str, str]]) -> None:
        """Take the ids and nodes of the tasks, in the order in which they are to run."""
        self.nodes = tuple(node for _, node in tasks)
        self._ended = {task: Future() for task, _ in tasks}

    def before(self, task: str) -> Iterator[Future[None]]:
        """Give what a task waits for."""
        yield self.landed
        if task in self._ended:
            for other, ended in self._ended.items():
                if other == task:
                    return
                yield ended

    def left(self, task: str, *, failed: bool = False) -> None:
        """Note that a task's function was left; one after a failure has its writes lost."""
        self._has_failed = self._has_failed or failed
        if self._has_failed:
            self.end(task)

    def end(self, task: str) -> None:
        """Let those after a task begin."""
        done(self._ended.get(task))

    def release(self) -> None:
        """Let all of them go on."""
        for one in (self.landed, *self._ended.values()):
            done(one)


def done(future: Future[None] | None) -> None:
    """Set a future, if it is not."""
    if future is not None and not future.done():
        future.set_result(None)


class Step(Runnable[Any, Any]):
    """A node's runnable that waits for its turn and says when it begins."""

    def __init__(self, label: str, bound: Runnable[Any, Any], points: Points) -> None:
        """Watch a node.

        Args:
            label: What a person calls it.
            bound: Its runnable.
            points: Hears of it.
        """
        self.name = getattr(bound, "name", None)
        self.bound = bound
        self._label = label
        self._points = points
        self._is_graph = is_bound(bound)  # then its nodes speak for themselves
        self._is_unsaved = isinstance(bound, Pregel) and bound.checkpointer is False

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's name
        """Run the node once it is its turn."""
        configurable = _configurable(config)
        for awaited in self._before(configurable):
            concurrent.futures.wait([awaited], _PATIENCE)
        with self._begun(configurable):
            return self.bound.invoke(input, self._seen(config), **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's name
        """See `invoke`."""
        configurable = _configurable(config)
        for awaited in self._before(configurable):
            if not awaited.done():
                await asyncio.wait([asyncio.wrap_future(awaited)], timeout=_PATIENCE)
        with self._begun(configurable):
            return await self.bound.ainvoke(input, self._seen(config), **kwargs)

    def _before(self, configurable: Mapping[str, Any]) -> Iterator[Future[None]]:
        return self._superstep(configurable).before(configurable.get(TASK, ""))

    def _superstep(self, configurable: Mapping[str, Any]) -> Superstep:
        namespace = str(configurable.get("checkpoint_ns") or "").rpartition("|")[0]
        checkpoint = (configurable.get(_MAP) or {}).get(namespace, "")
        return self._points.superstep(namespace, checkpoint)

    @contextmanager
    def _begun(self, configurable: Mapping[str, Any]) -> Iterator[None]:
        task, superstep = configurable.get(TASK, ""), self._superstep(configurable)
        self._points.require_alive()
        self._points.course.begun(task)
        if not self._is_graph:
            self._points.watch.began(self._label)
        try:
            yield
        except GraphInterrupt:
            if not self._is_graph:
                self._points.asked.append(self._label)
            superstep.left(task)
            raise
        except GraphBubbleUp:  # LangGraph stores nothing of it in this graph
            superstep.end(task)
            raise
        except BaseException:
            superstep.left(task, failed=True)
            raise
        superstep.left(task)

    def _seen(self, config: RunnableConfig | None) -> RunnableConfig | None:
        """Give a config in which the functional API's tasks say that they begin, too.

        A graph without checkpoints that is to wait for them does not run in LangGraph.
        """
        configurable = _configurable(config)
        if config is not None and self._is_unsaved:
            return {**config, "configurable": {**configurable, _DURABILITY: "async"}}
        call = configurable.get(_CALL)
        if config is None or call is None or self._is_graph:
            return config

        def calling(function: Any, *arguments: Any, **options: Any) -> Any:
            return call(self._task(function), *arguments, **options)

        return {**config, "configurable": {**configurable, _CALL: calling}}

    def _task(self, function: Callable[..., Any]) -> Callable[..., Any]:
        name = getattr(function, "__name__", None)
        if name is None:
            return function
        label = f"{self._label}.{name}"

        @wraps(function)
        def called(*arguments: Any, **named: Any) -> Any:
            self._points.watch.began(label)
            return function(*arguments, **named)

        @wraps(function)
        async def awaited(*arguments: Any, **named: Any) -> Any:
            self._points.watch.began(label)
            return await function(*arguments, **named)

        return awaited if inspect.iscoroutinefunction(function) else called


def _configurable(config: RunnableConfig | None) -> Mapping[str, Any]:
    return (config or {}).get("configurable") or {}
