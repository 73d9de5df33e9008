"""keepset, with its defaults: detectors on, changes in place noticed, the whole history kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter_ns
from typing import Annotated, Any, Literal, TypedDict, cast

import keepset as ks
from keepset.cli.bench.system import Begin, Loaded, Save, Written
from keepset.cli.bench.workload import Change, History, State
from keepset.errors import KeepsetError

Kept = Annotated[Any, ks.Keep()]


class Lean(TypedDict, total=False):
    """What belongs in a checkpoint."""

    question: Annotated[str, ks.Keep()]
    ids: Annotated[list[str], ks.Keep()]
    messages: Annotated[list[dict[str, Any]], ks.Keep()]
    counter: Annotated[int, ks.Keep()]
    flags: Annotated[dict[str, bool], ks.Keep()]


class Growing(TypedDict, total=False):
    """The same, with messages that are declared to grow at their end only."""

    question: Annotated[str, ks.Keep()]
    ids: Annotated[list[str], ks.Keep()]
    messages: Annotated[list[dict[str, Any]], ks.Keep(append_only=True)]
    counter: Annotated[int, ks.Keep()]
    flags: Annotated[dict[str, bool], ks.Keep()]


class Naive(Lean, total=False):
    """The same, and what does not belong."""

    documents: Annotated[list[dict[str, str]], ks.Keep()]
    response: Annotated[dict[str, Any] | None, ks.Keep()]


class Draft(TypedDict, total=False):
    """A long text."""

    question: Annotated[str, ks.Keep()]
    counter: Annotated[int, ks.Keep()]
    draft: Annotated[str, ks.Keep()]


class Notes(TypedDict, total=False):
    """A list that rarely changes."""

    question: Annotated[str, ks.Keep()]
    counter: Annotated[int, ks.Keep()]
    notes: Annotated[list[dict[str, Any]], ks.Keep()]


class Window(TypedDict, total=False):
    """The newest messages."""

    question: Annotated[str, ks.Keep()]
    counter: Annotated[int, ks.Keep()]
    messages: Annotated[list[dict[str, Any]], ks.Keep()]


CONTRACTS = {
    "lean": Lean,
    "append_only": Growing,
    "naive": Naive,
    "drafts": Draft,
    "rare": Notes,
    "trim": Window,
}
RUN = "run"


class Measured:
    """Saves through `keepset.open` and `Run.save`, as a user does."""

    refusals = (KeepsetError,)

    def create(self, path: Path) -> None:
        """See `System.create`."""
        ks.open(_url(path)).close()

    def write(self, path: Path, history: History, durability: str) -> Written:
        """See `System.write`."""
        took, marks = [], []
        state = history.begin()
        chosen = cast("Literal['full', 'normal']", durability)
        with ks.open(_url(path), durability=chosen) as store:
            run = store.run(CONTRACTS[history.name], RUN)
            for change in history.changes:
                history.apply(state, change)
                begun = perf_counter_ns()
                checkpoint = run.save("step", state)
                took.append(perf_counter_ns() - begun)
                marks.append(checkpoint.id)
        return Written(took, marks)

    def load(self, path: Path, history: History, mark: Any | None) -> Loaded:
        """See `System.load`: the newest as a resume reads it, an earlier one with `Run.at`."""
        begun = perf_counter_ns()
        with ks.open(_url(path)) as store:
            opened = perf_counter_ns()
            run = store.run(CONTRACTS[history.name], RUN)
            state = run.state if mark is None else dict(run.at(mark).values)
            return Loaded(opened - begun, perf_counter_ns() - opened, state)

    @contextmanager
    def open(self, path: Path) -> Iterator[Begin]:
        """See `Concurrent.open`: one store for all threads, a run for each."""
        with ks.open(_url(path)) as store:

            def begin(run_id: str) -> Save:
                run = store.run(Lean, run_id)

                def save(state: State, _: Change) -> None:
                    run.save("step", state)

                return save

            yield begin


def _url(path: Path) -> str:
    return f"sqlite:///{path}"
