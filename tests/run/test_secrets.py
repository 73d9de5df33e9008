"""A planted secret is in no file, no log and no message; a control shows that it would be found."""

from __future__ import annotations

import copy
import io
import logging
import traceback
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import SecretStr

import keepset as ks
from keepset.errors import KeepsetError, PolicyError
from keepset.verdict.status import Resume

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PHRASE = "correct-horse-battery-staple"


class Open(TypedDict, total=False):
    question: str
    notes: list[Any]
    api_key: str
    declared: Annotated[str, ks.Secret("env:KEEPSET_TEST_PHRASE")]


class Anything(TypedDict, total=False):
    notes: Annotated[Any, ks.Keep()]


class Allowed(TypedDict, total=False):
    question: Annotated[str, ks.Keep(secrets="allow")]


class Refused(TypedDict, total=False):
    question: Annotated[str, ks.Keep(secrets="refuse")]


def holds(folder: Path, needle: str) -> bool:
    """Look in every file, and in every value read back and unpacked."""
    return any(needle.encode() in file.read_bytes() for file in sorted(folder.iterdir()))


def read_back(url: str, needle: str) -> bool:
    with ks.open(url, role="viewer") as store:
        for summary in store.runs():
            run = store.inspect(summary.run.key.run_id)
            for checkpoint in run.history():
                view = run.at(checkpoint.id)
                if needle in repr((view.values, checkpoint)):
                    return True
    return False


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("KEEPSET_TEST_PHRASE", PHRASE)
    (tmp_path / "db").mkdir()
    return f"sqlite:///{tmp_path / 'db' / 'runs.db'}"


def save(url: str, contract: Any, state: Any, **more: Any) -> Any:
    """Save a state 70 times, so that steps and segments hold it, with compression off."""
    with ks.open(url, compression=False, **more) as store:
        run = store.run(contract, "r")
        for number in range(70):
            run.save("step", {**state, "question": f"{state.get('question', '')} {number}"})
        return run.findings


STATES = [
    {"question": f"my key is {TOKEN}, help"},
    {"notes": [{"deep": [TOKEN]}]},
    {"notes": [{"password": PHRASE}]},
    {"notes": [{TOKEN: 1}]},
    {"notes": [f"Authorization: Bearer {TOKEN}"]},
    {"api_key": PHRASE},
    {"declared": PHRASE, "notes": [f"the phrase is {PHRASE}."]},
    {"notes": [ValueError(f"401 for key {TOKEN}")]},
    {"notes": [(1, {"x": {2, TOKEN}})]},
    {"notes": [SecretStr(PHRASE)]},
    {"notes": [TOKEN.encode()]},
]


@pytest.mark.parametrize("state", STATES)
def test_a_planted_secret_is_in_no_file_and_in_no_value_read_back(
    url: str, tmp_path: Path, state: dict[str, Any]
) -> None:
    findings = save(url, Open, state)
    needle = PHRASE if PHRASE in repr(state) or "SecretStr" in repr(state) else TOKEN
    assert not holds(tmp_path / "db", needle)
    assert not read_back(url, needle)
    assert any(finding.kind.startswith("secret.") for finding in findings)
    assert needle not in repr(findings)


def test_control_a_secret_that_is_stored_on_purpose_is_found(url: str, tmp_path: Path) -> None:
    save(url, Allowed, {"question": TOKEN})
    assert holds(tmp_path / "db", TOKEN)
    assert read_back(url, TOKEN)


def test_control_observe_stores_a_secret_and_reports_it(url: str, tmp_path: Path) -> None:
    findings = save(url, Open, {"question": TOKEN}, mode="observe")
    assert holds(tmp_path / "db", TOKEN)
    assert {finding.kind for finding in findings} == {"secret.format"}


@pytest.mark.parametrize(("contract", "mode"), [(Refused, "protect"), (Allowed, "strict")])
def test_a_secret_is_refused_where_that_is_asked_for(url: str, contract: Any, mode: str) -> None:
    with ks.open(url, mode=mode) as store:
        run = store.run(contract, "r")
        if contract is Allowed:
            run.save("one", {"question": TOKEN})
            return
        with pytest.raises(PolicyError) as refused:
            run.save("one", {"question": f"it is {TOKEN}"})
        assert refused.value.code == "policy.secret-format"
        assert TOKEN not in "".join(traceback.format_exception(refused.value))
        assert store.runs() == []


