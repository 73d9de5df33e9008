"""What each rule does when a state is saved and when it is resumed."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

import keepset as ks
from keepset.errors import IntegrityError, NotFoundError, PolicyError
from keepset.verdict.status import Resume

CALLS: list[str] = []
LIBRARY: dict[str, str] = {}
OPENED = ExitStack()


def load(ids: list[str]) -> list[dict[str, str]]:
    CALLS.append("load")
    return [{"id": one, "text": LIBRARY[one]} for one in ids]


def connect() -> sqlite3.Connection:
    CALLS.append("connect")
    return open_database()


def open_database() -> sqlite3.Connection:
    """Open one that is closed at the test's end, whoever holds it then."""
    return OPENED.enter_context(closing(sqlite3.connect(":memory:")))


def make_folder() -> Path:
    CALLS.append("folder")
    return Path(tempfile.mkdtemp())


class Ticket(TypedDict, total=False):
    question: Annotated[str, ks.Keep()]
    doc_ids: Annotated[list[str], ks.Keep()]
    docs: Annotated[list[dict[str, str]], ks.Refetch(load, using="doc_ids", pin="refuse")]
    db: Annotated[sqlite3.Connection, ks.Reopen(connect)]
    api_key: Annotated[str, ks.Secret("env:KEEPSET_TEST_KEY")]
    answer: Annotated[str, ks.Extract("choices[0].text")]
    log: Annotated[list[dict[str, Any]], ks.Keep(without="[*].usage")]
    notes: Annotated[str, ks.Drop(default="none")]
    workdir: Annotated[Path, ks.Scratch(make_folder)]


@pytest.fixture(autouse=True)
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    CALLS.clear()
    LIBRARY.clear()
    LIBRARY.update({f"doc-{n}": f"text of {n}" for n in range(5)})
    monkeypatch.setenv("KEEPSET_TEST_KEY", "plain-words-without-form")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with OPENED:
        yield


def ticket() -> dict[str, Any]:
    ids = ["doc-1", "doc-2"]
    return {
        "question": "which?",
        "doc_ids": ids,
        "docs": [{"id": one, "text": LIBRARY[one]} for one in ids],
        "db": open_database(),
        "api_key": os.environ["KEEPSET_TEST_KEY"],
        "answer": {"choices": [{"text": "forty-two"}], "usage": {"total": 9}},
        "log": [{"text": "a", "usage": {"n": 1}}],
        "notes": "not for long",
        "workdir": make_folder(),
    }


def test_a_resumed_state_is_complete_and_each_loader_ran_once() -> None:
    with ks.open("memory:") as store:
        store.run(Ticket, "r").save("one", ticket())
        CALLS.clear()
        run = store.run(Ticket, "r")
        state = run.state
        assert run.state is state
        assert sorted(CALLS) == ["connect", "folder", "load"]
        assert state["docs"] == [
            {"id": "doc-1", "text": "text of 1"},
            {"id": "doc-2", "text": "text of 2"},
        ]
        assert state["db"].execute("select 1").fetchone() == (1,)
        assert state["api_key"] == "plain-words-without-form"
        assert state["answer"] == "forty-two"
        assert state["log"] == [{"text": "a"}]
        assert state["notes"] == "none"
        assert state["workdir"].is_dir()
        state["db"].close()


def test_what_is_not_kept_is_not_in_the_checkpoint_and_looking_restores_nothing() -> None:
    with ks.open("memory:") as store:
        run = store.run(Ticket, "r")
        saved = run.save("one", ticket())
        CALLS.clear()
        values = run.at(saved.id).values
        assert set(values) == {"question", "doc_ids", "answer", "log"}
        store.runs()
        store.verify()
        store.can_resume("r")
        assert CALLS == []


def test_saving_the_same_state_again_does_not_extract_from_what_was_extracted() -> None:
    with ks.open("memory:") as store:
        first = ticket()
        run = store.run(Ticket, "r")
        run.save("one", first)
        run.save("two", first)
        again = store.run(Ticket, "r")
        state = again.state
        state["question"] = "other"
        again.save("three", state)
        assert store.run(Ticket, "r").at(again.history(1)[0].id).values["answer"] == "forty-two"


def test_a_loader_that_fails_is_named_and_the_checkpoint_stays() -> None:
    with ks.open("memory:") as store:
        store.run(Ticket, "r").save("one", ticket())
        del LIBRARY["doc-1"]
        run = store.run(Ticket, "r")
        with pytest.raises(NotFoundError, match="restoring docs failed: KeyError") as failed:
            _ = run.state
        assert failed.value.code == "restore.failed"
        LIBRARY["doc-1"] = "text of 1"
        assert run.state["docs"][0]["text"] == "text of 1"


def test_pinned_content_that_has_changed_refuses_the_resume() -> None:
    with ks.open("memory:") as store:
        store.run(Ticket, "r").save("one", ticket())
        LIBRARY["doc-2"] = "another text"
        with pytest.raises(IntegrityError) as refused:
            _ = store.run(Ticket, "r").state
        assert refused.value.code == "restore.other-content"
        assert "another text" not in str(refused.value)


class Asked(TypedDict):
    ids: Annotated[list[str], ks.Keep()]
    docs: Annotated[Any, ks.Refetch(lambda _: GIVEN["docs"], using="ids", name="given")]


GIVEN: dict[str, Any] = {}


