"""Checkpoints that are read together are what each of them is when it is read by itself."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

import keepset as ks
from keepset.backends.driver import drive
from keepset.backends.outcome import Outcome
from keepset.backends.port import Backend
from keepset.backends.sqlite import SQLiteBackend
from keepset.errors import IntegrityError
from keepset.plan.reads import Load, Loaded, ReadWrites
from keepset.plan.requests import Plan, Write
from keepset.plan.rows import LineRow, StepRow
from keepset.run.hosted import Stored
from tests.run.hosts import Host
from tests.run.states import Item
from tests.run.test_integrity import words

R = TypeVar("R")


class Watched(SQLiteBackend):
    """A store in memory that counts what is loaded, and in which something may happen before."""

    def __init__(self, inner: Backend, happens: Callable[[], object] | None = None) -> None:
        self._inner = inner
        self._happens = [happens] if happens else []
        self.loads = 0

    def execute(self, plan: Plan[R]) -> R:
        if isinstance(plan, Load):
            self.loads += 1
        if isinstance(plan, Load | ReadWrites) and self._happens:
            self._happens.pop()()
        return self._inner.execute(plan)

    def settle(self, plan: Write[Any], outcome: Outcome) -> None:
        self._inner.settle(plan, outcome)


def together(host: Host, newest: int | None = None) -> list[Stored]:
    """Read all checkpoints, those of each line together; the newest of each where they are told."""
    found: list[Stored] = []
    for run, line, rows in headers(host):
        given = drive(host.reader.several(run, line, rows[:newest], host.surface), host.backend)
        found += [one for one in given if one]
    return found


def headers(host: Host) -> list[tuple[Any, LineRow, list[StepRow]]]:
    seen = drive(host.reader.look(), host.backend)
    lines = drive(host.reader.headers_of(seen, ""), host.backend)
    return [(seen.run, line, rows) for line, rows in lines if rows]


def as_told(stored: Stored) -> tuple[Any, ...]:
    writes = [(one.task, one.index, one.channel, one.value) for one in stored.writes]
    header = stored.header
    return (stored.line, header.checkpoint, header.parent, dict(stored.values), writes)


def history(host: Host, seed: int, steps: int) -> list[str]:
    """Store checkpoints whose fields come, grow, change and go, with writes and forks."""
    chance, parent = random.Random(seed), ""  # noqa: S311 - the same each time
    states: dict[str, dict[str, Any]] = {"": {"messages": []}}
    for number in range(steps):
        if number > 10 and chance.random() < 0.03:
            parent = chance.choice([*states][1:])
        values = dict(states[parent])
        values["messages"] = [*values["messages"], {"n": number, "text": words(number)}]
        values["count"] = number
        if chance.random() < 0.3:
            values["draft"] = words(number) * 40
        if chance.random() < 0.2:
            values["flags"] = {**values.get("flags", {}), f"flag-{number}": True}
        if chance.random() < 0.2:
            values["items"] = [*values.get("items", []), Item(words(number), ["a"])][-3:]
        if chance.random() < 0.1:
            values["anything"] = words(number) * chance.choice([1, 4_000])
        for name in ("draft", "flags", "items", "anything"):
            if chance.random() < 0.1:
                values.pop(name, None)
        own = f"c{number:04}"
        host.append(own, parent, values)
        host.write(own, "task", [("messages", [{"n": number + 1, "text": words(number + 1)}])])
        states[own], parent = values, own
    return [*states][1:]


@pytest.mark.parametrize("seed", range(4))
def test_checkpoints_read_together_are_those_that_are_read_one_by_one(seed: int) -> None:
    with ks.open("memory:") as store:
        host = Host(store)
        names = history(host, seed, 100)
        if seed % 2:
            store.prune("r", every=3)
            host = Host(store)
            names = [name for name in names if host.at(name)]
        found = {one.header.checkpoint: as_told(one) for one in together(Host(store))}
        assert sorted(found) == names
        for name in names:
            alone = host.at(name)
            assert alone is not None
            assert found[name] == as_told(alone)


def test_states_that_were_read_together_change_apart() -> None:
    with ks.open("memory:") as store:
        history(Host(store), 1, 60)
        page = together(Host(store))
        changed, *others = page
        before = [as_told(one) for one in together(Host(store))][1:]
        values: Any = changed.values
        for message in values["messages"]:
            message["text"] = "changed"
        values["messages"].clear()
        for write in changed.writes:
            write.value.clear()
        assert [as_told(one) for one in others] == before


def test_a_page_of_neighbours_is_loaded_at_once() -> None:
    with ks.open("memory:") as store:
        host = Host(store)
        values: dict[str, Any] = {"messages": []}
        for number in range(100):
            values = {"messages": [*values["messages"], {"n": number}], "count": number}
            host.append(f"c{number:02}", f"c{number - 1:02}" if number else "", values)
        reader = Host(store)
        watched = reader.backend = Watched(reader.backend)
        assert len(together(reader, 32)) == 32
        assert watched.loads == 1


def test_what_a_pruning_takes_while_a_page_is_read_is_left_out() -> None:
    with ks.open("memory:") as store:
        history(Host(store), 3, 80)
        host = Host(store)
        listed = headers(host)
        kept = [row.checkpoint for _, _, rows in listed for row in rows[:2]]
        happens = [lambda: store.prune("r", keep_latest=2)]
        found: list[Stored] = []
        for run, line, rows in listed:
            backend = Watched(host.backend, happens.pop() if happens else None)
            given = drive(host.reader.several(run, line, rows, host.surface), backend)
            found += [one for one in given if one]
        assert [one.header.checkpoint for one in found] == kept
        for one in found:
            alone = Host(store).at(one.header.checkpoint)
            assert alone is not None
            assert as_told(one) == as_told(alone)


def test_a_run_that_took_the_place_of_another_is_not_read_as_that_one() -> None:
    with ks.open("memory:") as store:
        history(Host(store), 5, 40)
        host = Host(store)
        ((run, line, rows),) = headers(host)[:1]

        def replaced() -> None:
            store.delete("r")
            again = Host(store)
            for number in range(60):
                again.append(f"d{number:02}", f"d{number - 1:02}" if number else "", {})

        backend = Watched(host.backend, replaced)
        given = drive(host.reader.several(run, line, rows, host.surface), backend)
        assert given == [None] * len(rows)


class Short(SQLiteBackend):
    """A store in which one segment of a field has gone."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner

    def execute(self, plan: Plan[R]) -> R:
        result = self._inner.execute(plan)
        if isinstance(result, Loaded):
            past = result.pasts[0]
            kept = tuple(one for one in past.segments if (one.field, one.first) != ("messages", 1))
            assert len(kept) < len(past.segments)
            object.__setattr__(past, "segments", kept)
        return result


def test_a_page_whose_differences_do_not_stand_on_a_whole_value_is_refused() -> None:
    with ks.open("memory:") as store:
        host = Host(store)
        values: dict[str, Any] = {"messages": []}
        for number in range(200):
            values = {"messages": [*values["messages"], {"n": number, "text": words(number)}]}
            host.append(f"c{number:03}", f"c{number - 1:03}" if number else "", values)
        reader = Host(store)
        reader.backend = Short(reader.backend)
        with pytest.raises(IntegrityError):
            together(reader)
