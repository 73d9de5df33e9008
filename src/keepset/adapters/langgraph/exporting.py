"""Write threads into the tables of LangGraph's own savers, each whole or not at all.

A thread is written by the saver itself, checkpoint by checkpoint, in one transaction, and each is
read back and compared before the transaction ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from keepset.adapters.langgraph.address import config_of
from keepset.adapters.langgraph.exporting_comparing import (
    STRUCTURE,
    Compared,
    compare,
    misfit,
    unlike,
)
from keepset.adapters.langgraph.exporting_reading import Departure, Drive, Leaving, batches
from keepset.adapters.langgraph.exporting_restoring import Refetched
from keepset.adapters.langgraph.exporting_supplied import supplied
from keepset.adapters.langgraph.exporting_targets import Measured, Saver, Target, Unfit
from keepset.adapters.langgraph.threads import Threads
from keepset.adapters.moved import LeftOut, Moved, Outcome
from keepset.contracts import Refetch
from keepset.errors import ConflictError, DecodeError, KeepsetError, StoreError
from keepset.run.hosted.walking import walk

_ATTEMPTS: Final = 8


@dataclass(frozen=True, slots=True)
class Choices:
    """How threads are exported.

    Attributes:
        replace: Whether a thread that is there and differs is written anew.
        accept: Whether it is accepted where the host's saver makes another value of one, as it does
            of a tuple.
        refetched: What loads again what is not stored; None where nothing does.
    """

    replace: bool = False
    accept: bool = False
    refetched: Refetched | None = None


class Export:
    """Exports one thread after the other."""

    def __init__(
        self, threads: Threads, drive: Drive, target: Target, serde: Measured, choices: Choices
    ) -> None:
        """Take the parts.

        Args:
            threads: All threads of the store.
            drive: Carries flows out on it.
            target: Where they go.
            serde: The serializer of the savers there.
            choices: How.
        """
        self._threads = threads
        self._drive = drive
        self._target = target
        self._serde = serde
        self._choices = choices

    def run(self, run_id: str) -> Moved:
        """Export one run, and say what became of it.

        Raises:
            StoreError: The store or the target refuses; of this run nothing is there.
        """
        made, read = self._serde.made, self._serde.read
        for left in reversed(range(_ATTEMPTS)):
            try:
                moved = self._once(run_id)
            except ConflictError:  # it was shortened or written anew meanwhile
                if left:
                    continue
                moved = Moved(run_id, Outcome.UNREAD, why="it changed again and again meanwhile")
            break
        # What was written was read back, and what was there already was read.
        size = (self._serde.made - made) or (self._serde.read - read)
        return replace(moved, size=size)

    def _once(self, run_id: str) -> Moved:
        thread = self._threads.fresh(run_id)
        try:
            found = self._drive(walk(thread.reader))
            if found is None:
                return Moved(run_id, Outcome.LEFT, why="there is no run of this id")
            departure = Departure(self._threads, thread, found, self._choices.refetched)
            if not departure.is_langgraphs:
                return _no_thread(run_id)
            return self._turn(run_id, departure)
        except Unfit as error:
            return Moved(run_id, Outcome.LEFT, why=error.why)
        except (ConflictError, StoreError):
            raise
        except KeepsetError as error:
            return _unread(run_id, error)

    def _turn(self, run_id: str, departure: Departure) -> Moved:
        try:
            with self._target.turn(run_id) as turn:
                if turn.there and turn.reading is not None:
                    leaving = self._checkpoints(departure)
                    compared = compare(leaving, run_id, turn, self._made)
                    if not self._choices.replace or compared.outcome in _LEFT_ALONE:
                        return _there(run_id, compared, departure)
                    turn.writing.delete_thread(run_id)
                told = _Told()
                for one in self._checkpoints(departure):
                    self._write(turn.writing, run_id, one, told)
        except _Refused as refused:
            return Moved(
                run_id,
                Outcome.LEFT,
                why="the host's saver cannot hold it",
                hint=refused.hint,
                left=(refused.left,),
            )
        return Moved(
            run_id,
            Outcome.TAKEN,
            len(departure.walk.picks),
            why=self._supplied(departure),
            left=tuple(told.left),
            more=told.more,
            withheld=dict(departure.withheld),
        )

    def _supplied(self, departure: Departure) -> str:
        """Say what the thread has to be given where it goes on."""
        but = frozenset() if self._choices.refetched is None else _LOADED
        told = supplied(departure.walk.run.contract.structure, but=but)
        return f"not stored, to be given when it goes on: {told}" if told else ""

    def _checkpoints(self, departure: Departure) -> Iterator[Leaving]:
        for one in departure.checkpoints(self._drive):
            self._serde.knows(one.classes)
            yield one

    def _made(self, one: Leaving) -> Leaving:
        """Give a checkpoint as it is to be found where it has gone."""
        if not self._choices.accept:
            return one
        again = self._serde.again
        values = {name: again(value) for name, value in one.checkpoint["channel_values"].items()}
        tasks = [
            replace(task, writes=tuple((name, again(value)) for name, value in task.writes))
            for task in one.tasks
        ]
        checkpoint = {**one.checkpoint, "channel_values": values}
        return replace(one, checkpoint=checkpoint, tasks=tuple(tasks))

    def _write(self, saver: Saver, thread: str, one: Leaving, told: _Told) -> None:
        """Write a checkpoint, read it back, and compare."""
        at: Any = config_of(thread, one.namespace, one.parent)
        if not one.parent:
            del at["configurable"]["checkpoint_id"]
        here: Any = config_of(thread, one.namespace, one.id)
        try:
            saver.put(at, one.checkpoint, one.metadata, one.new)  # type: ignore[arg-type] # LangGraph's own
            for task in one.tasks:
                for batch in batches(task):
                    saver.put_writes(here, batch, task.id, task.path)
            got = saver.get_tuple(here)
        except Exception as error:  # whatever a serializer, a driver or a user's class raises
            found = misfit(one, self._target, self._serde)
            if found is None:
                raise
            raise _Refused(found) from error
        for left in unlike(one, got):
            if not self._choices.accept or left.surface == STRUCTURE:
                raise _Refused(left, "" if left.surface == STRUCTURE else _ACCEPT)
            told.add(left)


class _Told:
    """What became another value on its way, and is told."""

    def __init__(self) -> None:
        self.left: list[LeftOut] = []
        self.more = 0
        self._places: set[tuple[str, str, str]] = set()

    def add(self, found: LeftOut) -> None:
        place = (found.surface, found.path, found.why)
        if place in self._places:
            return
        if len(self.left) < _MOST:
            self._places.add(place)
            self.left.append(found)
        else:
            self.more += 1


class _Refused(Exception):  # noqa: N818 - a way out of a transaction
    """A checkpoint cannot go where it should."""

    def __init__(self, left: LeftOut, hint: str = "") -> None:
        super().__init__(left.why)
        self.left = left
        self.hint = hint


_LOADED: Final = frozenset({Refetch.__name__})
_MOST: Final = 20
_LEFT_ALONE: Final = frozenset({Outcome.THERE, Outcome.AHEAD})
_ACCEPT: Final = "--accept-changes takes what the host's saver makes of it."


def _there(run_id: str, compared: Compared, departure: Departure) -> Moved:
    left = () if compared.left is None else (compared.left,)
    hint = "" if compared.outcome in _LEFT_ALONE else "--replace writes it anew."
    return Moved(
        run_id,
        compared.outcome,
        len(departure.walk.picks),
        hint=hint,
        left=left,
        withheld=dict(departure.withheld),
    )


def _no_thread(run_id: str) -> Moved:
    return Moved(
        run_id,
        Outcome.LEFT,
        why="it is no LangGraph thread",
        hint="--to FILE.jsonl takes any run.",
    )


def _unread(run_id: str, error: KeepsetError) -> Moved:
    is_class = isinstance(error, DecodeError) and error.code == "decode.unknown-type"
    hint = "--types MODULE:CLASS or --graph MODULE:NAME gives it." if is_class else error.hint
    outcome = Outcome.LEFT if is_class else Outcome.UNREAD
    return Moved(run_id, outcome, why=f"{error.message} [{error.code}]", hint=hint)
