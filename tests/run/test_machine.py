"""Runs compared with a plain model under any order of operations, crashes among them."""

from __future__ import annotations

import copy
import os
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from keepset.errors import ConflictError, NotFoundError
from tests.run.machine.model import Handle, Line
from tests.run.machine.store import TICK, Bench, compare, compare_one, no_secret, shape_of
from tests.run.machine.users import KEYS, Users
from tests.run.machine.values import EDITS, SECRET, VALUES, fresh, picture, shown

WHO = st.integers(0, 11)
AT = st.integers(0, 1_000)
EDIT = st.tuples(st.sampled_from(EDITS), AT, VALUES)

# Everything is packed after three steps, so that few steps meet all edges.
TIGHT = {
    "packing.STEPS_PER_SEGMENT": 3,
    "packing.STEPS_PER_HEADERS": 6,
    "packing.BYTES_AT_A_STOP": 40,
    "groups.SMALL": 200,
    "groups.MOST_STEPS": 12,
    "groups.LEAST": 64,
    "groups.WINDOW": 2000,
    "groups.OBSOLETE": 600,
}


class Batch(NamedTuple):
    """What a task writes."""

    task: str
    path: str
    values: list[Any]
    large: bool
    replace: bool


BATCHES = st.builds(
    Batch,
    st.sampled_from(["t", "u"]),
    st.sampled_from(["", "p"]),
    st.lists(VALUES, max_size=3),
    st.booleans(),
    st.booleans(),
)


