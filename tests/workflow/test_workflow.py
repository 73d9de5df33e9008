"""A list of steps is saved after each and goes on after the last one saved."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

import keepset as ks
from keepset.errors import SchemaError, UsageError

DONE: list[str] = []


class State(TypedDict, total=False):
    value: Annotated[int, ks.Keep()]
    answer: Annotated[str, ks.Extract("text")]
    seen: Annotated[str, ks.Keep()]
    scratch: Annotated[list[int], ks.Scratch(list)]


def add(state: State) -> dict[str, Any]:
    DONE.append("add")
    return {"value": state["value"] + 1, "answer": {"text": "short", "usage": 5}}


def look(state: State) -> None:
    DONE.append("look")
    state["seen"] = state["answer"]
    state["scratch"].append(1)


def fail(state: State) -> None:
    DONE.append("fail")
    if state["value"] < 10:
        raise RuntimeError("not yet")


@pytest.fixture(autouse=True)
def fresh() -> None:
    DONE.clear()


def test_the_next_step_sees_what_a_resumed_one_would_see() -> None:
    with ks.open("memory:") as store:
        state = ks.Workflow(State, [add, look]).run(store, "r", {"value": 1})
    assert state == {"value": 2, "answer": "short", "seen": "short", "scratch": [1]}


def test_a_finished_run_does_nothing_again() -> None:
    flow = ks.Workflow(State, [add, look])
    with ks.open("memory:") as store:
        flow.run(store, "r", {"value": 1})
        assert flow.run(store, "r")["value"] == 2
        assert DONE == ["add", "look"]
        assert store.runs()[0].status == "done"


def test_a_run_goes_on_after_the_last_step_that_was_saved() -> None:
    flow = ks.Workflow(State, [add, look, fail])
    with ks.open("memory:") as store:
        with pytest.raises(RuntimeError, match="not yet"):
            flow.run(store, "r", {"value": 1})
        with pytest.raises(RuntimeError, match="not yet"):
            flow.run(store, "r", {"value": 50})
        assert DONE == ["add", "look", "fail", "fail"]
        assert store.runs()[0].step == "look"
        assert store.runs()[0].status == "failed"
        assert store.run(State, "r").state["value"] == 2
        assert [c.step for c in store.run(State, "r").history()] == ["look", "look", "add"]


def test_a_step_that_the_code_no_longer_has_is_named_with_the_way_out() -> None:
    with ks.open("memory:") as store:
        with pytest.raises(RuntimeError):
            ks.Workflow(State, [add, fail]).run(store, "r", {"value": 1})
        with pytest.raises(SchemaError, match="step add"):
            ks.Workflow(State, [look]).run(store, "r")
        assert DONE == ["add", "fail"]


def test_a_run_that_is_not_there_needs_a_state() -> None:
    with ks.open("memory:") as store, pytest.raises(UsageError, match="no run r"):
        ks.Workflow(State, [add]).run(store, "r")


@pytest.mark.parametrize("steps", [[], [add, add], [lambda _: None]])
def test_steps_without_names_of_their_own_are_refused(steps: Any) -> None:
    with pytest.raises(UsageError):
        ks.Workflow(State, steps)


@dataclass(frozen=True)
class Frozen:
    value: Annotated[int, ks.Keep()] = 0


def double(state: Frozen) -> Frozen:
    return replace(state, value=state.value * 2)


async def wait(state: Frozen) -> dict[str, int]:
    await asyncio.sleep(0)
    return {"value": state.value + 1}


def test_a_frozen_dataclass_is_a_state_and_steps_may_be_coroutines() -> None:
    async def work() -> Any:
        async with await ks.aopen("memory:") as store:
            return await ks.Workflow(Frozen, [double, wait]).arun(store, "r", Frozen(4))

    assert asyncio.run(work()) == Frozen(9)


SCRIPT = """
import sys, os
import keepset as ks
from typing import Annotated, TypedDict

class State(TypedDict, total=False):
    n: Annotated[int, ks.Keep()]

def first(state):
    with open(sys.argv[2], "a") as file:
        file.write("first\\n")
    return {"n": 1}

def second(state):
    with open(sys.argv[2], "a") as file:
        file.write("second\\n")
    if len(sys.argv) > 3:
        os.kill(os.getpid(), 9)
    return {"n": state["n"] + 1}

with ks.open(sys.argv[1]) as store:
    print(ks.Workflow(State, [first, second]).run(store, "r", {}))
"""


def test_a_workflow_killed_in_a_step_does_that_step_again_and_no_other(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        SCRIPT,
        f"sqlite:///{tmp_path / 'w.db'}",
        str(tmp_path / "log"),
    ]
    killed = subprocess.run([*command, "kill"], env=os.environ, check=False)
    assert killed.returncode == -signal.SIGKILL
    again = subprocess.run(command, env=os.environ, check=True, capture_output=True, text=True)
    assert again.stdout.strip() == "{'n': 2}"
    assert (tmp_path / "log").read_text().split() == ["first", "second", "second"]
