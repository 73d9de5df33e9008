"""Rules that are declared, held to a run without an end: what they bring back may be wrong."""

from __future__ import annotations

from pathlib import Path
from random import SystemRandom
from typing import Annotated, Any, TypedDict

import pytest

import keepset as ks
from keepset.prove.findings import findings
from keepset.prove.proof import Proof
from keepset.testing import Options, assert_resumes, prove

HERE = Options(pins=())
GONE = "gone"
LEDGER = "ledger"


class Order(TypedDict, total=False):
    charged: Annotated[bool, ks.Scratch(bool)]
    told: Annotated[bool, ks.Reopen(bool)]
    seen: Annotated[list[str], ks.Scratch(list)]


def charge(_: Order) -> Order:
    return {"charged": _written("charge"), "told": _written("mail"), "seen": ["charge"]}


def finish(state: Order) -> Order:
    charged = state["charged"] or _written("charge")
    told = state["told"] or _written("mail")
    return {"charged": charged, "told": told, "seen": [*state["seen"], "finish"]}


def _written(what: str) -> bool:
    with Path(LEDGER).open("a", encoding="utf-8") as file:
        file.write(f"{what}\n")
    return True


def ledger() -> list[str]:
    return Path(LEDGER).read_text("utf-8").split()


def order() -> ks.Workflow:
    return ks.Workflow(Order, steps=[charge, finish])


class Page(TypedDict, total=False):
    key: str
    text: Annotated[str, ks.Refetch(lambda key: _text(key), using="key")]  # noqa: PLW0108 - it is below
    answer: str


def _text(key: str) -> str:
    return "" if Path(GONE).exists() else f"the text of {key}"


def look(_: Page) -> Page:
    return {"key": "k", "text": _text("k")}


def answer(state: Page) -> Page:
    return {"answer": "found" if state.get("text") else "nothing"}


def lose() -> None:
    Path(GONE).touch()


def page() -> ks.Workflow:
    return ks.Workflow(Page, steps=[look, answer])


class Globe(TypedDict, total=False):
    world: str
    moved: str


def turn(_: Globe) -> Globe:
    return {"world": str(SystemRandom().getrandbits(64)), "moved": "no"}


def move(state: Globe) -> Globe:
    return {"moved": f"{state['moved']} more"}


def verdicts(proof: Proof) -> dict[str, str]:
    return {one.name: str(one.verdict) for one in proof.fields}


def codes(proof: Proof) -> set[tuple[str, str]]:
    return {(one.code, one.field) for one in findings(proof) if one.severity == "error"}


def test_rules_by_which_a_resume_does_an_effect_twice_are_wrong_and_do_not_pass_for_restoring() -> (
    None
):
    proof = prove(order, observe=ledger, options=HERE)
    assert verdicts(proof) == {"charged": "needed", "told": "needed", "seen": "restored"}
    wrong = "prove.rule-goes-wrong"
    assert codes(proof) == {(wrong, "charged"), (wrong, "told")}
    with pytest.raises(AssertionError, match="charged: Scratch does not bring back"):
        assert_resumes(order, observe=ledger, options=HERE)


@pytest.mark.parametrize("name", ["charged", "seen"])
def test_a_rule_that_goes_wrong_is_found_also_where_one_field_is_tried_alone(name: str) -> None:
    alone = Options(pins=(), fields=(name,), points=("after charge",))
    proof = prove(order, observe=ledger, options=alone)
    assert verdicts(proof) == {name: "needed" if name == "charged" else "restored"}


def test_a_loader_that_gives_nothing_any_more_is_no_proof_that_nothing_is_needed() -> None:
    proof = prove(page, between=lose, options=HERE)
    assert verdicts(proof)["text"] == "refetch differs"
    assert codes(proof) == {("prove.refetch-differs", "text")}


def test_the_same_rules_are_right_where_the_world_does_not_change() -> None:
    proof: Any = prove(page, options=HERE)
    assert verdicts(proof)["text"] == "restored"
    assert codes(proof) == set()


def test_a_field_has_nothing_to_do_with_what_is_observed_whatever_it_is_called() -> None:
    def build() -> ks.Workflow:
        return ks.Workflow(Globe, steps=[turn, move])

    proof = prove(build, observe=lambda: "it turns", options=HERE)
    assert verdicts(proof) == {"world": "not needed", "moved": "needed"}
    assert proof.volatile == ("world",)


class Draft(TypedDict, total=False):
    notes: Annotated[str, ks.Drop()]
    title: str


def note(_: Draft) -> Draft:
    return {"notes": "a few words"}


def entitle(_: Draft) -> Draft:
    return {"title": "a title"}


def test_a_field_that_is_dropped_may_be_missing_at_the_end() -> None:
    proof = prove(lambda: ks.Workflow(Draft, steps=[note, entitle]), options=HERE)
    assert verdicts(proof) == {"notes": "not needed", "title": "not needed"}
    assert codes(proof) == set()


class Either(TypedDict, total=False):
    first: Annotated[str, ks.Drop()]
    second: Annotated[str, ks.Drop()]
    answer: str


def both(_: Either) -> Either:
    return {"first": "x", "second": "x"}


def one_of(state: Either) -> Either:
    return {"answer": state.get("first") or state["second"]}


def test_rules_that_are_right_one_by_one_and_wrong_together_are_an_error() -> None:
    proof = prove(lambda: ks.Workflow(Either, steps=[both, one_of]), options=HERE)
    assert set(verdicts(proof).values()) == {"not needed"}
    assert codes(proof) == {("prove.contract-wrong", "")}