def test_the_operator_s_switch_wins_over_the_code(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPSET_MODE", "strict")
    with ks.open(url, mode="observe") as store:
        assert store.mode == "strict"


def test_a_resumed_run_that_reads_a_withheld_value_learns_which_rule_to_declare(url: str) -> None:
    save(url, Open, {"api_key": PHRASE})
    with ks.open(url) as store:
        report = store.can_resume("r", Open)
        assert report.verdict is Resume.POLICY
        assert "api_key" in report.reasons[0].message
        state = store.run(Open, "r").state
        with pytest.raises(PolicyError, match="api_key"):
            _ = state["api_key"].upper()


def test_a_text_with_a_masked_secret_reads_on_and_may_grow(url: str) -> None:
    with ks.open(url) as store:
        run = store.run(Open, "r")
        text = f"my key is {TOKEN}, and"
        run.save("one", {"question": text})
        run.save("two", {"question": text + " so on"})
        stored = store.run(Open, "r").state["question"]
    assert stored.startswith("my key is [")
    assert stored.endswith("], and so on")


def test_secrets_in_metadata_and_in_names_of_steps_are_withheld(url: str, tmp_path: Path) -> None:
    with ks.open(url, compression=False) as store:
        run = store.run(Open, "r")
        for _ in range(70):
            run.save(
                f"call {TOKEN}", {"question": "q"}, metadata={"openai_api_key": PHRASE, "n": 1}
            )
    assert not holds(tmp_path / "db", TOKEN)
    assert not holds(tmp_path / "db", PHRASE)
    assert not read_back(url, TOKEN)
    assert not read_back(url, PHRASE)


def test_no_log_and_no_error_holds_the_value_that_was_refused(url: str) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger().addHandler(handler)
    try:
        with ks.open(url, mode="strict") as store, pytest.raises(KeepsetError) as refused:
            store.run(Refused, "r").save("one", {"question": TOKEN})
    finally:
        logging.getLogger().removeHandler(handler)
    assert TOKEN not in stream.getvalue()
    assert TOKEN not in "".join(traceback.format_exception(refused.value))
    assert TOKEN not in repr(refused.value)


def test_names_of_persons_are_stored_as_keyed_hashes_only(url: str, tmp_path: Path) -> None:
    with ks.open(url, compression=False) as store:
        store.run(Open, "r", subject="jane.doe@example.org").save("one", {"question": "q"})
        assert [s.run.key.run_id for s in store.runs(subject="jane.doe@example.org")] == ["r"]
        assert store.runs(subject="john") == []
    assert not holds(tmp_path / "db", "jane.doe")


def test_the_name_of_a_deleted_run_is_in_no_file(url: str, tmp_path: Path) -> None:
    with ks.open(url, compression=False) as store:
        store.run(Open, "chat-with-jane-doe").save("one", {"question": "the planted text"})
        store.run(Open, "other").save("one", {"question": "another text"})
        assert holds(tmp_path / "db", "chat-with-jane-doe"), "control"
        assert store.delete("chat-with-jane-doe")
        assert not holds(tmp_path / "db", "chat-with-jane-doe")
        assert not holds(tmp_path / "db", "the planted text")
        assert holds(tmp_path / "db", "another text")


RANDOM = "q8Zx2LmP0vR7tY4wK9nB"
IN_PLACE: list[tuple[dict[str, Any], Any]] = [
    ({"notes": {"name": "x-api-key", "value": ""}}, lambda n: n.update(value=RANDOM)),
    ({"notes": {"name": "colour", "value": RANDOM}}, lambda n: n.update(name="x-api-key")),
    ({"notes": ["x-api-key", ""]}, lambda n: n.__setitem__(1, RANDOM)),
    ({"notes": ["first", "x-api-key", RANDOM]}, lambda n: n.pop(0)),
    ({"notes": {"config": {"api_key": ""}}}, lambda n: n["config"].update(api_key=RANDOM)),
    ({"notes": {"api_key": {"prod": ""}}}, lambda n: n["api_key"].update(prod=RANDOM)),
    ({"notes": [{"text": "ghp_"}]}, lambda n: n[0].update(text=TOKEN)),
    ({"notes": {"long": "x" * 70_000}}, lambda n: n.update(long="x" * 70_000 + f" {TOKEN} ")),
]


@pytest.mark.parametrize(("state", "change"), IN_PLACE)
def test_a_secret_that_comes_in_by_a_change_in_place_is_withheld(
    url: str, tmp_path: Path, state: dict[str, Any], change: Any
) -> None:
    state = copy.deepcopy(state)
    with ks.open(url, compression=False) as store:
        run = store.run(Anything, "r")
        run.save("one", state)
        change(state["notes"])
        run.save("two", state)
        assert any(finding.kind.startswith("secret.") for finding in run.findings)
    with ks.open(url) as store:
        newest = store.inspect("r").history()[0]
        shown = repr(store.inspect("r").at(newest).values)
    assert TOKEN not in shown
    assert RANDOM not in shown
    assert not holds(tmp_path / "db", TOKEN)


def test_a_withheld_secret_stays_out_when_something_else_in_its_field_changes(
    url: str, tmp_path: Path
) -> None:
    state: dict[str, Any] = {"notes": [f"use {TOKEN} now", {"count": 0}]}
    with ks.open(url, compression=False) as store:
        run = store.run(Anything, "r")
        for number in range(70):
            state["notes"][1]["count"] = number
            run.save("step", state)
        state["notes"].append("x" * 2_000)
        run.save("step", state)
        state["notes"].clear()
        state["notes"].append(f"use {TOKEN} again")
        run.save("step", state)
    assert not holds(tmp_path / "db", TOKEN)
    assert not read_back(url, TOKEN)
