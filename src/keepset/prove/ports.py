"""What can be proven: the port that a host's adapter implements, and one life of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from keepset.codec import Codec
from keepset.contracts import Contract, Field, Rule
from keepset.prove.watch import Watch
from keepset.store import Store


@dataclass(frozen=True, slots=True)
class Script:
    """What comes from outside while a run lives.

    Attributes:
        inputs: What the run begins with; for a host that takes several turns, one a turn.
        answers: What a human answers, in the order in which questions come.
    """

    inputs: tuple[Any, ...] = ()
    answers: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How much of a script a life has used up.

    Attributes:
        turn: Turns that were begun.
        answered: Answers that were given.
    """

    turn: int = 0
    answered: int = 0


@dataclass(frozen=True, slots=True)
class Life:
    """One life of a process with a run: from the beginning, or from where another life ended.

    Attributes:
        store: Where the run is stored; it stays open.
        rules: The rule of every field, by the id that `Target.fields` has for it.
        script: What comes from outside.
        since: None for a life that begins the run; else what the lives before have used up.
    """

    store: Store
    rules: Mapping[str, Rule]
    script: Script
    since: Progress | None = None


class Target(Protocol):
    """A workflow of one host, made afresh for each life.

    Attributes:
        name: What a person calls it.
        fields: Its fields, by id. The id is the field's name; that of a graph inside has the
            node's name and a dot before it where the outer state has no field of that name.
        outputs: The fields that the host itself says a caller reads; empty where it says nothing.
        codec: Knows the classes of the values.
        contract: That of the outer state, as it is declared.
        carries: Whether `live` shows the whole state at each point, so that what no checkpoint
            takes can be handed to the next life in the same process.
    """

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    @property
    def fields(self) -> Mapping[str, Field]:
        """Its fields, by id."""
        ...

    @property
    def outputs(self) -> frozenset[str]:
        """The fields that the host itself says a caller reads."""
        ...

    @property
    def codec(self) -> Codec:
        """Knows the classes of the values."""
        ...

    @property
    def contract(self) -> Contract:
        """The contract of the outer state."""
        ...

    @property
    def carries(self) -> bool:
        """Whether it shows the whole state at each point."""
        ...

    def live(self, life: Life, watch: Watch) -> Mapping[str, Any]:
        """Live one life, to the end of the run.

        Every step that begins is told to `watch.began`, every checkpoint that has landed and that
        a run can be resumed from to `watch.landed`, with what has been used of the script. `landed`
        may not return: it ends the life there.

        Returns:
            The final state, by field id; live values included, nothing copied.

        Raises:
            Exception: Whatever a step, the host or the store raises.
        """
        ...
