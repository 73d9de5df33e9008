"""One process of the demo: runs the workflow until it is killed, or to its end.

``python -m keepset.cli.demo.child naive|contract POINT``. It writes one JSON object a line on
stdout. At POINT it says so and waits on stdin for the SIGKILL; if the parent is gone instead, stdin
ends, and so does this process. A point is ``after:STEP``, once the step is saved, or ``in:STEP``,
when it has done its work and is not saved yet. An empty one runs to the end.
"""

from __future__ import annotations

import functools
import json
import sys

import keepset as ks
from keepset.cli.demo import naive, state, steps
from keepset.cli.demo.state import Research
from keepset.verdict.table import as_data

RUN_ID = "demo"
CONTRACT_FILE = "contract.db"
NAIVE_FILE = "naive.db"
EXAMPLE_RUNS = 1_000
PARENT_GONE = 3


def main(arguments: list[str]) -> None:
    """Run one of the two variants."""
    way, point = arguments
    stop = Stop(point)
    run_naive(stop) if way == "naive" else run_contract(stop)


class Stop:
    """Wraps steps so that the process waits to be killed at a chosen point.

    Args:
        point: ``after:STEP``, ``in:STEP``, or empty for none.
    """

    def __init__(self, point: str) -> None:
        """Begin before the first step."""
        when, _, step = point.partition(":")
        self._after = step if when == "after" else ""
        self._inside = step if when == "in" else ""

    def wrap(self, step: steps.Step) -> steps.Step:
        """Give a step that reports its begin, and that waits where the chosen point is."""
        position = steps.NAMES.index(step.__name__)

        @functools.wraps(step)
        def reported(values: Research) -> Research | None:
            if position and steps.NAMES[position - 1] == self._after:
                self.wait(values)
            tell("begin", step=step.__name__)
            changes = step(values)
            if step.__name__ == self._inside:
                self.wait(values)
            return changes

        return reported

    def end(self, values: Research) -> None:
        """Wait here where the last step is the one to stop after."""
        if steps.NAMES[-1] == self._after:
            self.wait(values)

    def wait(self, values: Research) -> None:
        """Say that the point is reached, and wait to be killed."""
        tell("reached", workdir=str(values["workdir"]), payment=values["payment"])
        sys.stdin.read()
        sys.exit(PARENT_GONE)


def run_naive(stop: Stop) -> None:
    """Run with the naive saver, from where it was saved last."""
    saver = naive.NaiveSaver(state.folder() / NAIVE_FILE)
    last, saved = saver.load()
    values = naive.resumed(saved, state.by_hand())
    for number, step in enumerate(steps.STEPS):
        if number > last:
            _run_naively(stop.wrap(step), values)
            saver.save(number, step.__name__, values)
    stop.end(values)
    tell("done", workdir=str(values["workdir"]), payment=values["payment"])


def _run_naively(step: steps.Step, values: Research) -> None:
    """Run a step; one that fails ends the process with a word about what failed."""
    try:
        values.update(step(values) or Research())
    except OSError as error:
        tell(
            "failed",
            step=step.__name__,
            error=type(error).__name__,
            workdir=str(values["workdir"]),
            payment=values["payment"],
        )
        sys.exit(1)


def run_contract(stop: Stop) -> None:
    """Run with the contract, from where it was saved last, and judge the seven fields."""
    url = f"sqlite:///{state.folder() / CONTRACT_FILE}"
    workflow = ks.Workflow(Research, steps=[stop.wrap(step) for step in steps.STEPS])
    with ks.open(url) as store:
        values = workflow.run(store, RUN_ID, state.asked(), subject="demo customer")
        stop.end(values)
        run = store.run(Research, RUN_ID)
        verdicts = run.verdicts(values, steps=len(steps.STEPS), runs=EXAMPLE_RUNS)
    tell("verdicts", **as_data(verdicts))
    tell("done", workdir=str(values["workdir"]), payment=values["payment"])


def tell(event: str, **parts: object) -> None:
    """Write one event for the parent."""
    sys.stdout.write(json.dumps({"event": event, **parts}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
