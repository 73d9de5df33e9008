"""What a resumed writer knows of a run is what the writer before it knew, and costs no reader."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keepset as ks
from keepset.backends.driver import drive
from keepset.plan import rebuild
from keepset.plan.columns import OpenColumn
from keepset.plan.memory import LineMemory
from tests.delta.values import VALUES, mutated, same
from tests.run.states import Chat, Item

LONG = "a message of some length, as they are; " * 30


def known(run: ks.Run) -> LineMemory:
    """What a run remembers; loads it where it remembers nothing."""
    return drive(run.core.load(), run.core.services.backend)


def resumed(store: ks.Store, contract: Any = Chat) -> ks.Run:
    return store.run(contract, "r")


def same_memory(left: LineMemory, right: LineMemory) -> bool:
    """Whether two writers know the same of a line, whatever way their pictures are cut."""
    if dict(left.fields).keys() != dict(right.fields).keys():
        return False
    for name, one in left.fields.items():
        other = right.fields[name]
        pictures = (one.raw, one.stored, other.raw, other.stored)
        packed = [p and p.frozen and p.frozen.data for p in pictures]
        if packed[:2] != packed[2:] or (one.base, one.last) != (other.base, other.last):
            return False
    bodies = [
        {name: (g.start, g.reach, g.size, g.newest) for name, g in memory.packs.groups.items()}
        for memory in (left, right)
    ]
    places = [(m.line, m.seq, m.head, m.checkpoint, m.tail, m.blobs) for m in (left, right)]
    return bodies[0] == bodies[1] and places[0] == places[1]


def chat(step: int) -> dict[str, Any]:
    """A state of many kinds of fields after some steps."""
    return {
        "question": "why?",
        "messages": [{"id": n, "text": f"{LONG}{n}"} for n in range(step)],
        "items": [Item(f"item {n}", ["a"] * n) for n in range(step // 5)],
        "flags": {f"flag {n % 7}": n % 3 == 0 for n in range(step)},
        "draft": f"{LONG * 12}{step}",
        "count": step,
        "anything": (step, {step: {1}}) if step % 3 else None,
    }


@pytest.mark.parametrize("steps", [1, 2, 15, 16, 17, 33, 80])
def test_a_resumed_writer_knows_what_the_last_one_knew(steps: int) -> None:
    with ks.open("memory:") as store:
        run = resumed(store)
        for step in range(1, steps + 1):
            run.save("step", chat(step))
        assert same_memory(known(resumed(store)), known(run))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(VALUES, max_size=8), st.data())
def test_whatever_becomes_of_a_list_a_resumed_writer_knows_it(log: list[Any], data: Any) -> None:
    with ks.open("memory:", mode="observe") as store:
        run, states = resumed(store), []
        for step in range(data.draw(st.integers(1, 20))):
            value = data.draw(st.sampled_from(["grow", "grow", "change", "text"]))
            if value == "grow":
                log = [*log, data.draw(VALUES), {"text": LONG}]
            elif value == "change":
                made = mutated(data.draw, log)
                log = made if type(made) is list else [made]
            states.append(log)
            run.save("step", {"messages": copy.deepcopy(log), "count": step})
        assert same_memory(known(resumed(store)), known(run))
        for checkpoint, state in zip(reversed(run.history()), states, strict=True):
            assert same(run.at(checkpoint).values["messages"], state)


def test_a_state_that_is_only_read_is_not_packed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with ks.open("memory:") as store:
        run = resumed(store)
        for step in range(1, 40):
            run.save("step", chat(step))
        pictures: list[object] = []
        monkeypatch.setattr(rebuild, "freeze", lambda *given: pictures.append(given))
        monkeypatch.setattr(rebuild, "joined", pictures.append)
        monkeypatch.setattr(OpenColumn, "group", lambda *given: pictures.append(given))
        assert resumed(store).state["count"] == 39
        assert len(run.at(run.history()[3]).values["messages"]) == 36
        assert pictures == []


def test_what_was_changed_before_the_first_save_of_a_resumed_run_is_noticed(tmp_path: Path) -> None:
    """The pictures are those of what is stored, not of what the state holds by then."""
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with ks.open(url) as store:
        run = resumed(store)
        for step in range(1, 30):
            run.save("step", chat(step))
    expected = chat(29)
    with ks.open(url) as store:
        run = resumed(store)
        state = run.state
        for values in (state, expected):
            values["messages"][3]["text"] = "another"
            values["items"][2].tags.append("more")
            values["flags"]["flag 3"] = "neither"
            values["draft"] = values["draft"].replace("length", "size")
            del values["anything"]
        run.save("step", state)
    with ks.open(url) as store:
        run = resumed(store)
        assert run.state == expected
        assert dict(run.at(run.history()[1]).values) == chat(29)


def test_a_run_that_is_marked_and_then_saved_knows_what_it_had_loaded() -> None:
    with ks.open("memory:") as store:
        run = resumed(store)
        for step in range(1, 20):
            run.save("step", chat(step))
        again = resumed(store)
        drive(again.core.mark(ks.Status.PAUSED), again.core.services.backend)
        again.save("step", chat(20))
        assert resumed(store).state == chat(20)
        assert same_memory(known(resumed(store)), known(again))


def test_a_picture_that_waits_counts_what_is_kept_for_it() -> None:
    with ks.open("memory:") as store:
        run = resumed(store)
        for step in range(1, 60):
            run.save("step", chat(step))
        memory = known(resumed(store))
        waiting = memory.size
        assert waiting > 1_000
        assert same_memory(memory, known(run))
        assert memory.size > waiting


def test_a_large_value_is_compared_from_what_was_loaded() -> None:
    large = "x" * 70_000
    with ks.open("memory:") as store:
        run = resumed(store)
        run.save("step", {"draft": large, "messages": [{"text": large + "y"}]})
        again = resumed(store)
        state = again.state
        state["messages"].append({"text": "short"})
        again.save("step", state)
        assert same_memory(known(resumed(store)), known(again))
        assert [len(view["text"]) for view in resumed(store).state["messages"]] == [70_001, 5]
