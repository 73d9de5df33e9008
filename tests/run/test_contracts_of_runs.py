"""A run stays with its contract, its subject and what it declared."""

from __future__ import annotations

import logging
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import SecretStr

import keepset as ks
from keepset.errors import KeepsetError, NotFoundError, PolicyError, SchemaError, UsageError
from keepset.run.retention import Retention
from keepset.verdict.status import Resume
from tests.run.states import Chat

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class One(TypedDict, total=False):
    a: Annotated[str, ks.Keep()]


class Two(TypedDict, total=False):
    b: Annotated[str, ks.Keep()]


def shape(name: str, epoch: int | None, **fields: Any) -> Any:
    state = TypedDict("state", fields)  # type: ignore[misc]  # made from data
    return ks.contract(name=name, epoch=epoch)(state)


SHAPES = {
    "another name": (shape("alpha", None, a=str), shape("beta", None, a=str)),
    "a lower epoch": (shape("s", 2, a=str), shape("s", 1, a=str)),
    "a higher epoch": (shape("s", 1, a=str), shape("s", 2, a=str)),
    "a field of another type": (shape("s", None, a=str), shape("s", None, a=int)),
    "a field that is new and required": (shape("s", 1, a=str), shape("s", 1, a=str, b=str)),
    "two states": (One, Two),
}


@pytest.mark.parametrize("what", SHAPES)
def test_a_run_is_neither_read_nor_overwritten_with_a_contract_that_does_not_fit(what: str) -> None:
    old, new = SHAPES[what]
    with ks.open("memory:") as store:
        store.run(old, "r").save("one", {"a": "x"})
        assert store.can_resume("r", new).verdict is Resume.INCOMPATIBLE
        with pytest.raises(SchemaError) as refused:
            _ = store.run(new, "r").state
        assert refused.value.code.startswith("resume.other-")
        with pytest.raises(SchemaError):
            store.run(new, "r").save("two", {"b": "y"})
        assert store.run(old, "r").state == {"a": "x"}


def test_an_unversioned_state_may_gain_a_field_that_need_not_be_there() -> None:
    wide = shape("s", None, a=str, b=Annotated[Any, ks.Drop(default=None)])
    with ks.open("memory:") as store:
        store.run(shape("s", None, a=str), "r").save("one", {"a": "x"})
        assert store.run(wide, "r").state["a"] == "x"
        report = store.can_resume("r", wide)
        assert str(report.verdict) == f"{report.verdict}" == "AS_IS"
        assert [one.hint for one in report.reasons] == [
            "Nothing is to be done: the run goes on with this code."
        ]


class Growing(TypedDict, total=False):
    log: Annotated[list[Any], ks.Keep(append_only=True)]
    text: Annotated[str, ks.Keep(append_only=True)]


@pytest.mark.parametrize(
    "broken", [{"log": [1]}, {"log": [1, 3, 2]}, {"log": [True, 2]}, {"text": "b"}, {"log": {}}]
)
def test_what_is_declared_to_grow_only_is_refused_when_it_changes(broken: Any) -> None:
    with ks.open("memory:") as store:
        run = store.run(Growing, "r")
        run.save("one", {"log": [1, 2], "text": "a"})
        run.save("two", {"log": [1, 2, 3], "text": "ab"})
        with pytest.raises(PolicyError) as refused:
            run.save("three", {"log": [1, 2, 3], "text": "ab"} | broken)
        assert refused.value.code == "policy.append-only"
        run.save("three", {"log": [1, 2, 3, 4], "text": "abc"})


class Counted(TypedDict, total=False):
    votes: Annotated[dict[str, int], ks.Keep(append_only=True)]


def test_a_mapping_that_is_declared_to_grow_only_takes_new_entries_alone() -> None:
    with ks.open("memory:") as store:
        run = store.run(Counted, "r")
        votes = {f"voter {number}": number for number in range(40)}
        for number in range(3):
            votes[f"late voter {number}"] = 1
            run.save("step", {"votes": votes})
        with pytest.raises(PolicyError) as refused:
            run.save("step", {"votes": votes | {"voter 7": 8}})
        assert refused.value.code == "policy.append-only"
        run.save("step", {"votes": votes | {"last voter": 8}})
        assert store.run(Counted, "r").state == {"votes": votes | {"last voter": 8}}


class Owned(TypedDict, total=False):
    user: Annotated[str, ks.Keep()]
    note: Annotated[str, ks.Keep(personal=True, subject="user")]


def test_the_field_that_names_the_person_makes_the_run_findable_by_the_person() -> None:
    with ks.open("memory:") as store:
        run = store.run(Owned, "r")
        run.save("one", {"note": "n"})
        assert store.runs(subject="jane") == []
        run.save("two", {"user": "jane", "note": "n"})
        assert [found.run.key.run_id for found in store.runs(subject="jane")] == ["r"]


class Part(TypedDict, total=False):
    answer: Annotated[Any, ks.Extract("content")]
    count: Annotated[int, ks.Keep()]


def test_what_was_extracted_is_not_extracted_from_again_when_it_is_changed_in_place() -> None:
    with ks.open("memory:") as store:
        run = store.run(Part, "r")
        run.save("one", {"answer": {"content": {"content": "inner", "k": 1}, "usage": 3}})
        assert run.state == {"answer": {"content": "inner", "k": 1}}, "what a resumed run would see"
        again = store.run(Part, "r")
        state = again.state
        state["answer"]["k"] = 2
        again.save("two", state)
        assert store.run(Part, "r").state == {"answer": {"content": "inner", "k": 2}}


