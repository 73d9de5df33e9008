"""A process that follows a script until it is killed.

``python -m tests.run.machine.killed <url> <durability> <seed> <start>``
"""

from __future__ import annotations

import sys
from typing import Any

import keepset as ks
from tests.run.machine.script import Operation, Script
from tests.run.machine.values import World, picture, shown


class Follower:
    """Does to a real store what the script says."""

    def __init__(self, url: str, durability: Any, script: Script) -> None:
        self._url = url
        self._durability = durability
        self._script = script
        self._open()

    def _open(self) -> None:
        self._store = ks.open(self._url, durability=self._durability, compression=False)
        self._runs: dict[str, ks.Run] = {}

    def perform(self, one: Operation) -> None:
        """Make the one call that an operation is."""
        store, life = self._store, self._script.lives[one.run]
        if one.kind == "reopen":
            store.close()
            self._open()
        elif one.kind == "switch":
            self._runs[one.run] = store.run(World, one.run, branch=one.branch)
        elif one.kind == "prune":
            store.prune(one.run, keep_latest=one.arguments[0], every=one.arguments[1])
        elif one.kind == "delete":
            store.delete(one.run)
            self._runs.pop(one.run)
        elif one.kind == "save":
            self._run(one.run).save(one.name, life.state)
        elif one.kind == "fork":
            self._runs[one.run] = self._run(one.run).fork(self._id(one))
        else:
            self._run(one.run).put_writes(self._id(one), *one.arguments)

    def _run(self, run_id: str) -> ks.Run:
        if run_id not in self._runs:
            life = self._script.lives[run_id]
            branch = life.branch if life.names else None
            self._runs[run_id] = self._store.run(World, run_id, branch=branch)
        return self._runs[run_id]

    def _id(self, one: Operation) -> str:
        look = self._store.inspect(one.run)
        found = (
            c.id for b in look.branches() for c in look.history(branch=b) if c.step == one.name
        )
        return next(found)


def found(store: ks.Store) -> dict[str, Any]:
    """What a store holds, by names, as `Script.expected` gives it."""
    held = {}
    for row in store.runs():
        run, look = store.run(World, row.run.key.run_id), store.inspect(row.run.key.run_id)
        lines = []
        for branch in look.branches():
            history = look.history(branch=branch)
            own = [c for c in reversed(history) if c.branch == branch]
            lines.append(([c.step for c in history], [_whole(run, c) for c in own]))
        held[row.run.key.run_id] = lines
    return held


def _whole(run: ks.Run, one: ks.Checkpoint) -> tuple[str, dict[str, str], dict[Any, Any]]:
    writes = {
        (w.task, w.index): (w.path, w.channel, shown(w.value, (w.channel,)))
        for w in run.writes(one.id)
    }
    return one.step, picture(run.at(one.id).values), writes


def main(url: str, durability: Any, seed: int, start: int) -> None:
    """Follow the script from a place on; say how many operations are done after each."""
    script = Script(seed)
    while script.number < start:
        script.apply(script.next())
    follower = Follower(url, durability, script)
    while True:
        one = script.next()
        follower.perform(one)
        script.apply(one)
        sys.stdout.write(f"{script.number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
