"""A script of operations that a seed decides, and what a store holds after each of them."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, field
from typing import Any

import keepset as ks
from tests.run.machine.model import Book, Kept, Line
from tests.run.machine.values import EDITS, fresh, picture, shown

RUNS = ("a", "b")
KINDS = {"save": 70, "write": 10, "fork": 6, "switch": 4, "prune": 6, "delete": 2, "reopen": 2}
_ROOMY = {"extend", "grow_draft", "add_page"}


@dataclass(frozen=True, slots=True)
class Operation:
    """One call: what is done to which run, and with what."""

    kind: str
    run: str
    name: str = ""
    branch: int = 0
    arguments: tuple[Any, ...] = ()


@dataclass(slots=True)
class Life:
    """One run of the script: what it holds, its live state, and the line that is written to."""

    book: Book = field(default_factory=lambda: Book(1, lines=[Line(0)]))
    state: dict[str, Any] = field(default_factory=fresh)
    branch: int = 0
    raw: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def line(self) -> Line:
        """The line that is written to."""
        return self.book.lines[self.branch]

    @property
    def names(self) -> list[str]:
        """The names of its checkpoints."""
        return [kept.token for _, kept in self.book.all()]


class Script:
    """Gives one operation after the other; a checkpoint's name stands for its id."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - the same every time
        self.lives = {run: Life() for run in RUNS}
        self.gone: set[str] = set()
        self.number = 0

    def next(self) -> Operation:
        """Decide on the next operation; a save's changes are in the live state already."""
        chance = self._chance
        self.number += 1
        run = chance.choice(RUNS)
        life = self.lives[run]
        kind = chance.choices(list(KINDS), weights=list(KINDS.values()))[0]
        if kind == "reopen":
            return Operation(kind, run)
        if kind == "save" or not life.names:
            self._change(life.state)
            life.state["now"] = f"name-{self.number}-{self.number * 7919:x}-{'y' * 12}"
            return Operation("save", run, life.state["now"], life.branch)
        name = chance.choice(life.names)
        if kind == "switch":
            return Operation(kind, run, branch=chance.randrange(len(life.book.lines)))
        if kind == "write":
            writes = [
                ("anything", self._value()),
                ("channel", "large " * chance.choice((1, 20_000))),
            ]
            return Operation(kind, run, name, 0, (f"task {chance.randrange(3)}", writes))
        if kind == "prune":
            return Operation(kind, run, "", 0, (chance.randint(1, 60), chance.choice((None, 3))))
        return Operation(kind, run, name)

    def _change(self, state: dict[str, Any]) -> None:
        for _ in range(self._chance.randrange(3)):
            edit = self._chance.choice(EDITS)
            if edit.__name__ not in _ROOMY or not self._chance.randrange(4):
                edit(state, 1 + 7 * self._chance.randrange(20), self._value())

    def _value(self) -> Any:
        number = self._chance.randrange(100)
        return self._chance.choice([number, f"text {number}", [number, {"n": number}], None, True])

    def apply(self, one: Operation) -> None:
        """Do an operation to the plain lists."""
        life = self.lives[one.run]
        if one.kind == "save":
            self._save(life, one.name)
        elif one.kind == "fork":
            found = life.book.find(one.name)
            assert found is not None
            life.branch = len(life.book.lines)
            life.book.lines.append(Line(life.branch, found[0].branch, found[1].checkpoint.seq))
            life.state = copy.deepcopy(life.raw[one.name])
        elif one.kind == "switch":
            life.branch = one.branch
            head = life.book.head(life.line)
            life.state = copy.deepcopy(life.raw[head])
        elif one.kind == "write":
            found = life.book.find(one.name)
            assert found is not None
            task, writes = one.arguments
            for index, (channel, value) in enumerate(writes):
                row = ("", channel, shown(value, (channel,)))
                found[1].writes.setdefault((task, index), row)
        elif one.kind == "prune":
            self.gone |= {
                kept.token for kept in life.book.prune(one.arguments[0], one.arguments[1])
            }
        elif one.kind == "delete":
            self.gone |= set(life.names)
            self.lives[one.run] = Life()

    def _save(self, life: Life, name: str) -> None:
        seq = (life.line.steps[-1].checkpoint.seq if life.line.steps else life.line.point) + 1
        told = ks.Checkpoint(name, seq, name, "running", 0, "", life.branch)
        life.line.steps.append(Kept(told, name, picture(life.state)))
        life.raw[name] = copy.deepcopy(life.state)

    def expected(self) -> dict[str, Any]:
        """What a store holds now, by names; see `found`."""
        return {
            run: [
                (
                    [kept.token for kept in life.book.history(line.branch)],
                    [(kept.token, kept.fields, kept.writes) for kept in line.steps],
                )
                for line in life.book.lines
            ]
            for run, life in self.lives.items()
            if life.names
        }
