"""`Drop` is advised only where a run that is never ended goes right under it as well."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import pytest

import keepset as ks
from keepset.prove.findings import findings
from keepset.prove.proof import Proof
from keepset.prove.recommend import recommended
from keepset.testing import Options, prove


class Order(TypedDict, total=False):
    customer: str
    basket: list[str]
    total: int
    note: str
    receipt: str


def weigh(order: Order) -> Order:
    return {"total": len(order["basket"]), "note": "weighed"}


def bill(order: Order) -> Order:
    with Path("ledger.txt").open("a", encoding="utf-8") as ledger:
        ledger.write(f"{order['customer']} {order['total']}\n")
    return {}


def close(order: Order) -> Order:
    return {"receipt": f"{order['customer']}: {order['total']}"}


def build() -> ks.Workflow:
    return ks.Workflow(Order, steps=[weigh, bill, close])


def ledger() -> list[str]:
    path = Path("ledger.txt")
    return path.read_text("utf-8").splitlines() if path.exists() else []


INPUT = {"customer": "Ada", "basket": ["pen", "ink"]}


def _proof(*outputs: str) -> Proof:
    options = Options(outputs=outputs, jobs=1)
    return prove(build, INPUT, observe=ledger, options=options)


@pytest.fixture(scope="module")
def proof() -> Proof:
    return _proof("receipt")


def test_what_only_the_first_step_reads_is_not_needed_and_not_to_be_dropped(proof: Proof) -> None:
    fields = {field.name: field for field in proof.fields}
    assert fields["basket"].verdict.value == "not needed"
    assert not fields["basket"].is_droppable
    codes = {finding.field: finding.code for finding in findings(proof)}
    assert codes["basket"] == "prove.kept-between-steps"
    wanted = recommended(proof, ks.contract_of(Order).fields)
    assert wanted["basket"].rule == "Keep()"


def test_what_nobody_reads_is_dropped(proof: Proof) -> None:
    codes = {finding.field: finding.code for finding in findings(proof)}
    assert codes == {"basket": "prove.kept-between-steps", "note": "prove.kept-not-needed"}
    wanted = recommended(proof, ks.contract_of(Order).fields)
    assert wanted["note"].rule == "Drop()"


def test_before_it_is_known_what_a_caller_reads_nothing_at_the_end_is_called_useless() -> None:
    codes = {finding.field: finding.code for finding in findings(_proof())}
    assert codes["receipt"] == "prove.kept-for-the-end"
    assert codes["note"] == "prove.kept-for-the-end"


def test_what_was_tried_at_one_point_only_gives_no_advice() -> None:
    options = Options(outputs=("receipt",), jobs=1, points=("after bill",))
    found = prove(build, INPUT, observe=ledger, options=options)
    assert findings(found) == ()
