"""Rows that are missing or changed are noticed, on the way to a state or by `verify`."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.errors import IntegrityError, KeepsetError
from tests.run.states import Chat


def words(number: int) -> str:
    """A kilobyte, of which a part is in no other one."""
    digits = hashlib.sha512(b"%d" % number).hexdigest()
    return " ".join([digits[at : at + 8] for at in range(0, 128, 8)] * 4 + ["word " * 90])


def fill(path: Path, steps: int = 200) -> None:
    with ks.open(f"sqlite:///{path}") as store:
        run = store.run(Chat, "r")
        flags = {f"flag {number}": False for number in range(300)}
        state: dict[str, Any] = {"messages": [], "draft": "x" * 100, "flags": flags}
        for number in range(steps):
            state["messages"].append({"n": number, "text": words(number)})
            state["draft"] = f"{number} " + "x" * 100
            flags[f"flag {number}"] = True
            saved = run.save("step", state, metadata={"n": number})
        run.put_writes(saved, "task", [("count", 7)])


def damage(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0, statement
    connection.close()


NOTICED_BY_VERIFY = [
    "delete from segment where field = 'flags' and first = 1",
    "delete from step where id = (select min(id) from step)",
    "delete from segment where field = 'messages' and first = 65",
    "delete from segment where field = 'messages' and last = 160",
    "delete from segment where field = '' and first = 65",
    "update segment set data = x'00' where field = 'draft' and first = 1",
    "update segment set first = first + 1 where field = 'messages' and first = 65",
    "update segment set base = base + 1 where field = 'messages' and first = 65",
    "update segment set start = 65 where field = 'messages' and first = 65",
    "update step set status = 'done' where id = (select max(id) from step)",
    "update step set at = at + 1 where id = (select max(id) from step)",
    "update step set changes = x'80' where id = (select max(id) from step)",
    "update step set metadata = x'80' where id = (select max(id) from step)",
    "update step set parent = 'other' where id = (select max(id) from step)",
    "update write set value = x'01'",
    "update write set channel = 'draft'",
    "update write set step = step + 1",
]


@pytest.mark.parametrize("statement", NOTICED_BY_VERIFY)
def test_verify_notices_a_row_that_is_missing_or_changed(tmp_path: Path, statement: str) -> None:
    fill(tmp_path / "a.db")
    with ks.open(f"sqlite:///{tmp_path / 'a.db'}") as store:
        assert store.verify().problems == (), "control"
    damage(tmp_path / "a.db", statement)
    with ks.open(f"sqlite:///{tmp_path / 'a.db'}") as store:
        (problem,) = store.verify().problems
        assert problem.run_id == "r"
        assert problem.code.startswith(("integrity.", "decode.", "delta."))


NOTICED_BY_LOADING = [
    "delete from segment where field = 'flags' and first = 1",
    "delete from segment where field = 'messages' and first = 65",
    "delete from segment where field = 'messages' and last = 192",
    "delete from step where id = (select min(id) from step)",
    "update step set changes = x'80' where id = (select max(id) from step)",
    "update segment set data = x'00' where field = 'messages' and first = 1",
]


@pytest.mark.parametrize("statement", NOTICED_BY_LOADING)
def test_a_state_is_never_rebuilt_over_a_gap(tmp_path: Path, statement: str) -> None:
    fill(tmp_path / "a.db")
    damage(tmp_path / "a.db", statement)
    with ks.open(f"sqlite:///{tmp_path / 'a.db'}") as store:
        with pytest.raises(IntegrityError):
            _ = store.run(Chat, "r").state
        assert store.can_resume("r", Chat).verdict == ks.Resume.INCOMPATIBLE


READERS: list[Callable[[ks.Store], object]] = [
    lambda store: store.run(Chat, "r").state,
    lambda store: store.run(Chat, "r").history(),
    lambda store: store.inspect("r").history(),
    lambda store: store.can_resume("r", Chat),
    lambda store: store.verify(),
    lambda store: store.prune("r", keep_latest=1),
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "statement",
    [
        "update line set parent = id",
        "update line set depth = 9",
        "update segment set data = x'28b52ffd' where field = ''",
        "update contract set structure = '['",
        "update contract set structure = '{}'",
        "update run set contract = 99",
    ],
)
def test_whatever_is_damaged_the_answer_or_the_error_is_ours(
    tmp_path: Path, statement: str, read: Callable[[ks.Store], object]
) -> None:
    fill(tmp_path / "a.db", 70)
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("pragma foreign_keys = off")
    with connection:
        connection.execute(statement)
    connection.close()
    with ks.open(f"sqlite:///{tmp_path / 'a.db'}") as store, suppress(KeepsetError):
        read(store)


def edit(path: Path, table: str, column: str, old: bytes, new: bytes) -> None:
    """Change bytes in place, so that what is changed still decodes."""
    connection = sqlite3.connect(path)
    with connection:
        rows = connection.execute(f"select id, {column} from {table}").fetchall()  # noqa: S608 - our own names
        changed = [(data.replace(old, new), number) for number, data in rows if old in data]
        assert changed
        connection.executemany(f"update {table} set {column} = ? where id = ?", changed)  # noqa: S608 - our own names
    connection.close()


@pytest.mark.parametrize("table", ["segment", "step", "blob", "write"])
def test_a_word_that_was_changed_in_a_row_is_noticed(tmp_path: Path, table: str) -> None:
    path = tmp_path / "a.db"
    with ks.open(f"sqlite:///{path}", compression=False) as store:
        run = store.run(Chat, "r")
        for number in range(70):
            saved = run.save(
                "step", {"draft": f"the word {number}", "anything": "large word " * 7_000}
            )
        run.put_writes(saved, "task", [("draft", "a word")])
    columns = {"step": "changes", "write": "value"}
    edit(path, table, columns.get(table, "data"), b"word", b"ward")
    with ks.open(f"sqlite:///{path}") as store:
        (problem,) = store.verify().problems
        assert problem.code == "integrity.digest"


@pytest.mark.parametrize("column", ["status", "name", "checkpoint", "parent"])
def test_a_history_never_shows_a_header_that_was_changed(tmp_path: Path, column: str) -> None:
    fill(tmp_path / "a.db", 10)
    fifth = "where id & 4294967295 = 5"
    damage(tmp_path / "a.db", f"update step set {column} = 'done' {fifth}")  # noqa: S608 - our names
    with ks.open(f"sqlite:///{tmp_path / 'a.db'}") as store:
        with pytest.raises(IntegrityError):
            store.run(Chat, "r").history()
        with pytest.raises(IntegrityError):
            store.inspect("r").history()


def quiet(path: Path) -> None:
    """A run whose field stops changing, and of which some steps change nothing at all."""
    with ks.open(f"sqlite:///{path}") as store:
        run = store.run(Chat, "r")
        for number in range(150):
            written = min(number, 100)
            run.save(
                "step", {"count": written, "draft": hashlib.sha512(b"%d" % written).hexdigest() * 3}
            )


@pytest.mark.parametrize(
    "statement",
    [
        "delete from step where id & 4294967295 = 148",
        "delete from segment where field = 'count'",
        "delete from segment where field = 'draft' and last = 101",
    ],
)
def test_verify_notices_what_is_missing_though_nothing_was_built_on_it(
    tmp_path: Path, statement: str
) -> None:
    quiet(tmp_path / "a.db")
    damage(tmp_path / "a.db", statement)
    with ks.open(f"sqlite:///{tmp_path / 'a.db'}") as store:
        (problem,) = store.verify().problems
        assert problem.code == "integrity.history"
