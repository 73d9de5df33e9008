"""A run that stops takes no more than what it holds, however few steps it has."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from tests.run.states import Chat

STOPS = ["done", "paused", "failed"]


def unpacked(path: Path) -> int:
    with sqlite3.connect(path) as connection:
        ((count,),) = connection.execute("SELECT count(*) FROM step")
    connection.close()
    return int(count)


def talk(run: ks.Run, steps: int, status: str) -> list[dict[str, Any]]:
    """Save a run of some steps that then stops, and give the state after each."""
    state: dict[str, Any] = {"messages": []}
    states = []
    for number in range(1, steps + 1):
        state["count"] = number
        state["messages"] = [*state["messages"], {"text": os.urandom(300).hex()}]
        run.save("step", dict(state), status=status if number == steps else "running")
        states.append(dict(state))
    return states


@pytest.mark.parametrize("status", STOPS)
def test_the_steps_of_a_run_that_stops_are_packed(tmp_path: Path, status: str) -> None:
    path = tmp_path / "runs.db"
    with ks.open(f"sqlite:///{path}") as store:
        states = talk(store.run(Chat, "r"), 8, status)
        assert unpacked(path) == 1, "the newest alone is not"
    with ks.open(f"sqlite:///{path}") as store:
        run = store.run(Chat, "r")
        assert run.state == states[-1]
        history = [run.at(checkpoint).values for checkpoint in reversed(run.history())]
        assert history == states
        assert not store.verify().problems


def test_a_run_that_stops_again_and_again_keeps_every_state(tmp_path: Path) -> None:
    """As a chat does, turn by turn, each in a process of its own."""
    path = tmp_path / "runs.db"
    states: list[object] = []
    for turn in range(12):
        with ks.open(f"sqlite:///{path}") as store:
            run = store.run(Chat, "r")
            state = dict(run.state or {"count": 0})
            for _ in range(1 + turn % 4):
                state["count"] += 1
                state["messages"] = [*state.get("messages", []), {"text": os.urandom(400).hex()}]
                run.save("step", dict(state))
                states.append(dict(state))
            run.save("end", dict(state), status="done")
            states.append(dict(state))
    with ks.open(f"sqlite:///{path}") as store:
        run = store.run(Chat, "r")
        assert [run.at(one).values for one in reversed(run.history())] == states
        assert not store.verify().problems


@pytest.mark.parametrize("status", STOPS)
def test_a_run_that_has_stopped_stays_packed_when_it_is_pruned(tmp_path: Path, status: str) -> None:
    path = tmp_path / "runs.db"
    with ks.open(f"sqlite:///{path}") as store:
        states = talk(store.run(Chat, "r"), 12, status)
        store.prune("r", keep_latest=8)
        assert unpacked(path) == 1, "the newest alone is not"
        run = store.run(Chat, "r")
        assert [run.at(one).values for one in reversed(run.history())] == states[-8:]
        run.save("more", {**states[-1], "count": 99})
        assert store.run(Chat, "r").state == {**states[-1], "count": 99}
        assert not store.verify().problems


def test_a_few_bytes_are_not_worth_it(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with ks.open(f"sqlite:///{path}") as store:
        run = store.run(Chat, "r")
        for number in range(4):
            run.save("step", {"count": number}, status="paused")
        assert unpacked(path) == 4
