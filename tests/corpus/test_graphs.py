"""The LangGraph half of the labelled corpus keeps to its format, and its cases run as they say.

That a truth is true follows from how its case is built, which `WHY` says. Here is held what a
measurement against it relies on: each field has a label and a reason, and a case that calls itself
repeatable is.
"""

import importlib
import os
import random
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from langgraph.graph import StateGraph
from langgraph.types import Command

from keepset.langgraph import KeepsetSaver

FOLDER = Path(__file__).parent
OPEN = sorted(path.stem for path in FOLDER.glob("graph_*.py"))
HELD = sorted(path.stem for path in FOLDER.glob("held/graph_*.py"))
CASES = {name: f"tests.corpus.{name}" for name in OPEN}
CASES |= {name: f"tests.corpus.held.{name}" for name in HELD}
LABELS = {"needed", "not needed", "restored", "refetch differs", "together", "inconclusive"}
THREAD: Any = {"configurable": {"thread_id": "corpus"}}
INTERNAL = ("__start__", "__end__", "__pregel", "branch:", "join:")

Life = Callable[[str], str]
"""Begins a trial of a case in a folder of its own, and tells where its store is."""


def named(name: str) -> ModuleType:
    return importlib.import_module(CASES[name])


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> ModuleType:
    return named(request.param)


@pytest.fixture
def life(case: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Life]:
    """Give what begins a trial; afterwards no variable of a world is left."""
    before = set(os.environ)

    def begin(trial: str) -> str:
        folder = tmp_path / trial
        folder.mkdir()
        monkeypatch.chdir(folder)
        pinned = getattr(case, "PIN", ())
        drawn = random.Random(5)  # noqa: S311 - numbers that are the same each time
        if "clock" in pinned:
            monkeypatch.setattr(time, "time", lambda: 1_000_000_000.0)
        if "uuid" in pinned:
            monkeypatch.setattr(case, "uuid", SimpleNamespace(uuid4=lambda: made(drawn)))
        if "random" in pinned:
            random.seed(5)
        getattr(case, "world", lambda: None)()
        return f"sqlite:///{tmp_path / trial}.db"

    yield begin
    for name in set(os.environ) - before:
        del os.environ[name]


def made(drawn: random.Random) -> uuid.UUID:
    return uuid.UUID(int=drawn.getrandbits(128))


def compiled(case: ModuleType) -> Any:
    built = case.build()
    return built.compile() if isinstance(built, StateGraph) else built


def turns(case: ModuleType) -> list[Any]:
    return list(case.INPUTS) if hasattr(case, "INPUTS") else [case.INPUT]


def played(case: ModuleType, url: str, *, stops: bool = False) -> tuple[Any, Any, int]:
    """Run a case to its end.

    Args:
        case: The case, whose trial has begun.
        url: Of its store.
        stops: Whether the run is stopped before each node, and resumed with a graph and a saver
            that are new.

    Returns:
        The final state, what happened outside, and how many answers are left.
    """
    answers = list(getattr(case, "ANSWERS", []))
    before: Any = "*" if stops else None
    for given in turns(case):
        going: Any = given
        while True:
            with KeepsetSaver(url) as saver:
                graph = saver.bind(compiled(case))
                graph.invoke(going, THREAD, durability="sync", interrupt_before=before)
                found = graph.get_state(THREAD)
            if not found.next:
                break
            going = Command(resume=answers.pop(0)) if found.interrupts else None
    return found.values, getattr(case, "observe", lambda: None)(), len(answers)


def own(graph: Any) -> list[str]:
    return [channel for channel in graph.channels if not channel.startswith(INTERNAL)]


def fields(graph: Any) -> set[str]:
    """Give the fields of a state, and those of graphs inside that the outer one does not have."""
    outer = set(own(graph))
    inner = {
        f"{place}.{field}"
        for place, part in graph.get_subgraphs(recurse=True)
        for field in own(part)
        if field not in outer
    }
    return outer | inner


def nodes(graph: Any) -> set[str]:
    inside = (name for _, part in graph.get_subgraphs(recurse=True) for name in part.nodes)
    return {*graph.nodes, *inside}


def test_a_case_tells_its_story_and_has_all_that_a_trial_needs(case: ModuleType) -> None:
    assert case.__doc__
    assert hasattr(case, "INPUT") != hasattr(case, "INPUTS")
    assert isinstance(case.OUTPUT, tuple)
    assert set(case.OUTPUT) <= set(case.TRUTH)
    assert set(getattr(case, "PIN", ())) <= {"clock", "uuid", "random"}


def test_each_field_of_a_state_has_a_label_and_a_reason_and_nothing_else_has(
    case: ModuleType,
) -> None:
    assert set(case.TRUTH) == fields(compiled(case))
    assert set(case.TRUTH.values()) <= LABELS
    assert set(case.WHY) == set(case.TRUTH)
    assert all(len(reason.split()) >= 3 for reason in case.WHY.values())


def test_where_a_field_is_first_needed_is_told_for_needed_ones_and_by_a_node(
    case: ModuleType,
) -> None:
    first: dict[str, str] = getattr(case, "FIRST", {})
    assert {case.TRUTH[field] for field in first} <= {"needed"}
    assert set(first.values()) <= nodes(compiled(case))


def test_a_group_is_made_of_fields_that_are_needed_together(case: ModuleType) -> None:
    groups: list[set[str]] = getattr(case, "TOGETHER", [])
    together = {field for field, label in case.TRUTH.items() if label == "together"}
    assert set().union(*groups) == together
    assert all(len(group) > 1 for group in groups)


def test_nothing_is_inconclusive_but_where_two_runs_differ(case: ModuleType) -> None:
    unsure = getattr(case, "REPEATABLE", True) is False
    assert all((label == "inconclusive") == unsure for label in case.TRUTH.values())


def test_building_a_graph_leaves_the_world_alone(
    case: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert case.build() is not case.build()
    assert list(tmp_path.iterdir()) == []


def test_a_case_runs_to_its_end_and_two_runs_are_alike_where_it_says_so(
    case: ModuleType, life: Life
) -> None:
    first = played(case, life("first"))
    second = played(case, life("second"))
    assert first[2] == 0
    assert (first == second) == getattr(case, "REPEATABLE", True)


def test_a_case_that_is_resumed_before_each_node_ends_as_one_that_runs_through(
    case: ModuleType, life: Life
) -> None:
    if getattr(case, "REPEATABLE", True):
        whole = played(case, life("whole"))
        assert played(case, life("stopped"), stops=True) == whole


def test_the_corpus_is_large_enough_and_a_third_of_it_is_held_back() -> None:
    truths = [named(name).TRUTH for name in CASES]
    assert len(truths) >= 13
    assert sum(len(truth) for truth in truths) >= 75
    assert len(HELD) * 3 >= len(CASES)
    assert {label for truth in truths for label in truth.values()} == LABELS


def test_half_of_the_needed_fields_say_where_they_are_first_needed() -> None:
    needed = [label for name in CASES for label in named(name).TRUTH.values() if label == "needed"]
    first = [field for name in CASES for field in getattr(named(name), "FIRST", {})]
    assert len(first) * 2 >= len(needed)
