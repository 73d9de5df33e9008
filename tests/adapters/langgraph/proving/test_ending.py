"""A run that is ended at a point is over at once: it saves nothing more and leaves no thread."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.adapters.langgraph.saver import KeepsetSaver
from keepset.prove.lives import first_life, second_life
from keepset.prove.trials import Trial
from tests.adapters.langgraph.proving import graphs
from tests.adapters.langgraph.proving.proofs import Proof, threads

HI: Any = {"question": "hi"}
THREAD: Any = {"configurable": {"thread_id": "proof"}}
SHAPES: dict[str, Any] = {
    "line": Proof(graphs.line, HI),
    "branches": Proof(graphs.branches, HI),
    "sends": Proof(graphs.sends, HI),
    "inside": Proof(lambda: graphs.inside(asks=True), HI, answers=("a", "b")),
    "later": Proof(graphs.later, HI, answers=("yes",)),
    "function": Proof(graphs.function, 2, answers=(1,)),
}


def saved(store: ks.Store) -> set[tuple[str, str, int]]:
    """Give the namespace, the source and the step of each checkpoint in a store."""
    found = set()
    for row in KeepsetSaver(store).list(THREAD):
        namespace = row.config["configurable"]["checkpoint_ns"].partition(":")[0]
        found.add((namespace, str(row.metadata["source"]), row.metadata["step"]))
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_a_run_is_over_at_its_point(shape: str) -> None:
    proof = SHAPES[shape]
    whole = proof.outcome()
    for number, point in enumerate(whole.points):
        begun = threads()
        with ks.open("memory:") as store:
            first = first_life(proof.experiment, Trial(point), store)
            there = saved(store)
            assert threads() <= begun
            assert (first.halted, first.points) == (True, whole.points[: number + 1])
            # What begins between the point before and this one has begun, and nothing after it.
            assert first.steps == whole.steps[: len(first.steps)]
            second = second_life(proof.experiment, Trial(point), store, first)
            assert second.failure is None
            assert there < saved(store)
        assert threads() <= begun


def test_nothing_is_saved_after_the_checkpoint_at_which_a_run_ends() -> None:
    proof = SHAPES["branches"]
    with ks.open("memory:") as store:
        first_life(proof.experiment, Trial("after left+right"), store)
        assert {(source, step) for _, source, step in saved(store)} == {
            ("input", -1),
            ("loop", 0),
            ("loop", 1),
            ("loop", 2),
        }
        newest = KeepsetSaver(store).get_tuple(THREAD)
        assert newest is not None
        assert newest.pending_writes == []


def test_a_run_that_is_ended_in_a_graph_inside_has_not_begun_what_stands_beside_it() -> None:
    proof = Proof(graphs.inside, HI)
    with ks.open("memory:") as store:
        first = first_life(proof.experiment, Trial("after one.input"), store)
        assert first.steps == ()
        assert not any(namespace == "two" for namespace, _, _ in saved(store))


CHILD = """
import os, signal, sys
import keepset as ks
from keepset.prove.lives import first_life
from keepset.prove.trials import Trial
from tests.adapters.langgraph.proving.test_ending import SHAPES

proof = SHAPES[sys.argv[1]]
with ks.open(sys.argv[2]) as store:
    first_life(proof.experiment, Trial(sys.argv[3]), store, lambda _: os.kill(os.getpid(), 9))
"""


@pytest.mark.parametrize(
    ("shape", "point"),
    [("branches", "after left+right"), ("inside", "after two.write"), ("later", "after search")],
)
def test_a_process_that_is_killed_at_a_point_is_resumed_by_another(
    shape: str, point: str, tmp_path: Path
) -> None:
    proof, url = SHAPES[shape], f"sqlite:///{tmp_path}/runs.db"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    child = [sys.executable, "-c", CHILD, shape, url, point]
    ended = subprocess.run(child, env=environment, cwd=Path.cwd(), check=False)
    assert ended.returncode == -9
    with ks.open("memory:") as store:
        first = first_life(proof.experiment, Trial(point), store)
        here = second_life(proof.experiment, Trial(point), store, first)
    with ks.open(url) as store:
        there = second_life(proof.experiment, Trial(point), store, first)
    assert there.failure is None
    assert (there.steps, there.points) == (here.steps, here.points)
    assert there.state == here.state
