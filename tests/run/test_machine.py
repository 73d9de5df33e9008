"""A run compared with a plain model under any order of operations."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import keepset as ks
from tests.run.states import Chat

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4)
        | st.tuples(inner, inner)
    ),
    max_leaves=8,
)


def same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Equal, of the same types and in the same order; the fields themselves have no order."""
    return sorted(map(repr, left.items())) == sorted(map(repr, right.items()))


class RunMachine(RuleBasedStateMachine):
    """Save, change in place, fork, reopen, prune, delete."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.url = f"sqlite:///{Path(self.folder.name) / 'runs.db'}"
        self.store = ks.open(self.url, durability="normal")
        self.saved: dict[str, Any] = {}
        self.state: dict[str, Any] = {"messages": [], "flags": {}, "draft": ""}
        self.run: ks.Run = self.store.run(Chat, "r")

    @initialize()
    def begin(self) -> None:
        self.save()

    @rule(value=VALUES)
    def append(self, value: Any) -> None:
        self.state["messages"].append({"content": value, "text": "word " * 9})
        self.save()

    @rule(count=st.integers(1, 40))
    def append_many(self, count: int) -> None:
        for number in range(count):
            self.state["messages"].append({"content": number})
            self.save()

    @rule(at=st.integers(0, 50), value=VALUES)
    def change_in_place(self, at: int, value: Any) -> None:
        messages = self.state["messages"]
        if messages:
            messages[at % len(messages)]["content"] = value
        self.save()

    @rule(head=st.integers(0, 5), tail=st.integers(0, 2))
    def trim(self, head: int, tail: int) -> None:
        messages = self.state["messages"]
        del messages[:head]
        if tail:
            del messages[-tail:]
        self.save()

    @rule(key=st.text(max_size=2), value=st.none() | VALUES)
    def set_flag(self, key: str, value: Any) -> None:
        if value is None:
            self.state["flags"].pop(key, None)
        else:
            self.state["flags"][key] = value
        self.save()

    @rule(at=st.integers(0, 300), text=st.text(max_size=20))
    def edit_draft(self, at: int, text: str) -> None:
        draft = self.state["draft"] + "some more text to edit "
        self.state["draft"] = draft[: at % len(draft)] + text + draft[at % len(draft) :]
        self.save()

    @rule(value=VALUES)
    def set_anything(self, value: Any) -> None:
        self.state["anything"] = value
        self.save()

    @rule()
    def drop_field(self) -> None:
        self.state.pop("anything", None)
        self.save()

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = ks.open(self.url, durability="normal")
        self.run = self.store.run(Chat, "r")
        self.state = self.run.state
        assert same(self.state, self.saved[self.run.history(1)[0].id])

    @precondition(lambda self: self.saved)
    @rule(data=st.data())
    def fork(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sampled_from(sorted(self.saved)))
        self.run = self.run.fork(chosen)
        self.state = self.run.state
        assert same(self.state, self.saved[chosen])
        self.save()

    @rule(keep=st.integers(1, 5), every=st.none() | st.integers(1, 4))
    def prune(self, keep: int, every: int | None) -> None:
        self.store.prune("r", keep_latest=keep, every=every)
        self.run = self.store.run(Chat, "r")
        assert same(self.run.state, self.state)
        self.state = self.run.state
        there = [key for key in self.saved if self.is_there(key)]
        self.saved = {key: self.saved[key] for key in there}
        self.check(sorted(there))

    @rule()
    def delete(self) -> None:
        self.store.delete("r")
        self.run = self.store.run(Chat, "r")
        assert self.run.state is None
        self.saved.clear()
        self.save()

    def is_there(self, checkpoint: str) -> bool:
        try:
            self.run.at(checkpoint)
        except ks.errors.NotFoundError:
            return False
        return True

    def save(self) -> None:
        self.saved[self.run.save("step", self.state).id] = copy.deepcopy(self.state)

    def check(self, checkpoints: list[str]) -> None:
        for checkpoint in checkpoints:
            assert same(dict(self.run.at(checkpoint).values), self.saved[checkpoint])

    @invariant()
    def three_checkpoints_are_right(self) -> None:
        ids = sorted(self.saved)
        self.check([*ids[:1], *ids[len(ids) // 2 :][:1], *ids[-1:]])

    def teardown(self) -> None:
        verified = self.store.verify()
        assert verified.problems == ()
        assert verified.checkpoints == len(self.saved)
        self.store.close()
        self.folder.cleanup()


LIMITS = {
    "packing.STEPS_PER_SEGMENT": 3,
    "packing.STEPS_PER_HEADERS": 6,
    "groups.SMALL": 200,
    "groups.MOST_STEPS": 12,
    "groups.LEAST": 64,
    "groups.WINDOW": 2000,
    "groups.OBSOLETE": 600,
}


class PackedMachine(RunMachine):
    """The same where everything is packed after three steps, so that few steps meet all edges."""

    def __init__(self) -> None:
        self.patch = pytest.MonkeyPatch()
        for name, limit in LIMITS.items():
            self.patch.setattr(f"keepset.plan.{name}", limit)
        super().__init__()

    def teardown(self) -> None:
        try:
            super().teardown()
        finally:
            self.patch.undo()


TestRunsAgainstAModel = RunMachine.TestCase
TestRunsAgainstAModel.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)
TestPackedRunsAgainstAModel = PackedMachine.TestCase
TestPackedRunsAgainstAModel.settings = TestRunsAgainstAModel.settings
