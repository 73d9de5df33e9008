"""What is observed of the world, and the folder in which a life begins."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

import pytest

import keepset as ks
from keepset.errors import UsageError
from keepset.prove.proof import Proof
from keepset.testing import Options, prove


class Order(TypedDict, total=False):
    charged: bool
    place: str
    answer: str


def charge(_: Order) -> Order:
    with Path("ledger").open("a", encoding="utf-8") as file:
        file.write("charge\n")
    return {"charged": True}


def confirm(state: Order) -> Order:
    if "charged" not in state:
        charge(state)
    return {"answer": "paid"}


def rows() -> list[str]:
    return Path("ledger").read_text("utf-8").splitlines() if Path("ledger").exists() else []


class Row:
    """Not plain data."""

    def __init__(self, text: str) -> None:
        self.text = text


def _proof(*steps: Callable[[Any], Any], **more: Any) -> Proof:
    return prove(lambda: ks.Workflow(Order, steps=steps), options=Options(pins=()), **more)


def _needed(proof: Proof) -> set[str]:
    return {one.name for one in proof.fields if str(one.verdict) == "needed"}


@pytest.mark.parametrize(
    ("kind", "observe"),
    [
        ("generator", lambda: (row for row in rows())),
        ("map", lambda: map(str.upper, rows())),
        ("Row", lambda: {"orders": [Row(row) for row in rows()]}),
    ],
)
def test_what_cannot_be_compared_is_no_observation(kind: str, observe: Callable[[], Any]) -> None:
    with pytest.raises(UsageError) as caught:
        _proof(charge, confirm, observe=observe)
    assert caught.value.code == "prove.world"
    assert f"a {kind}, which cannot be compared" in caught.value.message


def test_a_step_that_goes_to_another_folder_leaves_the_world_where_it_is() -> None:
    def go_away(_: Order) -> Order:
        place = str(Path("here").absolute())
        os.chdir("/")
        return {"place": place}

    proof = _proof(charge, go_away, confirm, observe=rows)
    assert _needed(proof) == {"charged"}
    assert not proof.volatile


def test_a_world_that_is_taken_away_with_its_folder_is_empty() -> None:
    proof = _proof(charge, confirm, observe=rows, between=lambda: shutil.rmtree(Path.cwd()))
    assert _needed(proof) == {"charged"}
    assert list(proof.strayed or ()) == ["after charge"]
