"""What a proof recommends: the rule that was measured, and nothing where a person has to choose."""

from __future__ import annotations

from typing import Any

from keepset.contracts import contract_of
from keepset.prove.recommend import Recommendation, recommended
from tests.cli.prove import flows


def of(name: str, state: Any, inputs: tuple[str, ...] = ()) -> dict[str, Recommendation]:
    return recommended(getattr(flows, name)(), contract_of(state).fields, inputs)


def test_what_is_right_already_is_left_alone() -> None:
    found = of("ticket", flows.Ticket)
    assert not {"question", "ids", "docs", "db", "price", "first", "answer"} & set(found)


def test_a_dropped_field_that_is_needed_is_kept_with_what_went_wrong() -> None:
    given = of("ticket", flows.Ticket)["charged"]
    assert given.rule == "Keep()"
    assert given.reason == "needed after find: what observe gave: 2 instead of 1"


def test_a_field_that_no_resume_and_no_caller_needs_is_dropped() -> None:
    given = of("ticket", flows.Ticket)["cache"]
    assert (given.rule, given.reason) == ("Drop()", "not needed at 4 of 4 points")
    assert not given.absent


def test_nothing_is_dropped_where_nobody_said_what_a_caller_reads() -> None:
    for name, one in of("half_measured", flows.Walk).items():
        assert one.rule != "Drop()", name


def test_what_the_first_step_begins_with_is_not_dropped() -> None:
    assert "banner" in of("ticket", flows.Ticket)
    assert "banner" not in of("ticket", flows.Ticket, ("banner",))


def test_where_only_a_person_can_choose_there_is_a_reason_and_no_rule() -> None:
    news = of("ticket", flows.Ticket)["news"]
    token = of("stale", flows.Session)["token"]
    assert (news.rule, token.rule) == ("", "")
    assert "load by what does not change" in news.reason
    assert "Scratch(factory) or Reopen(factory)" in token.reason


def test_what_is_inconclusive_is_left_alone() -> None:
    assert of("unrepeatable", flows.Dice) == {}


def test_a_reason_is_one_line_whatever_a_field_is_called() -> None:
    proof = flows.hostile()
    fields = contract_of(flows.Walk).fields
    named = {one.name: fields["plan"] for one in proof.fields}
    for one in recommended(proof, named).values():
        assert one.reason.isprintable()
        assert "#" not in one.reason


def test_a_field_that_no_checkpoint_takes_and_a_resume_needs_wants_to_be_made_again() -> None:
    given = of("locked", flows.Walk)["lock"]
    assert given.rule == ""
    assert given.reason == (
        "needed after make: KeyError in use, and no checkpoint can hold it: declare Reopen(factory)"
    )
