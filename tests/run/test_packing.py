"""What a run's packed steps hold, take and give away."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.cli.bench import sizes
from keepset.cli.bench.jobs import perform
from keepset.cli.bench.workload import history
from keepset.codec import Codec
from keepset.plan.columns import read_column
from keepset.plan.groups import REFERS
from keepset.plan.rows import SegmentRow
from tests.run.states import Chat

PLANTED = "the-planted-sentence-of-message-40"
STATEMENT = (
    "SELECT field, first, last, base, start, data, digest FROM segment ORDER BY line, field, 2"
)


def words(number: int) -> str:
    chance = random.Random(number % 7)  # noqa: S311 - text for a test, no secret
    text = " ".join(f"{chance.randrange(1 << 20):x}" for _ in range(150))
    return f"{text} the-planted-sentence-of-message-{number}"


def steps(count: int) -> Iterator[dict[str, Any]]:
    """Give one state, changed in place: a list that grows, a number, a text that is rewritten."""
    state: dict[str, Any] = {"messages": [], "count": 0, "draft": ""}
    for number in range(count):
        state["messages"].append({"text": words(number)})
        state["count"] = number
        state["draft"] = f"{number} " + words(number)[:300]
        yield state


def fill(path: Path, count: int, *, reopen: bool = False) -> list[ks.Checkpoint]:
    saved = []
    store = ks.open(f"sqlite:///{path}", durability="normal")
    run = store.run(Chat, "r")
    for state in steps(count):
        saved.append(run.save("step", state))
        if reopen:
            store.close()
            store = ks.open(f"sqlite:///{path}", durability="normal")
            run = store.run(Chat, "r")
            assert run.state == state
    store.close()
    return saved


def segments(path: Path) -> list[SegmentRow]:
    with closing(sqlite3.connect(path)) as connection:
        return [SegmentRow(*row) for row in connection.execute(STATEMENT)]


def unpacked(path: Path, field: str) -> str:
    """All that the segments of a field hold, as text."""
    rows = [row for row in segments(path) if row.field == field]
    return repr([segment.ops for segment in read_column(rows, Codec())])


def test_a_run_that_is_loaded_before_each_save_is_packed_like_one_that_stays_open(
    tmp_path: Path,
) -> None:
    fill(tmp_path / "open.db", 120)
    fill(tmp_path / "loaded.db", 120, reopen=True)
    kept = [row for row in segments(tmp_path / "open.db") if row.field]
    assert any(row.data[:1] == REFERS for row in kept), "control: some repeat bytes of others"
    assert [row for row in segments(tmp_path / "loaded.db") if row.field] == kept


def test_a_pruning_leaves_nothing_of_what_went_in_any_frame(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with ks.open(f"sqlite:///{path}") as store:
        run = store.run(Chat, "r")
        for number, state in enumerate(steps(200)):
            if number == 60:
                state["messages"][40]["text"] = "taken back"
            run.save("step", state)
        assert PLANTED in unpacked(path, "messages"), "control: unpacking finds it"
        store.prune("r", keep_latest=100)
        assert store.verify().problems == ()
    for row in {row.field for row in segments(path)} - {""}:
        assert PLANTED not in unpacked(path, row)
    assert any(row.data[:1] == REFERS for row in segments(path)), "control: frames still refer back"


@pytest.mark.parametrize("at", [3, 40, 64, 100, 110])
def test_a_fork_reads_the_rows_of_its_parent_and_packs_its_own(tmp_path: Path, at: int) -> None:
    saved = fill(tmp_path / "a.db", 112)
    states = [{**state, "messages": [*state["messages"]]} for state in steps(112)]
    with ks.open(f"sqlite:///{tmp_path / 'a.db'}") as store:
        child = store.run(Chat, "r").fork(saved[at])
        state = child.state
        assert state == states[at]
        for number in range(70):
            state["messages"].append({"text": words(number)})
            child.save("step", state)
    with ks.open(f"sqlite:///{tmp_path / 'a.db'}") as store:
        run = store.run(Chat, "r")
        assert run.state == state
        assert run.at(saved[at]).values == states[at]
        assert run.at(saved[-1]).values == states[-1]
        assert store.verify().problems == ()


def test_every_checkpoint_is_what_it_was(tmp_path: Path) -> None:
    saved = fill(tmp_path / "a.db", 150)
    states = [{**state, "messages": [*state["messages"]]} for state in steps(150)]
    with ks.open(f"sqlite:///{tmp_path / 'a.db'}") as store:
        run = store.run(Chat, "r")
        for checkpoint, state in zip(saved, states, strict=True):
            assert run.at(checkpoint).values == state


def test_damage_in_any_row_is_noticed_and_the_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    fill(path, 100)
    with closing(sqlite3.connect(path)) as connection:
        places = [
            (table, column, number, data, f"{name} from step {seq} " if seq else f"step {name} ")
            for table, column, query in (
                ("segment", "data", "SELECT id, data, 'segment ' || field, first FROM segment"),
                ("step", "changes", "SELECT id, changes, id & 4294967295, 0 FROM step"),
            )
            for number, data, name, seq in connection.execute(query)
        ]
        for table, column, number, data, name in places:
            change = f"UPDATE {table} SET {column} = ? WHERE id = ?"  # noqa: S608 - our own names
            at = len(data) // 2
            damaged = data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]
            with connection:
                connection.execute(change, (damaged, number))
            with ks.open(f"sqlite:///{path}") as store:
                (problem,) = store.verify().problems
            assert problem.code == "integrity.digest"
            assert name.replace("segment  from", "segment of headers from") in problem.message
            with connection:
                connection.execute(change, (data, number))
    with ks.open(f"sqlite:///{path}") as store:
        assert store.verify().problems == (), "control: put right again"
    assert len(places) > 10


def test_any_segment_that_is_missing_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    fill(path, 100)
    for row in segments(path):
        with closing(sqlite3.connect(path)) as connection:
            where = (row.field, row.first)
            with connection:
                connection.execute("DELETE FROM segment WHERE field = ? AND first = ?", where)
            with ks.open(f"sqlite:///{path}") as store:
                (problem,) = store.verify().problems
            assert problem.code.startswith("integrity.")
            with connection:
                connection.execute(
                    "INSERT INTO segment (line, field, first, last, base, start, data, digest)"
                    " SELECT id, ?, ?, ?, ?, ?, ?, ? FROM line",
                    (row.field, row.first, row.last, row.base, row.start, row.data, row.digest),
                )
    with ks.open(f"sqlite:///{path}") as store:
        assert store.verify().problems == (), "control: put right again"


def test_a_history_takes_little_more_than_twice_what_is_in_it(tmp_path: Path) -> None:
    """Its floor is all that changed as `xz -9e` packs it in one piece."""
    job = {"job": "live", "system": "keepset", "workload": "lean", "steps": 200}
    answer = perform({**job, "durability": "normal", "path": str(tmp_path / "a.db")})
    _, floor = sizes.floor(history("lean", 200))
    assert answer["disk_bytes"] < 2.2 * floor
    assert answer["exact"]
