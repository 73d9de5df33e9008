"""What an audit finds in a store that LangGraph wrote, and what it leaves alone."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from keepset.audit.data import as_data
from keepset.audit.detectors import detectors
from keepset.audit.report import Audit, audited
from keepset.audit.sampling import Plan
from keepset.audit.survey import DAY
from keepset.audit.surveying import Around, Clock, survey
from keepset.readers.ports import Foreign, Item, Overview, Reader, RunFacts, Unreadable
from tests.audit import naive
from tests.audit.memory import MemoryReader

NOW = 1_800_000_000.0


def audit(reader: Reader, now: float | None = None, plan: Plan | None = None) -> Audit:
    around = Around(Clock(now=lambda: now or time.time()))
    return audited(survey(reader, "a store", detectors(), plan, around))


class Rows:
    """A reader of items that a test writes down."""

    kind = "rows"

    def __init__(self, *items: Item, facts: tuple[RunFacts, ...] = ()) -> None:
        self.given = items
        self.facts = facts

    def overview(self) -> Overview:
        return Overview("rows", "1", 0, {"rows": len(self.given)}, len(list(self.runs())))

    def runs(self) -> Iterator[RunFacts]:
        if self.facts:
            yield from self.facts
            return
        for run in sorted({item.run for item in self.given}):
            mine = [item for item in self.given if item.run == run]
            steps = {item.step for item in mine}
            yield RunFacts(run, len(steps), sum(item.size for item in mine))

    def items(self, run: str) -> Iterator[Item]:
        return (item for item in self.given if item.run == run)

    def orphans(self) -> Mapping[str, int]:
        return {}


def state(run: str, step: int, field: str, value: object, *, size: int | None = None) -> Item:
    weight = len(repr(value)) if size is None else size
    return Item(run, "", f"{step:04}", "state", field, weight, "msgpack", value)


@pytest.fixture(scope="module")
def found() -> Audit:
    return audit(MemoryReader(naive.saver(fails=True)))


def codes(found: Audit) -> set[tuple[str, str, str]]:
    return {(one.code, one.surface, one.place) for one in found.findings}


def test_the_worked_example_is_judged_from_what_a_plain_saver_stored(found: Audit) -> None:
    keeps = {one.tally.field: one.verdict.keep for one in found.fields}
    assert {name for name, keep in keeps.items() if keep} == {
        *("question", "doc_ids", "payment", "messages")
    }
    assert {name for name, keep in keeps.items() if not keep} == {
        *("docs", "db", "api_key", "workdir")
    }
    reasons = {one.tally.field: one.verdict.reason for one in found.fields}
    assert reasons["docs"] == "content.beside-ids"
    assert reasons["db"] == "handle"
    assert reasons["api_key"].startswith("secret.")
    assert reasons["workdir"] == "path.temporary"


def test_a_secret_is_found_on_every_surface_with_its_place(found: Audit) -> None:
    assert ("secret.format", "state", "api_key") in codes(found)
    assert ("secret.format", "write", "api_key") in codes(found)
    assert ("secret.format", "metadata", "openai_api_key") in codes(found)
    assert ("secret.format", "error", "__error__") in codes(found)


def test_no_value_of_the_store_is_in_the_report(found: Audit) -> None:
    text = json.dumps(as_data(found))
    for value in (naive.KEY, naive.METADATA_KEY, naive.WORKDIR, "sky blue", "text of a document"):
        assert value not in text
    # The control: the store has each of them.
    reader = MemoryReader(naive.saver(fails=True))
    stored = repr([item.value for run in reader.runs() for item in reader.items(run.run)])
    assert all(value in stored for value in (naive.KEY, naive.METADATA_KEY, naive.WORKDIR))


def test_a_store_in_which_all_belongs_has_no_findings() -> None:
    rows = [state("a", step, "question", "Why is the sky blue?") for step in range(3)]
    clean = audit(Rows(*rows))
    assert clean.findings == ()
    assert clean.is_complete
    assert not clean.has_findings


def test_a_secret_is_counted_by_copies_and_by_runs() -> None:
    rows = [
        state(run, step, "config", {"api_key": naive.KEY}) for run in "abc" for step in range(4)
    ]
    [one] = [one for one in audit(Rows(*rows)).findings if one.code == "secret.format"]
    assert (one.copies, one.runs, one.place) == (12, 3, "config.api_key")


def test_items_of_a_list_share_a_place_and_ids_among_keys_are_not_told() -> None:
    value = {"ada@example.org": [{"token": naive.KEY}, {"token": naive.KEY}]}
    found = audit(Rows(state("a", 0, "users", value)))
    [one] = [one for one in found.findings if one.code == "secret.format"]
    assert one.place == "users.*[*].token"
    assert one.copies == 2


def test_a_secret_that_is_a_name_is_found_and_told_nowhere() -> None:
    handle = "<Client object at 0x7f0000000000>"
    found = audit(
        Rows(
            state("a", 0, naive.KEY, {"n": 1}),
            state("a", 0, "ada@example.org", [1]),
            state("a", 0, "quota", {naive.KEY: {"client": handle}}),
            state("a", 0, "made", [Foreign(naive.KEY, {"n": 1})]),
        )
    )
    assert ("secret.format", "state", "[withheld: secret.format]") in codes(found)
    assert ("secret.format", "state", "quota[*]") in codes(found)
    assert ("repr.leftover", "state", "quota.*.client") in codes(found)
    assert [one.name for one in found.fields if one.name == "*"] == ["*"]
    text = json.dumps(as_data(found))
    assert naive.KEY not in text
    assert "ada@example.org" not in text


def test_what_a_type_is_made_of_is_looked_at_and_what_a_load_would_import_is_counted() -> None:
    order = Foreign(
        "app.models.Order", {"card": Foreign("app.models.Card", {"api_key": naive.KEY})}
    )
    found = audit(Rows(state("a", 0, "order", order)))
    assert ("secret.format", "state", "order.card.api_key") in codes(found)
    data = as_data(found)
    assert {one["type"]: one["count"] for one in data["imports"]} == {
        "app.models.Order": 1,
        "app.models.Card": 1,
    }
    assert any(one.code == "audit.imports" for one in found.findings)


def test_what_cannot_be_read_is_told_and_the_store_is_not_called_clean() -> None:
    rows = [state("a", 0, "plan", Unreadable("cut short")), state("a", 1, "plan", {"x": 1})]
    found = audit(Rows(*rows))
    assert not found.is_complete
    [one] = [one for one in found.findings if one.code == "audit.unreadable"]
    assert "cut short" in one.message


def test_a_value_nested_without_end_is_unreadable_and_ends_nothing() -> None:
    deep: Any = "bottom"
    for _ in range(50_000):
        deep = [deep]
    found = audit(Rows(state("a", 0, "deep", {"deep": deep}, size=50_000)))
    assert any("deep" in one.message for one in found.findings if one.code == "audit.unreadable")


@pytest.mark.parametrize(
    "text",
    [
        "<httpx.Client object at 0x7f00aa11bb22>",
        "<function make at 0x7f00aa11bb22>",
        "Client(base_url='http://x', api_key='k')",
    ],
)
def test_the_text_that_an_object_left_behind_is_found(text: str) -> None:
    found = audit(Rows(state("a", 0, "client", text)))
    assert any(one.code == "repr.leftover" for one in found.findings)


@pytest.mark.parametrize(
    "text", ["It crashed at 0x7f00aa11bb22, why?", "f(x) = a(x)", "Order(id=3)"]
)
def test_prose_is_not_taken_for_the_text_of_an_object(text: str) -> None:
    assert audit(Rows(state("a", 0, "client", text))).findings == ()


def test_a_field_that_is_written_again_unchanged_says_how_often() -> None:
    rows = [
        item
        for step in range(10)
        for item in (state("a", step, "doc", "x" * 30_000), state("a", step, "n", step))
    ]
    found = audit(Rows(*rows))
    fields = {one.tally.field: one.tally for one in found.fields}
    assert (fields["doc"].same, fields["n"].same) == (9, 0)
    assert any(one.code == "audit.rewritten" for one in found.findings)


def test_a_field_says_by_how_much_it_grows_in_a_step() -> None:
    rows = [state("a", step, "log", ["x"] * step, size=100 * step) for step in range(1, 11)]
    [field] = audit(Rows(*rows)).fields
    assert field.growth == pytest.approx(100)


def test_the_same_content_in_several_runs_is_told_as_such() -> None:
    rows = [state(run, 0, "manual", "x" * 60_000) for run in "abcd"]
    found = audit(Rows(*rows))
    [field] = found.fields
    assert field.again == sum(item.size for item in rows[1:])
    assert any(one.code == "audit.repeated" for one in found.findings)


def test_an_unfinished_run_that_waits_for_long_is_told_with_the_oldest() -> None:
    facts = (
        RunFacts("old", 3, 10, NOW - 90 * DAY, NOW - 60 * DAY, is_unfinished=True),
        RunFacts("new", 3, 10, NOW - 2 * DAY, NOW - DAY, is_unfinished=True),
        RunFacts("done", 3, 10, NOW - 400 * DAY, NOW - 400 * DAY, is_unfinished=False),
    )
    found = audit(Rows(facts=facts), now=NOW)
    runs = found.survey.tally.runs
    assert (runs.unfinished, runs.oldest_run) == (2, "old")
    [one] = [one for one in found.findings if one.code == "audit.unfinished"]
    assert "60 days" in one.message
    assert {one.code for one in found.findings} == {"audit.unfinished", "audit.old"}


def test_metadata_of_model_responses_is_weighed() -> None:
    message = {
        "type": "ai",
        "content": "x",
        "response_metadata": {"headers": "h" * 500},
        "usage_metadata": {"input_tokens": 1},
    }
    found = audit(Rows(state("a", 0, "messages", [message, message])))
    inside = as_data(found)["response_metadata"]
    assert inside["response_metadata"] > 1_000
    assert any(one.code == "audit.response-metadata" for one in found.findings)


def test_what_the_host_keeps_for_itself_is_not_judged() -> None:
    found = audit(Rows(state("a", 0, "branch:to:find", None), state("a", 0, "__pregel_tasks", [])))
    assert found.fields == ()
    assert {one["field"] for one in as_data(found)["host_fields"]} == {
        "branch:to:find",
        "__pregel_tasks",
    }


def test_the_state_of_a_graph_inside_is_told_apart_from_that_of_the_outer_one() -> None:
    inner = replace(
        state("a", 0, "plan", "x"), namespace="child:8c3b6f1e-1f0a-4b0f-9d53-6a1e9a3d0c11"
    )
    names = {one.name for one in audit(Rows(inner, state("a", 0, "plan", "y"))).fields}
    assert names == {"plan", "child/plan"}


def test_encrypted_values_are_counted_as_such_and_nothing_is_said_of_them() -> None:
    sealed = replace(state("a", 0, "plan", None, size=80), encoding="encrypted")
    found = audit(Rows(sealed))
    assert [one.code for one in found.findings] == ["audit.encrypted"]
    assert "encrypted" in found.fields[0].verdict.why


def test_a_store_without_runs_has_an_audit() -> None:
    found = audit(MemoryReader(InMemorySaver()))
    assert as_data(found)["runs"]["count"] == 0
    assert found.is_complete


def test_a_conversation_belongs_though_each_message_is_a_whole_response() -> None:
    message = {"type": "ai", "content": "x", "response_metadata": {"model": "m"}}
    [field] = audit(Rows(state("a", 0, "messages", [message, message]))).fields
    assert field.verdict.keep
    assert "response.object (langchain.message) at messages[*]" in field.verdict.why
    [field] = audit(Rows(state("a", 0, "answer", message))).fields
    assert field.verdict.reason == "response.object"
