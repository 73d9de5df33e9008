"""Runs of a host that names its checkpoints itself: forks, late writes, other writers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

import keepset as ks
from keepset.backends.outcome import Outcome
from keepset.backends.port import Backend
from keepset.backends.sqlite import SQLiteBackend
from keepset.errors import ConflictError
from keepset.plan.reads import Load
from keepset.plan.requests import Plan, Write
from tests.run.hosts import Host
from tests.run.test_integrity import words

R = TypeVar("R")


def grown(values: dict[str, Any], number: int) -> dict[str, Any]:
    messages = [*values["messages"], {"n": number, "text": words(number)}]
    return {"messages": messages, "draft": words(number), "count": number}


def test_a_line_that_a_host_begins_in_the_past_is_packed_by_itself() -> None:
    with ks.open("memory:") as store:
        host, parent = Host(store), ""
        values: dict[str, Any] = {"messages": []}
        said: dict[str, dict[str, Any]] = {}
        for number in range(100):
            if number == 60:
                parent = "c00040"
                values = said[parent]
            values = grown(values, number)
            host.append(f"c{number:05}", parent, values)
            parent = f"c{number:05}"
            said[parent] = values
        reader = Host(store)
        for own, values in said.items():
            stored = reader.at(own)
            assert stored is not None
            assert stored.values == values
        assert store.verify().problems == ()


def test_the_first_write_of_a_task_stays_the_first_when_its_step_is_packed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with ks.open(url) as store:
        host = Host(store)
        host.append("c00", "", {"count": 0})
        host.write("c00", "task", [("draft", "first " * 20)])
    with ks.open(url) as store:
        host = Host(store)
        host.append("c01", "c00", {"count": 1})
        host.write("c00", "task", [("draft", "second " * 20)])
        for number in range(2, 40):
            host.append(f"c{number:02}", f"c{number - 1:02}", {"count": number})
        stored = host.at("c00")
        assert stored is not None
        assert [write.value for write in stored.writes] == ["first " * 20]


@pytest.fixture
def replaced(tmp_path: Path) -> Iterator[tuple[Host, Host]]:
    """A host that knows c0, c1 and c2, and one that has since deleted the run and made another."""
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with ks.open(url) as store, ks.open(url) as other:
        host, later = Host(store), Host(other)
        for number in range(3):
            host.append(f"c{number}", f"c{number - 1}" if number else "", {"count": number})
        assert host.at("c1") is not None
        other.delete("r")
        for number in range(10, 15):
            later.append(f"c{number}", f"c{number - 1}" if number > 10 else "", {"count": number})
        yield host, later


def test_a_checkpoint_of_a_deleted_run_is_not_taken_for_one_of_the_next(
    replaced: tuple[Host, Host],
) -> None:
    host, _ = replaced
    assert host.at("c1") is None
    found = host.at("c12")
    assert found is not None
    assert found.values == {"count": 12}


def test_what_follows_a_checkpoint_of_a_deleted_run_is_refused_as_deleted(
    replaced: tuple[Host, Host],
) -> None:
    host, later = replaced
    with pytest.raises(ConflictError) as refused:
        host.append("c3", "c1", {"count": 3})
    assert refused.value.code == "conflict.deleted"
    assert later.at("c3") is None


class Meddled(SQLiteBackend):
    """A store in memory in which something happens right after the first load."""

    def __init__(self, inner: Backend, happens: Callable[[], None]) -> None:
        self._inner = inner
        self._happens: list[Callable[[], None]] = [happens]

    def execute(self, plan: Plan[R]) -> R:
        result = self._inner.execute(plan)
        if isinstance(plan, Load) and self._happens:
            self._happens.pop()()
        return result

    def settle(self, plan: Write[Any], outcome: Outcome) -> None:
        self._inner.settle(plan, outcome)


def test_what_was_loaded_before_a_pruning_is_not_written_after_it() -> None:
    with ks.open("memory:") as store:
        host = Host(store)
        values: dict[str, Any] = {"messages": []}
        for number in range(30):
            values = grown(values, number)
            host.append(f"c{number:02}", f"c{number - 1:02}" if number else "", values)

        def pruned() -> None:
            store.prune("r", keep_latest=3)
            Host.look(host)  # as another thread of the host does

        host.known.open.clear()
        plain, host.backend = host.backend, Meddled(host.backend, pruned)
        host.append("c30", "c29", grown(values, 30))
        host.backend = plain
        for number in range(31, 60):
            host.append(f"c{number:02}", f"c{number - 1:02}", grown(values, number))
        stored = Host(store).at("c59")
        assert stored is not None
        assert stored.values == grown(values, 59)
        assert store.verify().problems == ()


def test_writes_that_come_after_their_step_was_packed_are_not_remembered() -> None:
    with ks.open("memory:") as store:
        host = Host(store)
        for number in range(40):
            host.append(f"c{number:02}", f"c{number - 1:02}" if number else "", {"count": number})
        for checkpoint in ("c00", "c38", "c39"):
            host.write(checkpoint, "late", [("draft", "late " * 100)])
        (line,) = host.known.open.values()
        assert [*line.written] == ["c38", "c39"]
        host.append("c40", "c39", {"count": 40})
        stored = host.at("c00")
        assert stored is not None
        assert [write.value for write in stored.writes] == ["late " * 100]


def test_a_second_write_that_comes_after_the_first_was_packed_changes_nothing() -> None:
    with ks.open("memory:") as store:
        host = Host(store)
        host.append("c00", "", {"count": 0})
        host.write("c00", "task", [("draft", "first " * 20)])
        for number in range(1, 40):
            host.append(f"c{number:02}", f"c{number - 1:02}", {"count": number})
        host.write("c00", "task", [("draft", "second " * 20), ("count", 7)])
        stored = host.at("c00")
        assert stored is not None
        assert [write.value for write in stored.writes] == ["first " * 20, 7]
