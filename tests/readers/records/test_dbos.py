"""The system database of DBOS, written by itself."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from keepset.readers import recognise
from keepset.readers.ports import Foreign

pytest.importorskip("dbos", reason="needs the package dbos")

PROGRAM = """
import sys
from dataclasses import dataclass
from dbos import DBOS, SetWorkflowID

@dataclass
class Order:
    key: str

DBOS(config={"name": "shop", "system_database_url": "sqlite:///" + sys.argv[1]})

@DBOS.step()
def charge(order):
    return {"charged": order.key}

@DBOS.step()
def fail():
    raise ValueError("401 for sk-123")

@DBOS.workflow()
def buy(order, is_broken):
    DBOS.set_event("progress", [1])
    told = charge(order)
    if is_broken:
        fail()
    return told

DBOS.launch()
for name, is_broken in (("good", False), ("broken", True)):
    with SetWorkflowID(name):
        try:
            buy(Order("sk-456"), is_broken)
        except ValueError:
            pass
DBOS.destroy()
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("dbos") / "sys.db"
    subprocess.run([sys.executable, "-c", PROGRAM, found], check=True, capture_output=True)
    return found


def test_workflows_are_told_with_their_steps_and_whether_something_is_left_to_do(
    path: Path,
) -> None:
    with recognise(str(path)).open(str(path)) as reader:
        facts = {one.run: one for one in reader.runs()}
        assert reader.overview().kind == "dbos-sqlite"
        assert set(reader.orphans().values()) <= {0}
    assert set(facts) == {"good", "broken"}
    assert {one.is_unfinished for one in facts.values()} == {False}
    assert all(abs(time.time() - (one.first or 0)) < 600 for one in facts.values())
    assert all(one.checkpoints >= 2 for one in facts.values())


def test_inputs_results_and_errors_are_taken_apart_and_nothing_of_them_is_loaded(
    path: Path,
) -> None:
    with recognise(str(path)).open(str(path)) as reader:
        good, broken = list(reader.items("good")), list(reader.items("broken"))
    inputs = next(one for one in good if one.field == "inputs")
    assert (inputs.surface, inputs.encoding) == ("input", "pickle")
    assert isinstance(inputs.value, dict)
    assert inputs.value["args"][0] == Foreign("__main__.Order", {"key": "sk-456"})
    charged = [one.value for one in good if one.field == "charge"]
    assert charged == [{"charged": "sk-456"}]
    assert [1] in [one.value for one in good if one.field == "progress"]
    errors = [one.value for one in broken if one.surface == "error"]
    assert Foreign("builtins.ValueError", ["401 for sk-123"]) in errors


def test_a_workflow_that_was_killed_is_unfinished(path: Path, tmp_path: Path) -> None:
    program = PROGRAM.replace("    if is_broken:", "    import os; os._exit(9)\n    if is_broken:")
    killed = tmp_path / "sys.db"
    subprocess.run([sys.executable, "-c", program, killed], check=False, capture_output=True)
    with recognise(str(killed)).open(str(killed)) as reader:
        assert [(one.run, one.is_unfinished) for one in reader.runs()] == [("good", True)]
    assert path != killed