@pytest.mark.parametrize(
    "docs",
    [
        [{"id": "a"}],
        [{"id": "a"}, {"id": "c"}],
        [{"id": 1, "doc_id": "a"}, {"id": 2, "doc_id": "c"}],
        {"a": 1, "c": 2},
        None,
        [],
    ],
)
def test_a_loader_that_gives_other_documents_than_asked_for_refuses_the_resume(docs: Any) -> None:
    with ks.open("memory:") as store:
        store.run(Asked, "r").save("one", {"ids": ["a", "b"], "docs": []})
        GIVEN["docs"] = docs
        with pytest.raises(IntegrityError) as refused:
            _ = store.run(Asked, "r").state
        assert refused.value.code == "restore.other-ids"


@dataclass
class Document:
    text: str
    id: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)


@pytest.mark.parametrize(
    "docs",
    [
        [{"id": "b"}, {"id": "a"}],
        {"b": 1, "a": 2},
        ["two", "texts"],
        [{"id": 7, "doc_id": "b"}, {"id": 8, "doc_id": "a"}],
        [Document("x"), Document("y"), Document("z")],
        [Document("x", "b"), Document("y", "a"), Document("z", "a")],
    ],
)
def test_a_loader_may_give_the_documents_in_any_order_and_more_than_one_for_an_id(
    docs: Any,
) -> None:
    with ks.open("memory:") as store:
        store.run(Asked, "r").save("one", {"ids": ["a", "b"], "docs": []})
        GIVEN["docs"] = docs
        assert store.run(Asked, "r").state["docs"] == docs


def test_a_missing_secret_is_named_by_its_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    with ks.open("memory:") as store:
        store.run(Ticket, "r").save("one", ticket())
        monkeypatch.delenv("KEEPSET_TEST_KEY")
        assert store.can_resume("r").verdict is Resume.UNKNOWN
        with pytest.raises(NotFoundError, match="env:KEEPSET_TEST_KEY"):
            _ = store.run(Ticket, "r").state


@dataclass
class Plain:
    question: str
    undeclared: list[int]
    key: Annotated[str, ks.Secret("env:KEEPSET_TEST_KEY")] = ""


def test_a_dataclass_is_a_state_and_an_undeclared_field_is_kept() -> None:
    with ks.open("memory:") as store:
        store.run(Plain, "r").save("one", Plain("q", [1, 2], "plain-words-without-form"))
        assert store.run(Plain, "r").state == Plain("q", [1, 2], "plain-words-without-form")


def test_strict_refuses_a_state_with_a_field_that_nobody_declared() -> None:
    with ks.open("memory:", mode="strict") as store:
        with pytest.raises(PolicyError, match="undeclared") as refused:
            store.run(Plain, "r").save("one", Plain("q", [1, 2]))
        assert refused.value.code == "policy.undeclared"
        assert store.runs() == []


def test_a_viewer_reads_and_never_writes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with ks.open(url) as store:
        store.run(Plain, "r").save("one", Plain("q", [1]))
    with ks.open(url, role="viewer") as store:
        run = store.run(Plain, "r")
        assert run.state.question == "q"
        for write in (
            lambda: run.save("two", Plain("q", [2])),
            lambda: store.delete("r"),
            lambda: store.prune("r", keep_latest=1),
        ):
            with pytest.raises(PolicyError, match="viewer"):
                write()


class Kept(TypedDict, total=False):
    ids: Annotated[list[str], ks.Keep()]
    docs: Annotated[list[dict[str, str]], ks.Keep()]
    answers: Annotated[list[dict[str, Any]], ks.Keep()]


class Accepted(TypedDict, total=False):
    ids: Annotated[list[str], ks.Keep()]
    docs: Annotated[list[dict[str, str]], ks.Keep(allow="content.beside-ids")]
    answers: Annotated[list[dict[str, Any]], ks.Keep(allow="response.object")]


def belongs_not() -> dict[str, Any]:
    ids = [f"doc-{n}" for n in range(9)]
    usage = {"input_tokens": 5, "output_tokens": 7}
    return {
        "ids": ids,
        "docs": [{"id": one, "text": "words " * 500} for one in ids],
        "answers": [{"content": "yes", "usage": usage, "model": "m"}],
    }


def test_responses_and_content_beside_its_ids_are_stored_and_reported() -> None:
    with ks.open("memory:") as store:
        run = store.run(Kept, "r")
        state = belongs_not()
        for _ in range(5):
            run.save("one", state)
            state["answers"].append(dict(state["answers"][0]))
        assert {f.kind for f in run.findings} == {"content.beside-ids", "response.object"}
        assert sorted(run.finding_counts) == [1, 5]
        assert len(store.run(Kept, "r").state["answers"]) == 5


def test_strict_refuses_responses_and_content_beside_its_ids_unless_the_field_allows_it() -> None:
    with ks.open("memory:", mode="strict") as store:
        for left_out in ("docs", "answers"):
            state = belongs_not()
            del state[left_out]
            with pytest.raises(PolicyError) as refused:
                store.run(Kept, "r").save("one", state)
            assert refused.value.code in {"policy.content-beside-ids", "policy.response-object"}
        store.run(Accepted, "r").save("one", belongs_not())
        assert len(store.runs()) == 1


class Pinned(TypedDict, total=False):
    ids: Annotated[list[str], ks.Keep()]
    docs: Annotated[Any, ks.Refetch(load, using="ids", pin="report")]


def test_pinned_content_that_has_changed_is_reported_where_that_is_declared() -> None:
    with ks.open("memory:") as store:
        ids = ["doc-1", "doc-2"]
        store.run(Pinned, "r").save("one", {"ids": ids, "docs": load(ids)})
        same = store.run(Pinned, "r")
        assert same.state["docs"] == load(ids)
        assert same.changed_pins == ()
        LIBRARY["doc-2"] = "another text"
        run = store.run(Pinned, "r")
        assert run.state["docs"][1]["text"] == "another text"
        assert run.changed_pins == ("docs",)
