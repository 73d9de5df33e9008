"""The half of the labelled corpus that is written with `Workflow` keeps its format and runs.

A case is a module. Whether its labels are right follows from how it is built, and its ``WHY`` says
how; these tests hold it to what whoever reads the labels relies on.
"""

from __future__ import annotations

import copy
import importlib
import itertools
import os
import random
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.contracts import Refetch, Reopen
from keepset.errors import PolicyError

HERE = Path(__file__).parent
TUNED = [path.stem for path in sorted(HERE.glob("steps_*.py"))]
HELD = [f"held.{path.stem}" for path in sorted(HERE.glob("held/steps_*.py"))]
LIVE = "steps_open_rows"
LABELS = {"needed", "not needed", "restored", "refetch differs", "together", "inconclusive"}


def read(name: str) -> Any:
    return importlib.import_module(f"tests.corpus.{name}")


def each(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", [read(name) for name in names], ids=names)


every_case = each(*TUNED, *HELD)
every_storable = each(*(name for name in TUNED + HELD if name != LIVE))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a world begin in an empty folder and leave no variable behind."""
    monkeypatch.chdir(tmp_path)
    before = dict(os.environ)
    yield
    for name in set(os.environ) - set(before):
        del os.environ[name]


def pin(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make repeatable what a case says has to be pinned, and only that."""
    pins = getattr(case, "PIN", ())
    if "clock" in pins:
        monkeypatch.setattr(time, "time", lambda: 1_700_000_000.0)
    if "uuid" in pins:
        numbers = itertools.count(1)
        monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=next(numbers)))
    if "random" in pins:
        random.seed(1)


def run(case: Any) -> Any:
    """Run a case to its end in a world of its own; give the final state."""
    if hasattr(case, "world"):
        case.world()
    workflow = case.build()
    if case.__name__.endswith(LIVE):
        return without_saving(workflow, case.INPUT)
    with ks.open("memory:") as store:
        return workflow.run(store, "r", begin(workflow, case.INPUT))


def begin(workflow: ks.Workflow, given: dict[str, Any]) -> Any:
    return workflow.contract.build(workflow.contract.admit(given))


def without_saving(workflow: ks.Workflow, given: dict[str, Any]) -> Any:
    rules = {name: field.rule for name, field in workflow.contract.fields.items()}
    reopened = {name: r.factory() for name, r in rules.items() if isinstance(r, Reopen)}
    state = {**given, **reopened}
    for step in workflow.steps.values():
        state.update(step(state) or {})
    return state


def outcome(
    case: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> tuple[object, object]:
    (tmp_path / folder).mkdir()
    with monkeypatch.context() as pinned:
        pinned.chdir(tmp_path / folder)
        pin(case, pinned)
        state = run(case)
        seen = case.observe() if hasattr(case, "observe") else None
    return state, seen


@every_case
def test_a_case_says_of_each_field_what_is_true_and_why(case: Any) -> None:
    fields = list(case.build().contract.fields)
    assert case.__doc__
    assert list(case.TRUTH) == list(case.WHY) == fields
    assert set(case.TRUTH.values()) <= LABELS
    assert all(case.WHY.values())
    assert set(case.INPUT) | set(case.OUTPUT) <= set(fields)
    assert case.OUTPUT


@every_case
def test_where_a_field_is_first_needed_is_a_step_after_which_a_run_can_be_resumed(
    case: Any,
) -> None:
    first = getattr(case, "FIRST", {})
    assert set(first) <= {name for name, truth in case.TRUTH.items() if truth == "needed"}
    assert set(first.values()) <= set(list(case.build().steps)[:-1])


@every_case
def test_a_group_has_two_fields_or_more_and_each_of_them_says_so(case: Any) -> None:
    groups = getattr(case, "TOGETHER", [])
    assert all(len(group) > 1 for group in groups)
    together = {name for name, truth in case.TRUTH.items() if truth == "together"}
    assert together == set().union(*groups)


@every_case
def test_only_a_rule_restores_a_field(case: Any) -> None:
    fields = case.build().contract.fields
    for name, truth in case.TRUTH.items():
        if truth in {"restored", "refetch differs"}:
            assert fields[name].rule.restored
        elif truth == "needed":
            assert not fields[name].rule.restored
        if truth == "refetch differs":
            assert isinstance(fields[name].rule, Refetch)
            assert hasattr(case, "between")


@every_case
def test_nothing_can_be_concluded_of_a_case_that_cannot_be_repeated_and_of_no_other(
    case: Any,
) -> None:
    inconclusive = {truth == "inconclusive" for truth in case.TRUTH.values()}
    assert inconclusive == {not getattr(case, "REPEATABLE", True)}


@every_storable
def test_a_case_runs_to_its_end_with_all_that_it_promises(case: Any) -> None:
    given = copy.deepcopy(case.INPUT)
    state = run(case)
    final = case.build().contract.values(state)
    assert set(final) == set(case.TRUTH)
    assert given == case.INPUT


@every_storable
def test_what_a_case_stores_is_what_its_steps_made(case: Any) -> None:
    if hasattr(case, "world"):
        case.world()
    workflow = case.build()
    with ks.open("memory:") as store:
        state = workflow.run(store, "r", begin(workflow, case.INPUT))
        assert workflow.run(store, "r") == state


def test_a_live_handle_without_a_rule_is_refused_when_it_is_saved() -> None:
    case = read(LIVE)
    with ks.open("memory:") as store, pytest.raises(PolicyError, match="rows"):
        case.build().run(store, "r", case.INPUT)
    state = without_saving(case.build(), case.INPUT)
    assert set(state) == set(case.TRUTH) - {"rows", "lock"}


@every_case
def test_a_repeatable_case_gives_the_same_twice_and_another_does_not(
    case: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = outcome(case, tmp_path, monkeypatch, "once")
    again = outcome(case, tmp_path, monkeypatch, "again")
    assert (once == again) is getattr(case, "REPEATABLE", True)


def test_the_corpus_is_large_and_mixed_and_a_third_of_it_is_held_back() -> None:
    assert len(TUNED) + len(HELD) >= 18
    assert sum(len(read(name).TRUTH) for name in TUNED + HELD) >= 105
    assert len(HELD) >= 6
    for part in (TUNED, HELD):
        assert {truth for name in part for truth in read(name).TRUTH.values()} == LABELS
