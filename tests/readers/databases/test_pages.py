"""Rows by ranges of their keys, in batches that stay small."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from keepset.errors import StoreError
from keepset.readers.databases import pages
from keepset.readers.databases.pages import Listing, distinct, rows, weights
from keepset.readers.databases.port import Cancelled, Row
from keepset.readers.databases.sqlite import SqliteDatabase

LISTING = Listing("t", ("b", "c"), ("x",), ("a",))
ROWS = [(b, c) for b in range(40) for c in ("u", "v", "w") for _ in range(1)]


class Busy(SqliteDatabase):
    """A database that stops each statement that would give more than some rows."""

    most = 3
    stopped = 0

    def fetch(self, statement: str, parameters: Sequence[object] = ()) -> list[Row]:
        found = super().fetch(statement, parameters)
        if len(found) > self.most:
            self.stopped += 1
            raise Cancelled
        return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "a.db"
    with closing(sqlite3.connect(found)) as connection:
        connection.execute("create table t (a text, b integer, c text, x, primary key (a, b, c))")
        for a in ("one", "two"):
            for b, c in ROWS:
                connection.execute(
                    "insert into t values (?,?,?,?)", (a, b, c, f"{a}{b}{c}".encode())
                )
        connection.commit()
    return found


@pytest.fixture
def busy(path: Path) -> Iterator[Busy]:
    with closing(Busy(path)) as database:
        yield database


EXPECTED = [(b, c, f"two{b}{c}".encode()) for b, c in ROWS]


def test_all_rows_come_once_and_in_order_however_small_the_batches_are(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqliteDatabase(path)) as database:
        for number, size in ((256, 4 << 20), (7, 4 << 20), (256, 20), (1, 1)):
            monkeypatch.setattr(pages, "_ROWS", number)
            monkeypatch.setattr(pages, "_BYTES", size)
            assert list(rows(database, LISTING, ("two",))) == EXPECTED
            assert list(rows(database, LISTING, ("two",), after=(20, "v"))) == EXPECTED[62:]
        assert sum(weights(database, LISTING, ("two",))) == sum(len(one[2]) for one in EXPECTED)


def test_a_statement_that_was_stopped_is_tried_again_with_half_as_much(busy: Busy) -> None:
    pages_at_once = list(rows(busy, LISTING, ("two",)))
    assert pages_at_once == EXPECTED
    assert busy.stopped > 2


def test_where_even_the_smallest_read_is_stopped_the_table_is_named(busy: Busy) -> None:
    busy.most = 0
    for read in (
        lambda: list(rows(busy, LISTING, ("two",))),
        lambda: list(distinct(busy, "t", "a")),
        lambda: pages.count(busy, "t"),
    ):
        with pytest.raises(StoreError, match=r"table t .*audit\.too-slow"):
            read()


def test_the_values_of_a_column_are_found_without_reading_every_row(busy: Busy) -> None:
    assert list(distinct(busy, "t", "a")) == ["one", "two"]
    assert list(distinct(busy, "t", "b", (("a", "one"),))) == list(range(40))
    assert list(distinct(busy, "t", "b", (("a", "one"),), after=36)) == [37, 38, 39]
    assert list(distinct(busy, "t", "b", (("a", "none"),))) == []


def test_a_row_larger_than_any_that_is_read_is_cut_off(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LARGEST_ROW", 3)
    monkeypatch.setattr(pages, "_BYTES", 1)
    with closing(SqliteDatabase(path)) as database:
        assert {row[2] for row in rows(database, LISTING, ("two",))} == {b"two"}
