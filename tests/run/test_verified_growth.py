"""`verify` holds what is stored of a field that only grows to its declaration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

import keepset as ks

LONG = "long enough to be told apart from a change of the whole text, "


@ks.contract(name="chat", epoch=1)
class Free(TypedDict, total=False):
    items: list[Any]
    flags: dict[str, Any]
    text: str


@ks.contract(name="chat", epoch=2)
class Growing(TypedDict, total=False):
    items: Annotated[list[Any], ks.Keep(append_only=True)]
    flags: Annotated[dict[str, Any], ks.Keep(append_only=True)]
    text: Annotated[str, ks.Keep(append_only=True)]


FIRST: dict[str, Any] = {
    "items": [{"at": number, "said": LONG} for number in range(40)],
    "flags": {f"flag {number}": LONG for number in range(40)},
    "text": LONG * 20,
}
"""Large enough that a change of a part is stored as one."""


def _problems(path: Path, states: list[dict[str, Any]], contract: Any, mode: str) -> list[str]:
    with ks.open(f"sqlite:///{path}", mode=mode) as store:
        run = store.run(contract, "run")
        for number, state in enumerate(states):
            run.save(f"step {number}", {**FIRST, **state})
        return [problem.code for problem in store.verify("run").problems]


GROWN: list[dict[str, Any]] = [
    {"items": [*FIRST["items"], "more"]},
    {"flags": {**FIRST["flags"], "more": 1}},
    {"text": FIRST["text"] + "more"},
    {},
]
CHANGED: list[dict[str, Any]] = [
    {"items": FIRST["items"][1:]},
    {"items": [*FIRST["items"][:-1], "other"]},
    {"items": ["first", *FIRST["items"]]},
    {"items": []},
    {"flags": {**FIRST["flags"], "flag 3": 1}},
    {"flags": dict(list(FIRST["flags"].items())[:-1])},
    {"text": FIRST["text"][:-1]},
    {"text": "x" + FIRST["text"]},
]


@pytest.mark.parametrize("state", GROWN)
def test_a_history_that_only_grew_is_in_order(tmp_path: Path, state: dict[str, Any]) -> None:
    assert _problems(tmp_path / "a.db", [{}, state, state], Growing, "protect") == []


@pytest.mark.parametrize("state", CHANGED)
def test_a_history_that_changed_otherwise_is_reported(
    tmp_path: Path, state: dict[str, Any]
) -> None:
    found = _problems(tmp_path / "a.db", [{}, state], Growing, "observe")
    assert found == ["integrity.append-only"]


@pytest.mark.parametrize("state", CHANGED)
def test_a_field_that_may_change_is_not_held_to_it(tmp_path: Path, state: dict[str, Any]) -> None:
    assert _problems(tmp_path / "a.db", [{}, state], Free, "protect") == []


def test_a_run_that_is_pruned_to_what_is_in_order_is_in_order_again(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    assert _problems(path, [{}, CHANGED[0], {}], Growing, "observe")
    with ks.open(f"sqlite:///{path}") as store:
        store.prune("run", keep_latest=1)
        assert store.verify("run").problems == ()
