"""Load and compile once, before processes are forked, what keepset needs to carry out a trial."""

from __future__ import annotations

from typing import TypedDict

from keepset.prove.lives import Experiment, carry_out
from keepset.prove.pins import PINS, can_stop_clocks
from keepset.prove.place import entered
from keepset.prove.ports import Script
from keepset.prove.trials import Trial
from keepset.prove.workflows import WorkflowTarget
from keepset.store import open_store
from keepset.workflow import Workflow


class _State(TypedDict, total=False):
    text: str
    parts: list[dict[str, int]]


def _write(_: _State) -> _State:
    return {"text": "a sentence of some words", "parts": [{"one": 1}]}


def _read(state: _State) -> _State:
    return {"text": state["text"]}


def warm_up() -> None:
    """Carry out a trial of a workflow of our own; nothing of the user's is touched."""
    target = WorkflowTarget(lambda: Workflow(_State, steps=[_write, _read]))
    pins = tuple(pin for pin in PINS if pin != "clock" or can_stop_clocks())
    experiment = Experiment(
        target,
        Script(
            ({},),
        ),
        observe=list,
    )
    trial = Trial("after _write", frozenset({"parts"}), pins=pins)
    with entered(), open_store("memory:") as store:
        carry_out(experiment, trial, store)
