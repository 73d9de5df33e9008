"""Users of runs: what each of them does, and what comes of it in the store and in the model."""

from __future__ import annotations

from typing import Any

import keepset as ks
from keepset.errors import ConflictError, KeepsetError, NotFoundError, PolicyError
from tests.run.machine.model import Handle, Kept, Key, Model
from tests.run.machine.store import Bench
from tests.run.machine.values import World, fresh, picture

KEYS: list[Key] = [("one", "a"), ("one", "b"), ("two", "a")]
STALE = {"conflict.deleted", "conflict.token", "conflict.head"}
MOST_HANDLES = 6


class Users:
    """Several runs of two tenants in one store, each with several users that know more or less."""

    def __init__(self) -> None:
        self.bench = Bench()
        self.model = Model()
        self.handles: list[Handle] = []
        self.shapes: list[tuple[Any, ...]] = [()]
        self.serial = 0

    def opened(self, key: Key, branch: int | None = None) -> Handle:
        run = self.bench.store.for_tenant(key[0]).run(World, key[1], branch=branch)
        return Handle(run, key, {}, branch=branch)

    def add(self, handle: Handle) -> None:
        self.handles = [*self.handles[-(MOST_HANDLES - 1) :], handle]

    def chosen(self, who: int) -> Handle:
        return self.handles[-1 - who % len(self.handles)]

    def checkpoints(self, key: Key) -> list[Kept]:
        book = self.model.books.get(key)
        return [kept for _, kept in book.all()] if book else []

    def resume(self, handle: Handle) -> None:
        """Read the newest state, and compare it."""
        state = handle.run.state
        handle.blind = False
        self.model.load(handle)
        book = self.model.books.get(handle.key)
        newest = book.find(handle.head) if book else None
        if newest is None:
            assert state is None
            handle.state = fresh()
            return
        assert picture(state) == newest[1].fields
        handle.state = state

    def refuse(self, handle: Handle, error: KeepsetError) -> None:
        """Judge a refusal: it is typed, and the model gives a reason for it."""
        if isinstance(error, NotFoundError):
            assert self.model.is_missing(handle)
        else:
            assert error.code in STALE
            assert not (self.model.may_claim(handle) and self.model.is_newest(handle))

    def try_what_is_refused(self, handle: Handle) -> PolicyError | None:
        """Save what a rule refuses; None where the user is refused, whatever it saves."""
        if handle.blind:
            handle.state.pop("log", None)
        try:
            handle.run.save("refused", handle.state)
        except PolicyError as error:
            return error
        except (ConflictError, NotFoundError) as error:
            self.refuse(handle, error)
            return None
        msg = "what a rule refuses was stored"
        raise AssertionError(msg)

    def save(self, handle: Handle) -> None:
        """Save what the handle's state is; refused exactly where the model says so."""
        if handle.blind:
            handle.state.pop("log", None)
        self.serial += 1
        token = f"step-{self.serial}-{'x' * 12}-{self.serial * 7919}"
        handle.state["now"] = token
        expected = picture(handle.state)
        status = ("running", "paused", "failed", "done")[self.serial % 4]
        metadata = {"n": self.serial, "token": token} if self.serial % 3 == 0 else {}
        may = self.model.may_claim(handle) and self.model.is_newest(handle)
        try:
            saved = handle.run.save(token, handle.state, status=status, metadata=metadata)
        except (ConflictError, NotFoundError) as error:
            assert not may
            self.refuse(handle, error)
            return
        assert may
        book = self.model.claim(handle)
        line = book.lines[handle.branch or 0]
        kept = Kept(saved, token, expected)
        before = book.head(line)
        assert (saved.parent, saved.branch) == (before, line.branch)
        last = line.steps[-1].checkpoint.seq if line.steps else line.point
        assert saved.seq == last + 1
        assert (saved.step, saved.status, saved.metadata) == (token, status, metadata)
        line.steps.append(kept)
        handle.head, handle.blind = saved.id, False
        self.acknowledged()

    def acknowledged(self) -> None:
        self.shapes.append(self.model.shape())

    def erased(self, gone: list[Kept]) -> None:
        """Look for what went in the bytes of the files; a store that compresses hides it."""
        if self.bench.compression or self.bench.memory:
            return
        for kept in gone[:3] + gone[-3:]:
            assert not self.bench.holds(kept.token)
            assert not self.bench.holds(kept.checkpoint.id)
        left = [kept for key in KEYS for kept in self.checkpoints(key)]
        assert not left or self.bench.holds(left[-1].token)

    def begin_anew(self) -> None:
        """Nobody who held a run is there any more."""
        self.handles = [self.opened(key) for key in KEYS]
        for handle in self.handles:
            self.resume(handle)

    def reader(self, key: Key) -> ks.Run:
        return self.bench.store.for_tenant(key[0]).run(World, key[1])
