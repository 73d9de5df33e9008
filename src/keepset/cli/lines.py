"""The lines of a run, and the way from what a person types to one checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from keepset.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import keepset as ks
    from keepset.run.inspection import Inspection

SHORT = 8
"""Last characters of an id that are printed; those of a UUIDv7 are its random ones."""
LEAST = 6
"""Characters from which a part of an id names a checkpoint."""


@dataclass(frozen=True)
class Lines:
    """The checkpoints of all lines of a run.

    Attributes:
        histories: By branch the checkpoints of the line and of its past, newest first.
        chosen: The branch that is looked at.
    """

    histories: dict[int, list[ks.Checkpoint]]
    chosen: int

    @property
    def resuming(self) -> int:
        """The branch that a run goes on with: the newest line."""
        return max(self.histories)

    def history(self, branch: int) -> list[ks.Checkpoint]:
        """Give the checkpoints of a line and of its past, newest first."""
        return self.histories[branch]

    def own(self, branch: int) -> list[ks.Checkpoint]:
        """Give the checkpoints that lie on a line itself, newest first."""
        return [c for c in self.histories[branch] if c.branch == branch]

    def forked_after(self, branch: int) -> ks.Checkpoint | None:
        """Give the newest checkpoint of the line's past; None for the root line."""
        return next((c for c in self.histories[branch] if c.branch != branch), None)

    def find(self, named: str | None) -> ks.Checkpoint:
        """Find a checkpoint.

        Args:
            named: The number of a step on the chosen line; the id of a checkpoint on any line, or
                six characters and more that only one id begins or ends with; None for the newest
                checkpoint of the chosen line.

        Raises:
            NotFoundError: ``checkpoint.not-found``.
            UsageError: ``checkpoint.ambiguous`` where several ids begin or end so.
        """
        history = self.histories[self.chosen]
        if named is None and history:
            return history[0]
        for checkpoint in history:
            if str(checkpoint.seq) == named:
                return checkpoint
        every = {c.id: c for line in self.histories.values() for c in line}
        if named in every:
            return every[named]
        found = [c for c in every.values() if named and _is_part(named, c.id)]
        if len(found) == 1:
            return found[0]
        raise _ambiguous(named, found) if found else self._none(named)

    def _none(self, named: str | None) -> NotFoundError:
        if named is None:
            message = "the run has no checkpoint"
        else:
            message = f"there is no step or checkpoint {named}"
        where = f"Line {self.chosen}" if len(self.histories) > 1 else "The run"
        steps = spans(c.seq for c in self.histories[self.chosen])
        return NotFoundError(
            message, code="checkpoint.not-found", hint=f"{where} has the steps {steps or 'none'}."
        )


def read_lines(run: Inspection, branch: int | None) -> Lines:
    """Read the lines of a run.

    Args:
        run: The run.
        branch: The line to look at; None for the one that a resume goes on with, which is where
            `keepset runs` says that the run stands.

    Raises:
        NotFoundError: ``line.not-found``.
    """
    histories = {number: run.history(branch=number) for number in run.branches()}
    if branch is not None and branch not in histories:
        histories[branch] = run.history(branch=branch)
    return Lines(histories, max(histories, default=0) if branch is None else branch)


def short(checkpoint: str) -> str:
    """Shorten an id to what is printed, and accepted, in its place."""
    return checkpoint[-SHORT:]


def spans(numbers: Iterable[int]) -> str:
    """Write numbers as spans: ``1-3, 5``."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def _is_part(named: str, checkpoint: str) -> bool:
    is_end = checkpoint.startswith(named) or checkpoint.endswith(named)
    return len(named) >= LEAST and is_end


def _ambiguous(named: str | None, found: Sequence[ks.Checkpoint]) -> UsageError:
    some = ", ".join(f"{c.id} (step {c.seq} of line {c.branch})" for c in found[:5])
    return UsageError(
        f"{len(found)} checkpoints have an id that begins or ends with {named}",
        code="checkpoint.ambiguous",
        hint=f"Give more of one: {some}{', …' if found[5:] else '.'}",
    )