class RunMachine(Users, RuleBasedStateMachine):
    """Saves, changes in place, forks, pending writes, prunings, deletions, ends of processes."""

    def __init__(self) -> None:
        RuleBasedStateMachine.__init__(self)
        Users.__init__(self)
        self.patch = pytest.MonkeyPatch()

    @initialize(
        full=st.booleans(),
        compression=st.booleans(),
        memory=st.sampled_from([False, False, False, True]),
        limit=st.sampled_from([None, None, 20_000]),
        tight=st.booleans(),
    )
    def begin(
        self, *, full: bool, compression: bool, memory: bool, limit: int | None, tight: bool
    ) -> None:
        self.bench.close()
        if tight:
            for name, number in TIGHT.items():
                self.patch.setattr(f"keepset.plan.{name}", number)
        self.bench = Bench("full" if full else "normal", compression, memory, limit)
        for key in KEYS:
            self.handles.append(self.opened(key))
        for handle in list(self.handles):
            handle.state |= fresh()
            self.save(handle)

    # --- users of runs ----------------------------------------------------------------------------

    @rule(who=WHO, branch=st.none() | st.integers(0, 20), load=st.booleans())
    def open_again(self, who: int, branch: int | None, *, load: bool) -> None:
        key = KEYS[who % len(KEYS)]
        book = self.model.books.get(key)
        at = branch % len(book.lines) if book and branch is not None else None
        handle = self.opened(key, at)
        self.add(handle)
        if load:
            self.resume(handle)
        else:
            handle.state = fresh()

    # --- saves ------------------------------------------------------------------------------------

    @rule(who=WHO, edits=st.lists(EDIT, max_size=3))
    def change_and_save(self, who: int, edits: list[Any]) -> None:
        handle = self.chosen(who)
        for edit, at, value in edits:
            edit(handle.state, at, copy.deepcopy(value))
        self.save(handle)

    @rule(who=WHO, edit=EDIT, times=st.integers(2, 70))
    def save_many(self, who: int, edit: Any, times: int) -> None:
        handle = self.chosen(who)
        change, at, value = edit
        if change.__name__ in ("extend", "grow_draft", "add_page"):
            times = 2 + times % 9
        for turn in range(times):
            change(handle.state, at + turn, copy.deepcopy(value))
            self.save(handle)

    @rule(who=WHO, at=AT)
    def save_what_cannot_be_stored(self, who: int, at: int) -> None:
        handle = self.chosen(who)
        handle.state["count"] = at
        handle.state["tree"]["live"] = {"deep": [object()]}
        error = self.try_what_is_refused(handle)
        assert error is None or "tree.live.deep[0]" in error.message
        del handle.state["tree"]["live"]
        self.model.load(handle)
        self.save(handle)

    @rule(who=WHO, last=st.booleans())
    def break_what_only_grows(self, who: int, *, last: bool) -> None:
        handle = self.chosen(who)
        head = [k for k in self.checkpoints(handle.key) if k.checkpoint.id == handle.head]
        stored = head and head[0].fields.get("log", "list()") != "list()"
        if not stored or head[0].fields["log"] != picture(handle.state).get("log"):
            return
        good = copy.deepcopy(handle.state["log"])
        handle.state["log"][-1 if last else 0]["n"] = "broken"
        error = self.try_what_is_refused(handle)
        assert error is None or error.code == "policy.append-only"
        handle.state["log"] = good
        self.save(handle)

    # --- lines ------------------------------------------------------------------------------------

    @rule(who=WHO, at=AT, edits=st.lists(EDIT, max_size=2), save=st.booleans())
    def fork(self, who: int, at: int, edits: list[Any], *, save: bool) -> None:
        handle = self.chosen(who)
        there = self.checkpoints(handle.key)
        if not there:
            return
        kept = there[-1 - at % len(there)]
        try:
            run = handle.run.fork(kept.checkpoint)
        except (ConflictError, NotFoundError) as error:
            self.refuse(handle, error)
            return
        assert self.model.may_claim(handle)
        book = self.model.claim(handle)
        found = book.find(kept.checkpoint.id)
        assert found is not None
        line = Line(len(book.lines), found[0].branch, kept.checkpoint.seq)
        book.lines.append(line)
        self.acknowledged()
        child = Handle(run, handle.key, run.state, loaded=True, life=book.life, token=handle.token)
        child.branch, child.head, child.blind = line.branch, kept.checkpoint.id, False
        assert picture(child.state) == kept.fields
        self.add(child)
        for edit, number, value in edits:
            edit(child.state, number, copy.deepcopy(value))
        if save:
            self.save(child)

    # --- pending writes ---------------------------------------------------------------------------

    @rule(who=WHO, at=AT, batch=BATCHES)
    def put_writes(self, who: int, at: int, batch: Batch) -> None:
        handle = self.chosen(who)
        there = self.checkpoints(handle.key)
        if not there:
            return
        kept = there[-1 - at % len(there)]
        channels = ("anything", "a channel of the host", "tree")
        writes = list(zip(channels, batch.values, strict=False))
        if batch.large:
            writes.append(("anything", [SECRET, f"{at % 3}{batch.task} " * 40_000]))
        put = partial(handle.run.put_writes, path=batch.path, replace=batch.replace)
        try:
            put(kept.checkpoint, batch.task, writes)
        except (ConflictError, NotFoundError) as error:
            self.refuse(handle, error)
            return
        assert self.model.may_claim(handle)
        self.model.claim(handle)
        for index, (channel, value) in enumerate(writes):
            if batch.replace or (batch.task, index) not in kept.writes:
                row = (batch.path, channel, shown(value, (channel,)))
                kept.writes[batch.task, index] = row
        self.acknowledged()
        compare_one(self.reader(handle.key), kept)

    @rule(who=WHO)
    def use_what_is_not_there(self, who: int) -> None:
        handle = self.chosen(who)
        for call in (handle.run.at, handle.run.writes):
            try:
                call("019f0000-0000-7000-8000-000000000000")
            except NotFoundError:
                continue
            raise AssertionError("a checkpoint was made up")

    # --- less -------------------------------------------------------------------------------------

    @rule(
        who=WHO,
        latest=st.none() | st.integers(1, 6),
        every=st.none() | st.integers(2, 5),
        age=st.none() | st.integers(0, 100),
    )
    def prune(self, who: int, latest: int | None, every: int | None, age: int | None) -> None:
        key = KEYS[who % len(KEYS)]
        book = self.model.books.get(key)
        if book is None or latest is every is age is None:
            return
        ats = [kept.checkpoint.at for _, kept in book.all()]
        older = None if age is None else ats[age % len(ats)] - TICK // 2
        pruned = self.bench.store.for_tenant(key[0]).prune(
            key[1],
            keep_latest=latest,
            every=every,
            older_than=None if older is None else datetime.fromtimestamp(older / 1000, UTC),
        )
        gone = book.prune(latest, every, older)
        assert (pruned.removed, pruned.kept) == (len(gone), sum(1 for _ in book.all()))
        self.acknowledged()
        self.erased(gone)

    @rule(who=WHO, sure=st.integers(0, 2))
    def delete(self, who: int, sure: int) -> None:
        if sure:
            return
        key = KEYS[who % len(KEYS)]
        gone = self.checkpoints(key)
        there = self.bench.store.for_tenant(key[0]).delete(key[1])
        assert there == (key in self.model.books)
        if there:
            del self.model.books[key]
            self.model.deletions[key] = self.model.deletions.get(key, 0) + 1
        self.acknowledged()
        self.erased(gone)

    # --- the end of a process ---------------------------------------------------------------------

    @precondition(lambda self: not self.bench.memory)
    @rule()
    def reopen(self) -> None:
        self.bench.reopen()
        self.begin_anew()

    @precondition(lambda self: not self.bench.memory)
    @rule(torn=st.binary(max_size=40), stay=st.booleans())
    def crash(self, torn: bytes, *, stay: bool) -> None:
        """All that was acknowledged is there, whatever lies behind it in the log."""
        path = self.bench.crashed()
        log = path.with_name("runs.db-wal")
        if log.exists():
            log.write_bytes(log.read_bytes() + torn * 200)
        with self.bench.opened(path) as store:
            assert shape_of(store, KEYS) == self.model.shape()
            assert all(
                store.for_tenant(tenant).verify().problems == () for tenant in ("one", "two")
            )
        if not stay:
            self.bench.go_on_with(path)
            self.begin_anew()

    @precondition(lambda self: not self.bench.memory and self.bench.durability == "normal")
    @rule(left=st.floats(0, 1))
    def lose_power(self, left: float) -> None:
        """The newest may be gone, each of them whole, and never an older one."""
        path = self.bench.crashed()
        log = path.with_name("runs.db-wal")
        if log.exists():
            os.truncate(log, int(log.stat().st_size * left))
        with self.bench.opened(path) as store:
            assert shape_of(store, KEYS) in self.shapes
            assert all(
                store.for_tenant(tenant).verify().problems == () for tenant in ("one", "two")
            )

    # --- what always holds ------------------------------------------------------------------------

    @invariant()
    def some_checkpoints_are_right(self) -> None:
        for key in KEYS:
            there = self.checkpoints(key)
            run = self.reader(key)
            for kept in {kept.token: kept for kept in there[self.serial % 7 :: 61]}.values():
                compare_one(run, kept)
            if there:
                compare_one(run, there[-1])

    def teardown(self) -> None:
        try:
            compare(self.bench.store, self.model, KEYS)
            assert no_secret(self.bench)
        finally:
            self.patch.undo()
            self.bench.close()


def test_runs_do_what_a_plain_model_of_them_does_whatever_happens() -> None:
    nightly = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
    examples, steps = (800, 45) if nightly else (12, 30)  # 28,000 steps, or 350
    run_state_machine_as_test(
        RunMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
