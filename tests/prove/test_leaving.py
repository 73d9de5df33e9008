"""What becomes of a field's rule in a trial: left out, stored, or as it is declared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest

import keepset as ks
from keepset.contracts import Drop, Extract, Keep, Refetch, Reopen, Rule, Scratch, Secret
from keepset.prove.leaving import LeftOut, first_rules, second_rules
from keepset.prove.lives import Experiment, carry_out
from keepset.prove.ports import Script
from keepset.prove.trials import Outcome, Trial
from keepset.prove.workflows import WorkflowTarget


def load(ids: list[str]) -> list[str]:
    return [f"text of {one}" for one in ids]


def connect() -> str:
    return "a connection"


@dataclass
class Answer:
    text: str
    response_metadata: dict[str, int]


class State(TypedDict, total=False):
    kept: Annotated[dict[str, Answer], Keep(without="*.response_metadata", max_bytes=5)]
    fetched: Annotated[list[str], Refetch(load, using="ids", pin="refuse")]
    ids: list[str]
    opened: Annotated[str, Reopen(connect)]
    key: Annotated[str, Secret("env:KEY")]
    scratch: Annotated[str, Scratch(connect)]
    extracted: Annotated[Any, Extract("text")]
    dropped: Annotated[str, Drop(default="none")]
    seen: list[str]


def fill(_: State) -> dict[str, Any]:
    return {
        "kept": {"answer": Answer("hi", {"tokens": 9})},
        "extracted": {"text": "short", "prompt": "long"},
    }


FIELDS = ks.Workflow(State, steps=[fill]).contract.fields
NAMES = list(State.__annotations__)


def rules(**trial: Any) -> dict[str, Rule]:
    return second_rules(FIELDS, Trial("after x", **trial), {})


def test_a_field_that_is_left_out_is_not_stored_whatever_its_rule() -> None:
    found = rules(left_out=frozenset(NAMES))
    assert all(isinstance(rule, LeftOut) and not rule.stored for rule in found.values())


def test_a_rule_that_brings_a_field_back_does_so_until_the_crash() -> None:
    found = first_rules(FIELDS, Trial("after x", left_out=frozenset(NAMES)))
    assert {name for name, rule in found.items() if not isinstance(rule, LeftOut)} == {
        "fetched",
        "opened",
        "key",
        "scratch",
    }
    assert not any(rule.stored for rule in found.values() if not isinstance(rule, Secret))


def test_what_is_declared_holds_where_nothing_else_is_asked_but_for_budgets_and_drop() -> None:
    found = rules()
    assert found["opened"] is FIELDS["opened"].rule
    assert found["extracted"] is FIELDS["extracted"].rule
    assert found["dropped"] == Keep(secrets="allow")
    assert found["kept"] == Keep(secrets="allow", without="*.response_metadata")
    assert found["fetched"] == Refetch(load, using="ids", pin="report")


def test_a_field_that_goes_by_its_rule_has_that_very_rule() -> None:
    found = rules(by_rule=frozenset(NAMES))
    assert all(found[name] is FIELDS[name].rule for name in NAMES)


def test_a_field_that_could_be_fetched_is_stored_where_that_is_asked() -> None:
    assert rules(by_value=frozenset({"fetched"}))["fetched"] == Keep(secrets="allow")


def test_no_rule_of_a_trial_lets_a_secret_into_a_file() -> None:
    trial = Trial("after x", by_value=frozenset({"fetched"}))
    for found in (
        first_rules(FIELDS, trial, "withhold"),
        second_rules(FIELDS, trial, {}, "withhold"),
    ):
        assert not [rule for rule in found.values() if getattr(rule, "secrets", "") == "allow"]


def test_a_secret_is_stored_in_a_file_where_the_contract_says_that_it_may_be() -> None:
    class Open(TypedDict):
        code: Annotated[str, Keep(secrets="allow")]

    fields = ks.Workflow(Open, steps=[fill]).contract.fields
    found = second_rules(fields, Trial("after x"), {}, "withhold")
    assert found["code"] == Keep(secrets="allow")


def test_what_no_checkpoint_takes_is_left_out_or_handed_on() -> None:
    trial = Trial("after x", stuck=frozenset({"ids"}))
    assert isinstance(second_rules(FIELDS, trial, {})["ids"], LeftOut)
    handed = second_rules(FIELDS, trial, {"ids": ["a"]})["ids"]
    assert isinstance(handed, Scratch)
    assert handed.factory() == ["a"]


def look(state: State) -> dict[str, Any]:
    answer = state.get("kept", {}).get("answer")
    metadata = getattr(answer, "response_metadata", "none")
    return {"seen": [repr(state.get("extracted")), repr(metadata)]}


def last(_: State) -> dict[str, Any]:
    return {}


def seen(point: str, *left_out: str) -> list[str]:
    """What the second step was given, in a trial that is ended at a point."""
    target = WorkflowTarget(lambda: ks.Workflow(State, steps=[fill, look, last]))
    experiment = Experiment(target, Script(({"ids": []},)))
    with ks.open("memory:") as store:
        outcome: Outcome = carry_out(experiment, Trial(point, frozenset(left_out)), store)
    assert outcome.failure is None
    return [leaf.text for path, leaf in outcome.state.items() if path[:1] == ("seen",)][1:]


@pytest.mark.parametrize("point", ["after fill", "after look"])
def test_what_a_rule_makes_of_a_value_is_made_of_it_also_where_it_is_left_out(
    point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "none")
    with_everything = seen("after look")
    assert with_everything == ["'short'", repr(seen_metadata())]
    if point == "after look":
        assert seen(point, "extracted", "kept") == with_everything
    else:
        assert seen(point, "extracted", "kept") == ["None", "'none'"]


def seen_metadata() -> object:
    """What ``without`` leaves of the metadata for the next step."""
    contract = ks.Workflow(State, steps=[fill]).contract
    admitted: dict[str, Any] = contract.admit(fill({}))
    return getattr(admitted["kept"]["answer"], "response_metadata", "none")
