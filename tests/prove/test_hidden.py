"""What cannot be seen is no ground for a verdict."""

from __future__ import annotations

import random
import uuid
from typing import Annotated, Any, TypedDict

import keepset as ks
from keepset.prove.proof import Proven
from keepset.testing import Options, prove

CHANCE = random.SystemRandom()


class Offer(TypedDict, total=False):
    price: int
    number: str
    total: float


def ask(_: Offer) -> Offer:
    return {"price": 7, "number": uuid.uuid4().hex}


def add(offer: Offer) -> Offer:
    return {"total": offer.get("price", 1) * (1 + CHANCE.random())}


def close(_: Offer) -> Offer:
    return {}


def build() -> ks.Workflow:
    return ks.Workflow(Offer, steps=[ask, add, close])


def test_no_field_is_not_needed_while_a_number_that_a_caller_reads_is_another_each_time() -> None:
    proof = prove(build, {}, options=Options(outputs=("total",), jobs=1))
    fields = {field.name: field for field in proof.fields}
    assert fields["price"].verdict is Proven.INCONCLUSIVE
    assert "total" in fields["price"].cells[0].why
    assert fields["total"].verdict is Proven.NEEDED
    assert not proof.is_conclusive


def test_an_id_that_a_caller_reads_may_be_another_one_each_time() -> None:
    proof = prove(build, {}, options=Options(outputs=("number",), pins=(), jobs=1))
    fields = {field.name: field.verdict for field in proof.fields}
    assert fields["number"] is Proven.NEEDED
    assert fields["price"] is Proven.NOT_NEEDED


class Draft(TypedDict, total=False):
    tone: Annotated[str, ks.Drop(default="plain")]
    text: str


def begin(_: Draft) -> Draft:
    return {"text": "Dear"}


def write(draft: Draft) -> Draft:
    return {"text": f"{draft['text']} {draft['tone']}"}


def test_a_default_that_is_all_that_a_resume_needs_brings_the_field_back() -> None:
    workflow = ks.Workflow(Draft, steps=[begin, write])
    proof = prove(workflow, {"tone": "plain"}, options=Options(outputs=("text",), jobs=1))
    assert {field.name: field.verdict for field in proof.fields}["tone"] is Proven.RESTORED


class Handle:
    """Something that nobody can look into."""

    def __init__(self, number: int) -> None:
        self.number = number


class Sum(TypedDict, total=False):
    number: int
    result: Any


def count(_: Sum) -> Sum:
    return {"number": 3}


def wrap(state: Sum) -> Sum:
    return {"result": Handle(state.get("number", 0))}


def test_a_final_value_that_cannot_be_compared_is_named_and_is_no_output_to_judge_by() -> None:
    workflow = ks.Workflow(Sum, steps=[count, wrap])
    told = prove(workflow, {}, options=Options(jobs=1))
    assert told.opaque == ("result",)
    judged = prove(workflow, {}, options=Options(outputs=("result",), jobs=1))
    fields = {field.name: field for field in judged.fields}
    assert fields["number"].verdict is Proven.INCONCLUSIVE
    assert "result" in fields["number"].cells[0].why
