"""Play a script on a graph: its turns, and the answers to what it asks."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple
from langgraph.types import Command

from keepset.prove.ports import Life, Progress

if TYPE_CHECKING:
    from keepset.adapters.langgraph.proving_points import Next, Points

_INTERRUPT: Final = "__interrupt__"


@dataclass(frozen=True, slots=True)
class Run:
    """Call the graph; the answer is the state that it ends with."""

    given: Any


@dataclass(frozen=True, slots=True)
class Look:
    """Read the newest checkpoint of a namespace; the answer is None where there is none."""

    namespace: str


Act = Run | Look
Acts = Generator[Act, Any, Any]


@dataclass(frozen=True, slots=True)
class Pending:
    """A question without an answer.

    Attributes:
        task: The task of the outermost graph in which it was asked.
        question: Id of the interrupt.
    """

    task: str
    question: str


class Course:
    """How far the script of a life is."""

    def __init__(self, life: Life) -> None:
        """Begin where the life before ended."""
        since = life.since or Progress()
        self.is_resuming = life.since is not None
        self._script = life.script
        self._turn = since.turn
        self._answered = since.answered
        self._handed: tuple[str, ...] = ()

    @property
    def progress(self) -> Progress:
        """What has been used up: an answer that waits for its task is lost if the process dies."""
        return Progress(self._turn, self._answered - len(self._handed))

    @property
    def has_turns(self) -> bool:
        """Whether a turn is left."""
        return self._turn < len(self._script.inputs)

    @property
    def has_answers(self) -> bool:
        """Whether an answer is left."""
        return self._answered < len(self._script.answers)

    def turn(self) -> Any:
        """Begin the next turn: give its input."""
        self._turn += 1
        return self._script.inputs[self._turn - 1]

    def answer(self, pending: Sequence[Pending]) -> Command[Any]:
        """Answer what is asked, for as long as there are answers.

        Each is given under the id of its question: LangGraph would store one without an id at once,
        for whichever task asks next.
        """
        given = self._script.answers[self._answered : self._answered + len(pending)]
        self._answered += len(given)
        self._handed = tuple(one.task for one in pending[: len(given)])
        answers = zip(pending, given, strict=False)
        return Command(resume={one.question: answer for one, answer in answers})

    def begun(self, task: str) -> None:
        """Note that a task begins, and has the answers that wait for it."""
        self._handed = tuple(one for one in self._handed if one != task)


class Play:
    """Plays the rest of a script."""

    def __init__(self, points: Points, *, pauses: bool) -> None:
        """Play a life.

        Args:
            points: What is told of it.
            pauses: Whether the graph may pause without asking (``interrupt_before``).
        """
        self._points = points
        self._course = points.course
        self._pauses = pauses

    def acts(self) -> Acts:
        """Say what to do, one after the other; gives the last state, None where nothing ran."""
        state: Any = None
        given = yield from self._first()
        while given is not None:
            state = yield given
            given = yield from self._then()
        return state

    def _first(self) -> Generator[Act, Any, Run | None]:
        if not self._course.is_resuming:
            return self._turn()
        found: CheckpointTuple | None = yield Look("")
        if found is None:
            return self._turn()
        pending = yield from self._pending(found)
        if pending:
            return self._answer(pending)
        return Run(None) if self._next("", found) else self._turn()

    def _then(self) -> Generator[Act, Any, Run | None]:
        """Say what comes after a run: the answer to what it asks, or the next turn."""
        asked, self._points.asked[:] = sorted(set(self._points.asked)), []
        if asked and self._course.has_answers:
            self._points.tell(f"at question in {'+'.join(asked)}")
            found = yield Look("")
            return self._answer((yield from self._pending(found)))
        if asked:
            self._points.watch.waiting = f"at a question in {'+'.join(asked)}"
            return None
        if self._pauses:
            found = yield Look("")
            if found is not None and self._next("", found):
                return Run(None)
        return self._turn()

    def _turn(self) -> Run | None:
        return Run(self._course.turn()) if self._course.has_turns else None

    def _answer(self, pending: Sequence[Pending]) -> Run | None:
        return Run(self._course.answer(pending)) if pending and self._course.has_answers else None

    def _next(self, namespace: str, found: CheckpointTuple) -> list[Next]:
        return self._points.next(namespace, found.checkpoint, found.metadata.get("step", -1))

    def _pending(self, found: CheckpointTuple) -> Generator[Act, Any, list[Pending]]:
        """Give the questions without an answer, in the order in which the tasks run here."""
        pending: list[Pending] = []
        for task in self._next("", found):
            questions = yield from self._asked(task, found)
            pending += [Pending(task.id, question) for question in questions]
        return pending

    def _asked(self, task: Next, found: CheckpointTuple) -> Generator[Act, Any, list[str]]:
        """Give what a task has asked; a graph has asked what its tasks have."""
        own = [(chan, value) for name, chan, value in found.pending_writes or [] if name == task.id]
        if any(channel not in WRITES_IDX_MAP for channel, _ in own):
            return []
        asked = [one.id for channel, value in own if channel == _INTERRUPT for one in value]
        inner: CheckpointTuple | None = None
        if asked and self._points.knows(task.inside):
            inner = yield Look(task.inside)
        if inner is None:
            return asked
        within: list[str] = []
        for below in self._next(task.inside, inner):
            within += yield from self._asked(below, inner)
        return within


def look_at(namespace: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Give the config that reads the newest checkpoint of a namespace."""
    return {"configurable": {**config["configurable"], "checkpoint_ns": namespace}}
