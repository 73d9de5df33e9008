"""What imports have in common: refusals become outcomes, and of two at one run one is first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from keepset.adapters.moved import Moved, Outcome
from keepset.errors import (
    ConflictError,
    KeepsetError,
    NotFoundError,
    PolicyError,
    StoreError,
    UsageError,
)
from keepset.plan.reads import ASIDE
from keepset.store.opening import check_name

_SECONDS: Final = "audit."
"""What the codes of errors begin with that come from the store that is read."""


def moved_or_why(kind: str, run: str, move: Callable[[str], Moved], other_rules: str = "") -> Moved:
    """Move one run, or say why it cannot be moved.

    Args:
        kind: What its host calls it.
        run: Its id.
        move: Moves it.
        other_rules: The hint where what is here already is of a class that is not known.

    Raises:
        StoreError: The store that it goes to refuses.
    """
    try:
        check_name(f"{kind} id", run)
        if run.startswith(ASIDE):
            return Moved(run, Outcome.LEFT, why="its id begins as keepset's own do")
        return move(run)
    except KeepsetError as error:
        ours = isinstance(error, StoreError) and not error.code.startswith(_SECONDS)
        if ours or error.code == "role.read-only":
            raise
        refused = isinstance(error, PolicyError | UsageError)
        outcome = Outcome.LEFT if refused else Outcome.UNREAD
        unknown = other_rules and error.code == "decode.unknown-type"
        return Moved(run, outcome, why=error.message, hint=other_rules if unknown else error.hint)


@dataclass(frozen=True, slots=True)
class Turn:
    """What one attempt at a run needs to know of the others.

    Attributes:
        is_overtaken: Tells whether there is another run of its name by now.
        again: Begins anew with what is there now.
        replaces: Whether it takes the place of a run.
    """

    is_overtaken: Callable[[], bool]
    again: Callable[[], Moved]
    replaces: bool


def in_turn(
    turn: Turn, attempt: Callable[[], Moved], differs: Callable[[str, str], Moved]
) -> Moved:
    """Make an attempt; where another import was first, go on with what that has taken.

    Args:
        turn: What it needs to know.
        attempt: Makes it.
        differs: Says that the run to be replaced has gone on, and why, with a hint.

    Raises:
        ConflictError: It was refused for another reason.
        NotFoundError: The same.
    """
    try:
        moved = attempt()
    except (ConflictError, NotFoundError) as error:
        # The other one has removed what this one had written
        if turn.is_overtaken():
            return turn.again()
        if not turn.replaces:
            raise
        return differs(error.message, error.hint)
    if moved.outcome is Outcome.UNREAD and turn.is_overtaken():
        return turn.again()
    return moved