def test_a_step_may_give_the_whole_state_without_extracting_twice() -> None:
    def ask(_: Any) -> Any:
        return {"answer": {"content": {"content": "inner", "k": 1}}}

    def count(state: Any) -> Any:
        return {**state, "count": 1}

    with ks.open("memory:") as store:
        final = ks.Workflow(Part, [ask, count]).run(store, "r", {})
        assert final == {"answer": {"content": "inner", "k": 1}, "count": 1}
        assert store.run(Part, "r").state == final


class Secretive(TypedDict, total=False):
    key: Annotated[Any, ks.Secret("env:KEEPSET_TEST_SECRET")]
    note: Annotated[str, ks.Keep()]


@pytest.mark.parametrize("given", [SecretStr("plum-zanzibar-77"), b"plum-zanzibar-77"])
def test_a_secret_is_learnt_in_whatever_it_is_wrapped(given: Any) -> None:
    with ks.open("memory:") as store:
        run = store.run(Secretive, "r")
        run.save("one", {"key": given, "note": "it is plum-zanzibar-77"})
        (checkpoint,) = run.history()
        assert "plum-zanzibar" not in run.at(checkpoint).values["note"]


def test_a_secret_that_comes_into_the_environment_later_is_found_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ks.open("memory:") as store:
        run = store.run(Secretive, "r")
        run.save("one", {"note": "nothing"})
        monkeypatch.setenv("KEEPSET_TEST_SECRET", "zebra-horse-battery")
        saved = run.save("two", {"note": "it is zebra-horse-battery"})
        assert "zebra-horse" not in run.at(saved).values["note"]


def test_a_secret_is_found_in_pending_writes_before_anything_was_saved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ks.open("memory:") as store:
        saved = store.run(Secretive, "r").save("one", {"note": "n"})
        monkeypatch.setenv("KEEPSET_TEST_SECRET", "zanzibar-plum-42")
        run = store.run(Secretive, "r")
        run.put_writes(saved, TOKEN, [("note", "it is zanzibar-plum-42"), (TOKEN, 1)], path=TOKEN)
        assert "zanzibar" not in repr(run.writes(saved))
        assert TOKEN not in repr(run.writes(saved))


def test_findings_are_logged_once_for_each_kind_and_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with ks.open("memory:") as store, caplog.at_level(logging.WARNING, "keepset"):
        run = store.run(Chat, "r-7")
        for number in range(20):
            run.save("ask", {"messages": [{"content": f"my key is {TOKEN} {number}"}]})
        assert len(run.findings) == 1
        assert run.finding_counts == (20,)
    (record,) = caplog.records
    assert "messages[0].content" in record.getMessage()
    assert "r-7" in record.getMessage()
    assert TOKEN not in caplog.text


@pytest.mark.parametrize(
    "state",
    [
        {"anything": {TOKEN: object()}},
        {"anything": {TOKEN: [print]}},
        {TOKEN: 1},
    ],
)
def test_a_refusal_names_the_run_and_never_a_key_that_is_a_secret(state: Any) -> None:
    with ks.open("memory:") as store, pytest.raises(KeepsetError, match="run r-7") as refused:
        store.run(Chat, "r-7").save("one", state)
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize(
    "arguments",
    [
        ("", {}, {}),
        (None, {}, {}),
        (7, {}, {}),
        ("one", {}, {"status": "finished"}),
        ("one", {}, {"status": None}),
        ("one", {}, {"metadata": [1]}),
        ("one", None, {}),
    ],
)
def test_a_save_that_means_nothing_is_a_usage_error(arguments: Any) -> None:
    step, state, more = arguments
    with ks.open("memory:") as store, pytest.raises(UsageError):
        store.run(Chat, "r").save(step, state, **more)


@pytest.mark.parametrize("writes", [[1], [("a",)], [(7, 1)], None, [("", 1)]])
def test_pending_writes_that_are_no_pairs_are_a_usage_error(writes: Any) -> None:
    with ks.open("memory:") as store:
        run = store.run(Chat, "r")
        saved = run.save("one", {"count": 1})
        with pytest.raises(UsageError):
            run.put_writes(saved, "task", writes)


OPENED: list[str] = []


def open_once() -> str:
    OPENED.append("opened")
    return "connection"


def load_or_fail(ids: list[str]) -> list[str]:
    if len(OPENED) < 2 and not LIBRARY:
        raise LookupError
    return list(ids)


LIBRARY: list[str] = []


class Restored(TypedDict, total=False):
    ids: Annotated[list[str], ks.Keep()]
    db: Annotated[str, ks.Reopen(open_once)]
    docs: Annotated[list[str], ks.Refetch(load_or_fail, using="ids")]


def test_what_was_restored_before_a_loader_failed_is_not_restored_again() -> None:
    with ks.open("memory:") as store:
        store.run(Restored, "r").save("one", {"ids": ["a"]})
        run = store.run(Restored, "r")
        with pytest.raises(NotFoundError):
            _ = run.state
        LIBRARY.append("there")
        assert run.state == {"ids": ["a"], "db": "connection", "docs": ["a"]}
        assert OPENED == ["opened"]


def test_what_many_runs_remember_is_bounded_and_they_all_go_on() -> None:
    with ks.open("memory:") as store:
        retention: Retention = store.services.retention
        retention._limit = 300_000
        runs = [store.run(Chat, f"r{n}") for n in range(40)]
        states: list[dict[str, Any]] = [{"draft": f"{n} " * 8_000, "count": 0} for n in range(40)]
        for turn in range(3):
            for run, state in zip(runs, states, strict=True):
                state["count"] = turn
                run.save("step", state)
                assert retention.total < 400_000
        assert [store.run(Chat, f"r{n}").state for n in range(40)] == states
        assert store.verify().problems == ()
