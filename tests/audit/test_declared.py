"""Personal data in a store of ours, where a contract may say that it belongs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, TypedDict

import pytest

import keepset as ks
from keepset.audit.ours.declared import personal_fields
from tests.cli.terminal import say


@ks.contract(name="customer", epoch=1)
class Customer(TypedDict):
    mail: Annotated[str, ks.Keep(personal=True)]
    plan: Annotated[str, ks.Keep()]


def stored(folder: Path, plan: str) -> Path:
    path = folder / "runs.db"
    with ks.open(f"sqlite:///{path}") as store:
        run = store.run(Customer, "a")
        run.save("step", {"mail": "ada@example.org", "plan": plan}, status="done")
    return path


def test_personal_data_in_a_field_that_is_declared_so_is_advice_alone(tmp_path: Path) -> None:
    pytest.importorskip("presidio_analyzer", reason="--pii is asked for where it is installed")
    said = say("audit", stored(tmp_path, "go on"), "--pii", "--json")
    assert said.code == 0
    personal = [one for one in said.result("audit")["findings"] if "personal" in one["code"]]
    assert [(one["place"], one["severity"]) for one in personal] == [("mail", "advice")]


def test_personal_data_in_a_field_that_is_not_declared_so_is_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("presidio_analyzer", reason="--pii is asked for where it is installed")
    said = say("audit", stored(tmp_path, "ask bob@example.org"), "--pii", "--json")
    assert said.code == 40
    personal = [one for one in said.result("audit")["findings"] if "personal" in one["code"]]
    assert {(one["place"], one["severity"]) for one in personal} == {
        ("mail", "advice"),
        ("plan", "warning"),
    }


def test_a_field_counts_as_personal_only_where_each_contract_that_has_it_says_so() -> None:
    def structure(**personal: bool) -> str:
        rules = {name: {"kind": "Keep", "personal": one} for name, one in personal.items()}
        return json.dumps({"fields": {name: {"rule": rule} for name, rule in rules.items()}})

    assert personal_fields([structure(mail=True, plan=False)]) == ("mail",)
    assert personal_fields([structure(mail=True), structure(mail=False, name=True)]) == ("name",)
    assert personal_fields([structure(mail=True), "of another form"]) == ()
    assert personal_fields([]) == ()
