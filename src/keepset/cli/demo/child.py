"""One process of the demo: runs the workflow until it is killed, or to its end.

``python -m keepset.cli.demo.child naive|contract STOP_AFTER``. It writes one JSON object a line
on stdout. Once the step STOP_AFTER is saved it says so and waits on stdin for the SIGKILL; if the
parent is gone instead, stdin ends, and so does this process. An empty STOP_AFTER runs to the end.
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
    way, stop_after = arguments
    stop = Stop(stop_after)
    run_naive(stop) if way == "naive" else run_contract(stop)


class Stop:
    """Wraps steps so that the process waits to be killed before the step after a chosen one.

    Args:
        after: Name of the step after which to wait; empty for none.
    """

    def __init__(self, after: str) -> None:
        """Begin before the first step."""
        self._after = after

    def wrap(self, step: steps.Step) -> steps.Step:
        """Give a step that reports its begin, and that waits where its predecessor is `after`."""
        position = steps.NAMES.index(step.__name__)

        @functools.wraps(step)
        def reported(values: Research) -> Research | None:
            if position and steps.NAMES[position - 1] == self._after:
                self.wait(values)
            tell("begin", step=step.__name__)
            return step(values)

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
