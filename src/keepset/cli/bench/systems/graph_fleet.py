"""Many LangGraph threads of a few steps each, as most are, in one file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Any

from keepset.cli.bench import sizes
from keepset.cli.bench.systems.graph_savers import SAVERS, Course, messages


def fleet(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run the threads one after the other, each with messages of its own, and look at the file."""
    path, steps, threads = Path(job["path"]), job["steps"], job["threads"]
    open_graph, reducer = SAVERS[job["system"]]
    course = Course(messages(steps), reducer)
    with open_graph(path, course.builder()):
        pass
    empty = sizes.settle(path)
    took, exact = [], True
    with open_graph(path, course.builder()) as opened:
        for number in range(threads):
            told = messages(steps, number + 1)
            course.tell(told)
            begun = perf_counter_ns()
            state = course.run(opened, saved=True, thread=f"thread-{number}")
            took.append(perf_counter_ns() - begun)
            exact = exact and state["messages"] == told
    return {"disk_bytes": sizes.settle(path) - empty, "took": median(took), "exact": exact}
