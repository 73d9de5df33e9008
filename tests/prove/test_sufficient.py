"""What suffices gives the right result, also where nobody has said which fields a caller reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import keepset as ks
from keepset.prove.proof import Proof, Proven
from keepset.testing import Options, prove


class Bill(TypedDict, total=False):
    items: list[int]
    log: list[str]
    total: int
    answer: str


def collect(_: Bill) -> Bill:
    return {"items": [7, 5], "log": ["collect"], "total": 12}


def reply(state: Bill) -> Bill:
    total = state.get("total") or sum(state.get("items", []))
    return {"answer": f"it is {total}"}


def total_up(state: Bill) -> Bill:
    return {"total": state.get("total") or sum(state.get("items", []))}


def count(state: Bill) -> Bill:
    return {"answer": str(len(state.get("items", [])))}


def _proof(*steps: Callable[[Any], Any], most: int = 1_000) -> Proof:
    return prove(lambda: ks.Workflow(Bill, steps=steps), options=Options(pins=(), most=most))


def test_a_result_that_the_last_step_makes_is_held_to_what_suffices() -> None:
    assert _proof(collect, count).sufficient == ("items",)


def test_a_result_that_the_last_step_makes_is_held_to_fields_that_are_left_out_in_groups() -> None:
    proof = _proof(collect, count, most=0)
    assert {one.name: one.verdict for one in proof.fields}["items"] is Proven.NEEDED
    assert proof.sufficient == ("items",)


def test_two_fields_of_which_a_result_needs_one_are_needed_together() -> None:
    proof = _proof(collect, reply)
    both = frozenset({"items", "total"})
    assert {one.name: one.together for one in proof.fields if one.together} == {
        "items": (both,),
        "total": (both,),
    }
    assert proof.sufficient == ("total",)


def test_a_field_that_is_made_again_of_another_one_is_needed_together_with_it() -> None:
    assert len(_proof(collect, total_up).sufficient or ()) == 1


def test_what_is_merely_missing_at_the_end_is_in_no_set_that_suffices() -> None:
    proof = _proof(collect, count)
    assert {one.name for one in proof.fields if one.lost} == {"log", "total"}
