"""Hand an answer to the question that was asked, and to no other.

LangGraph counts the interrupts of a task and hands out answers in that order: an ``interrupt()``
that a change of the code put before another one gets the other one's answer. Here a node sees each
of its interrupts as it is called: its place, the function that calls it, and its value. They are
stored beside the interrupt, the value as a digest, and compared when the node runs again, before an
answer is handed over.

The counter lies in a task's scratchpad, which is LangGraph's own (`langgraph._internal`): what is
read of it here is read in no other module, and tested with each release that is supported.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
from itertools import count
from types import CodeType, FrameType
from typing import Any, Final

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config

from keepset.adapters.langgraph.checkpoints import ASKED, damaged
from keepset.adapters.langgraph.continuing import Bounded
from keepset.adapters.langgraph.executing import execution_of
from keepset.adapters.langgraph.handed import RETURN, hand, pictured_by
from keepset.adapters.langgraph.needs import code_of, function_of
from keepset.adapters.langgraph.standing import INTERRUPT
from keepset.contracts import Field, Keep
from keepset.errors import SchemaError, UsageError
from keepset.run.hosted import Surface

POLICIES: Final = ("refuse", "accept")
_SCRATCHPAD: Final = "__pregel_scratchpad"
_TASK: Final = "__pregel_task_id"
_CALL: Final = "__pregel_call"
SAVER: Final = "__pregel_checkpointer"
_ASKED: Final = [str, bool, bytes]
_ASKING: Final = ("langgraph.types", "interrupt")
_FIELD: Final = Field(INTERRUPT, object, Keep(), declared=True, required=False)

_log = logging.getLogger("keepset")


@dataclass(frozen=True, slots=True)
class Question:
    """One call of ``interrupt()``.

    Attributes:
        caller: Qualified name of the function that called it, without its module.
        own: Whether that is the node's own function.
        value: What was asked.
    """

    caller: str
    own: bool
    value: Any


@dataclass(frozen=True, slots=True)
class Asked:
    """What was stored of a question."""

    caller: str
    own: bool
    digest: bytes


@dataclass(frozen=True)
class Earlier:
    """What a thread's tasks have asked when they ran before.

    Attributes:
        asked: What each task has asked, by its place.
        waiting: The tasks whose questions are, or were, without an answer.
        surface: What values go through before a digest is taken of them.
        renamed: Tells whether a node had another name.
        place: The thread, and the namespace, as a message may say them.
    """

    asked: Mapping[str, Sequence[Asked | None]]
    waiting: frozenset[str]
    surface: Surface
    renamed: Callable[[str], bool]
    place: str


class Questions:
    """The questions that the nodes of a binding's graphs ask."""

    def __init__(self, on_changed: str, renamed: Callable[[str], bool]) -> None:
        """Begin with none.

        Args:
            on_changed: ``refuse`` or ``accept``: what becomes of an answer whose question has
                another value than the one that was answered.
            renamed: Tells whether a node had another name.

        Raises:
            UsageError: ``langgraph.on-changed-interrupt``: it is neither.
        """
        if on_changed not in POLICIES:
            raise UsageError(
                "on_changed_interrupt is neither refuse nor accept",
                code="langgraph.on-changed-interrupt",
                hint='Write on_changed_interrupt="refuse", which is what happens without it.',
            )
        self._accepts = on_changed == "accept"
        self._renamed = renamed
        self._now: Bounded[dict[int, Question]] = Bounded()
        self._before: Bounded[Earlier] = Bounded()

    # --- on the way to and from the store ---------------------------------------------------------

    def stored(
        self, thread: str, task: str, writes: Sequence[tuple[str, Any]], surface: Surface
    ) -> list[tuple[str, Any]]:
        """Give what is stored beside a task's interrupts: all that it has asked so far.

        Raises:
            PolicyError: A value cannot be stored.
        """
        asked = self._now.get((thread, task))
        if not asked or not any(channel == INTERRUPT for channel, _ in writes):
            return []
        rows = (asked.get(place) for place in range(max(asked) + 1))
        told = [row and [row.caller, row.own, digest(row.value, surface)] for row in rows]
        return [(ASKED, told)]

    def expect(
        self, thread: str, namespace: str, writes: Sequence[tuple[str, str, Any]], surface: Surface
    ) -> None:
        """Take note of what a checkpoint's tasks have asked, as a run goes on with it."""
        asked = {task: _read(value) for task, channel, value in writes if channel == ASKED}
        waiting = frozenset(task for task, channel, _ in writes if channel == INTERRUPT)
        place = f"thread {thread}, namespace {namespace}" if namespace else f"thread {thread}"
        place = surface.services.scanner.text(place)
        earlier = Earlier(asked, waiting, surface, self._renamed, place)
        self._before.put((thread, namespace), earlier)

    # --- in a node --------------------------------------------------------------------------------

    def watched(self, node: str, bound: Runnable[Any, Any]) -> Runnable[Any, Any]:
        """Give a node's runnable whose interrupts are seen."""
        return _Watched(node, bound, self)

    @contextmanager
    def seeing(
        self, node: str, code: CodeType | None, config: RunnableConfig | None
    ) -> Iterator[RunnableConfig | None]:
        """See the interrupts of a task: its config finds the way into ``interrupt()`` from here.

        What they are compared with is known to the saver that the task runs with. That of a graph
        that runs inside another one is the other one's.

        Args:
            node: Its node, or the name of its function.
            code: The code of its own function.
            config: Its config.

        Raises:
            KeepsetError: A checkpoint before it was refused: the task does not begin.
        """
        configurable = (config or {}).get("configurable") or {}
        execution = execution_of(config)
        if execution is not None:
            namespace = str(configurable.get("checkpoint_ns") or "")
            execution.require_saved(str(configurable.get("thread_id")), namespace)
        known = _known_to(configurable.get(SAVER))
        if config is None or known is None or not {_SCRATCHPAD, _TASK} <= configurable.keys():
            yield config
        else:
            with known.noting(node, code, config) as own:
                yield own

    @contextmanager
    def noting(
        self, node: str, code: CodeType | None, config: RunnableConfig
    ) -> Iterator[RunnableConfig]:
        """See the interrupts of a task that runs with the saver of this binding; see `seeing`."""
        configurable = config["configurable"]
        key = (str(configurable.get("thread_id")), configurable[_TASK])
        seen: dict[int, Question] = {}
        self._now.put(key, seen)
        changes = {_SCRATCHPAD: self._scratchpad(node, code, configurable, seen)}
        if _CALL in configurable:
            changes[_CALL] = self._calling(configurable[_CALL])
        own: RunnableConfig = {**config, "configurable": {**configurable, **changes}}
        before = var_child_runnable_config.set(own)
        try:
            yield own
        finally:
            var_child_runnable_config.reset(before)
        self._now.pop(key, None)  # it has ended, and asks no more

    def _scratchpad(
        self,
        node: str,
        code: CodeType | None,
        configurable: Mapping[str, Any],
        seen: dict[int, Question],
    ) -> Any:
        scratchpad, task = configurable[_SCRATCHPAD], configurable[_TASK]
        namespace = str(configurable.get("checkpoint_ns") or "")
        before = self._earlier(str(configurable.get("thread_id")), namespace)
        asked: Sequence[Asked | None] = ()
        if before is not None:
            asked = before.asked.get(task, ())
            if before.waiting and task not in before.waiting:
                scratchpad = replace(scratchpad, get_null_resume=_no_answer)
        counter = _Counter(node, code, scratchpad, seen, asked, before, self._accepts)
        return replace(scratchpad, interrupt_counter=counter)

    def _earlier(self, thread: str, namespace: str) -> Earlier | None:
        """Give what was asked in the graph of a task: the nearest one that has gone on."""
        before: Earlier | None = None
        while before is None and namespace:
            namespace = namespace.rpartition("|")[0]  # a task may have been called by another task
            before = self._before.get((thread, namespace))
        return before

    def _calling(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Give what the functional API calls tasks with, so that theirs are seen as well."""

        def calling(function: Any, *arguments: Any, **options: Any) -> Any:
            return call(self._task(function), *arguments, **options)

        return calling

    def _task(self, function: Any) -> Any:
        """Give a task's function whose interrupts are seen; it keeps the name that its id has."""
        name, code = getattr(function, "__name__", None), code_of(function)
        if name is None or code is None:
            return function
        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def seen_later(*arguments: Any, **named: Any) -> Any:
                with self.seeing(name, code, var_child_runnable_config.get()) as config:
                    return self._returned(name, await function(*arguments, **named), config)

            return seen_later

        @wraps(function)
        def seen(*arguments: Any, **named: Any) -> Any:
            with self.seeing(name, code, var_child_runnable_config.get()) as config:
                return self._returned(name, function(*arguments, **named), config)

        return seen

    def _returned(self, name: str, value: Any, config: RunnableConfig | None) -> Any:
        """Keep a picture of what a task returns, which whoever called it may change at once."""
        configurable = (config or {}).get("configurable") or {}
        execution, thread = execution_of(config), str(configurable.get("thread_id"))
        before = self._earlier(thread, str(configurable.get("checkpoint_ns") or ""))
        if execution is not None and before is not None and _TASK in configurable:
            codec = before.surface.guard.codec
            hand(execution.handed, (configurable[_TASK], name), RETURN, value, pictured_by(codec))
        return value


class _Watched(Runnable[Any, Any]):
    """A node's runnable that lets its interrupts be seen."""

    def __init__(self, node: str, bound: Runnable[Any, Any], questions: Questions) -> None:
        self.name = getattr(bound, "name", None)
        self.bound = bound
        self._of = (node, code_of(function_of(bound)))
        self._questions = questions

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's name
        with self._questions.seeing(*self._of, config) as own:
            return self.bound.invoke(input, own, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's name
        with self._questions.seeing(*self._of, config) as own:
            return await self.bound.ainvoke(input, own, **kwargs)


@dataclass(frozen=True, slots=True)
class _Counter:
    """Takes the place of a task's counter of interrupts: sees each before it gets its answer."""

    node: str
    code: CodeType | None
    scratchpad: Any
    seen: dict[int, Question]
    asked: Sequence[Asked | None]
    before: Earlier | None
    accepts: bool
    places: Iterator[int] = field(default_factory=count)
    """Counted anew each time a node is tried: LangGraph 1.0 went on from the attempt before."""

    def __call__(self) -> int:
        place = next(self.places)
        question = _question(sys._getframe(1), self.code)  # noqa: SLF001 - the caller is what counts
        if question is None:
            _log.warning(
                "this release of LangGraph asks in a way that keepset does not know: answers to "
                "the interrupts of node %s are not compared with their questions",
                self.node,
            )
            return place
        if place < len(self.asked) and self._has_answer(place):
            self._compare(place, self.asked[place], question)
        self.seen[place] = question
        return place

    def _has_answer(self, place: int) -> bool:
        pad = self.scratchpad
        return place < len(pad.resume) or pad.get_null_resume(False) is not None  # noqa: FBT003 - LangGraph's

    def _compare(self, place: int, asked: Asked | None, now: Question) -> None:
        if asked is None or self.before is None:
            return
        where = f"{self.before.place}, node {self.node}, interrupt {place}"
        if asked.caller != now.caller and not self._is_renamed(asked, now):
            raise SchemaError(
                f"{where}: the question was asked by {asked.caller} and is asked by {now.caller} "
                "now, so that the answer belongs to another one",
                code="langgraph.question-moved",
                hint=_HINT,
            )
        same = asked.digest == digest(now.value, self.before.surface)
        if not same and not self.accepts:
            raise SchemaError(
                f"{where}: {now.caller} asks for something else than what was answered",
                code="langgraph.question-changed",
                hint=f'{_HINT} on_changed_interrupt="accept" hands the answer over.',
            )

    def _is_renamed(self, asked: Asked, now: Question) -> bool:
        """Tell whether a node's own function is called after the node, and both have new names."""
        if not (asked.own and now.own) or self.before is None:
            return False
        return self.before.renamed(self.node)


_HINT: Final = (
    "The answer is still there: go on with the code that asked, or run the checkpoint again with "
    "invoke(None, its config), so that the question is asked anew."
)


def _known_to(saver: object) -> Questions | None:
    """Give what a saver knows of questions; None for one that is bound to no graph, or not ours."""
    return getattr(getattr(saver, "binding", None), "questions", None)


def _no_answer(_consume: bool = False) -> None:  # noqa: FBT001, FBT002 - LangGraph's signature
    """Give a task that asks for the first time no answer that was meant for another one."""


def _question(frame: FrameType, own: CodeType | None) -> Question | None:
    """Read a call of ``interrupt()`` from its frame; None where it is not what it was."""
    asking = (frame.f_globals.get("__name__"), frame.f_code.co_name)
    caller = frame.f_back
    if asking != _ASKING or caller is None or "value" not in frame.f_locals:
        return None
    code = caller.f_code
    return Question(code.co_qualname, code is own, frame.f_locals["value"])


def _read(value: Any) -> list[Asked | None]:
    """Read what was stored beside a task's interrupts.

    Raises:
        DecodeError: ``langgraph.damaged``: it is nothing that was ever stored there.
    """
    rows = value if isinstance(value, list) else [value]
    for row in rows:
        if row is not None and (type(row) is not list or [*map(type, row)] != _ASKED):
            raise damaged("what is stored beside an interrupt")
    return [None if row is None else Asked(*row) for row in rows]


def digest(value: Any, surface: Surface) -> bytes:
    """Take the digest of a question's value as it is stored: what is secret in it is masked.

    Raises:
        PolicyError: It cannot be stored.
    """
    guard, where = surface.guard, (INTERRUPT,)
    put = guard.decide(_FIELD, value, where, guard.look(_FIELD, value, where))
    packed = guard.codec.pack(value, where, substitute=put or None)
    return hashlib.sha256(packed).digest()[:16]
