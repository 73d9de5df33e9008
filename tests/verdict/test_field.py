"""A verdict follows from evidence: the reason that decides comes first."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from keepset.codec import GLOBAL, Codec
from keepset.contracts import Drop, Extract, Keep, Refetch, Reopen, Scratch, Secret, contract_of
from keepset.errors import PolicyError
from keepset.scan import Finding, KnownValues, Scanner
from keepset.verdict import field as judging
from keepset.verdict import table
from keepset.verdict.examine import verdicts_on
from keepset.verdict.field import Examined, FieldVerdict, Verdicts

KEY = "pX3-vQ9_lm27RtYw0ZbK"


def load(ids: list[str]) -> list[str]:
    return ids


def connect() -> sqlite3.Connection:
    return sqlite3.connect(":memory:")


def folder() -> Path:
    return Path("made")


class Ticket(TypedDict, total=False):
    doc_ids: Annotated[list[str], Keep()]
    docs: Annotated[list[str], Refetch(load, using="doc_ids")]
    db: Annotated[sqlite3.Connection, Reopen(connect)]
    api_key: Annotated[str, Secret("env:KEY")]
    flags: Annotated[dict[str, Any], Keep()]
    workdir: Annotated[Path, Scratch(folder)]
    title: str
    part: Annotated[str, Extract("text")]
    noise: Annotated[str, Drop(default="")]


FIELDS = contract_of(Ticket).fields


def found(kind: str, *path: str | int, whole: bool = True) -> Finding:
    return Finding(kind=kind, path=path, detail="rule-x", advice="", whole=whole, span=None)


def on(name: str, **facts: Any) -> FieldVerdict:
    verdicts = judging.judge({name: FIELDS[name]}, {name: Examined(**facts)})
    return verdicts.fields[0]


def refusal(path: str) -> PolicyError:
    return PolicyError(f"{path}: sqlite3.Connection", code="codec.unknown-type")


@pytest.mark.parametrize(
    ("name", "keep", "reason"),
    [
        ("doc_ids", True, "declared.keep"),
        ("docs", False, "declared.refetch"),
        ("db", False, "declared.reopen"),
        ("api_key", False, "declared.secret"),
        ("workdir", False, "declared.scratch"),
        ("part", True, "declared.extract"),
        ("noise", False, "declared.drop"),
        ("title", True, "undeclared"),
    ],
)
def test_without_a_finding_the_contract_decides_and_the_evidence_says_so(
    name: str,
    keep: bool,  # noqa: FBT001 - pytest hands parameters over by name
    reason: str,
) -> None:
    verdict = on(name, bytes_now=12)
    assert (verdict.keep, verdict.reason, verdict.evidence) == (keep, reason, "declared")


def test_a_secret_in_a_field_that_is_declared_keep_is_left_out_and_the_sentence_says_both() -> None:
    verdict = on("doc_ids", findings=(found("secret.name", "doc_ids"),))
    assert (verdict.keep, verdict.reason, verdict.evidence) == (False, "secret.name", "detected")
    assert "declared Keep" in verdict.why
    assert "Secret(" in verdict.why
    assert verdict.also == ("declared.keep",)


def test_reasons_decide_in_a_fixed_order_whatever_the_order_in_which_they_were_found() -> None:
    kinds = ["size.over-budget", "response.object", "content.beside-ids", "path.temporary"]
    kinds += ["secret.value", "handle"]
    for order in (kinds, kinds[::-1]):
        facts = tuple(found(kind, "doc_ids") for kind in order)
        verdict = on("doc_ids", findings=facts, refusal=refusal("doc_ids"))
        assert verdict.reason == "codec.unknown-type"
        assert verdict.also == (
            "handle",
            "secret.value",
            "path.temporary",
            "content.beside-ids",
            "response.object",
            "size.over-budget",
            "declared.keep",
        )


def test_a_value_that_the_codec_refuses_cannot_be_serialised_and_its_path_is_named() -> None:
    verdict = on("db", refusal=refusal("db.inner"))
    assert (verdict.keep, verdict.evidence) == (False, "detected")
    assert "cannot be serialised (db.inner: sqlite3.Connection" in verdict.why


def test_a_finding_on_one_item_stands_inside_a_field_and_one_on_every_item_is_against_it() -> None:
    one = (found("path.temporary", "doc_ids", 0),)
    inside = on("doc_ids", findings=one, children=(0, 1))
    assert inside.keep
    assert "doc_ids[0]" in inside.why
    assert inside.also == ("path.temporary",)
    both = (*one, found("path.temporary", "doc_ids", 1))
    assert not on("doc_ids", findings=both, children=(0, 1)).keep


def test_a_secret_within_a_longer_text_does_not_throw_the_text_out() -> None:
    verdict = on("title", findings=(found("secret.format", "title", whole=False),))
    assert verdict.keep
    assert verdict.also == ("secret.format",)


def test_what_a_rule_allows_does_not_decide() -> None:
    class Allowed(TypedDict):
        reply: Annotated[dict[str, Any], Keep(allow="response.object")]

    fields = contract_of(Allowed).fields
    facts = {"reply": Examined(findings=(found("response.object", "reply"),))}
    verdict = judging.judge(fields, facts).fields[0]
    assert (verdict.keep, verdict.reason) == (True, "declared.keep")
    assert verdict.also == ("response.object",)


def test_an_undeclared_field_that_does_not_belong_is_told_which_rule_to_use() -> None:
    verdict = on("title", findings=(found("path.temporary", "title"),))
    assert not verdict.keep
    assert "no rule is declared" in verdict.why
    assert "Scratch(" in verdict.why


def test_costs_are_bytes_times_steps_times_runs_and_the_count_says_how_many_belong() -> None:
    facts = {"doc_ids": Examined(bytes_now=10, bytes_kept=10), "docs": Examined(bytes_now=500)}
    chosen = {name: FIELDS[name] for name in facts}
    verdicts = judging.judge(chosen, facts, steps=3, runs=7)
    assert verdicts.bytes_now == 510
    assert verdicts.bytes_kept == 10
    assert verdicts.cost(verdicts.bytes_now) == 510 * 21
    assert table.count(verdicts) == "1 of 2 belong"
    data = table.as_data(verdicts)
    assert (data["bytes_now"], data["bytes_kept"]) == (510 * 21, 10 * 21)


def test_the_table_has_a_row_for_each_field_and_the_count_below() -> None:
    text = table.as_text(judging.judge(FIELDS, {}))
    lines = text.splitlines()
    assert [cell.strip() for cell in lines[0].split("|")[1:4]] == ["candidate", "keep", "why"]
    assert [line.split("|")[1].strip() for line in lines[2:-2]] == list(FIELDS)
    assert lines[-1] == "4 of 9 belong"


def _judged(tmp_path: Path, **changed: Any) -> tuple[Verdicts, dict[str, FieldVerdict]]:
    known = KnownValues()
    known.add(KEY, "env:KEY")
    scanner = Scanner(known, (str(tmp_path),))
    contract = contract_of(Ticket)
    work = tmp_path / "work"
    values: dict[str, object] = {
        "doc_ids": ["a", "b"],
        "docs": [{"id": "a", "text": "x" * 4_000}, {"id": "b", "text": "y" * 4_000}],
        "db": connect(),
        "api_key": KEY,
        "flags": {"attempts": 2, "charged": True},
        "workdir": work,
        **changed,
    }
    codec = Codec(GLOBAL.with_types(contract.classes))
    verdicts = verdicts_on(contract, values, scanner, codec)
    values["db"].close()  # type: ignore[attr-defined]  # the connection that was made above
    return verdicts, {verdict.field: verdict for verdict in verdicts.fields}


def test_real_values_are_judged_by_detectors_and_codec_and_not_by_their_names(
    tmp_path: Path,
) -> None:
    verdicts, by_name = _judged(tmp_path)
    assert by_name["docs"].reason == "content.beside-ids"
    assert by_name["db"].reason.startswith(("codec.", "handle"))
    assert by_name["api_key"].reason.startswith("secret.")
    assert by_name["workdir"].reason == "path.temporary"
    assert {name for name, v in by_name.items() if v.evidence == "detected"} == {
        "docs",
        "db",
        "api_key",
        "workdir",
    }
    assert by_name["docs"].bytes_now > 8_000
    assert by_name["docs"].bytes_kept == 0
    assert KEY not in repr(verdicts)


def test_the_same_names_with_harmless_values_are_declared_and_not_detected(tmp_path: Path) -> None:
    harmless = {"docs": [], "api_key": "env:KEY", "workdir": Path("results")}
    _, by_name = _judged(tmp_path, **harmless)
    assert {by_name[name].evidence for name in harmless} == {"declared"}


def test_flags_and_counters_are_told_by_their_values(tmp_path: Path) -> None:
    _, by_name = _judged(tmp_path)
    assert "resume is wrong without it" in by_name["flags"].why
    _, by_name = _judged(tmp_path, flags={"charged": "yes"})
    assert "resume is wrong without it" not in by_name["flags"].why
