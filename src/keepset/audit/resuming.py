"""What is counted is kept in a file, so that a reading that was interrupted can be gone on with.

The file has names of fields, places and runs in it, and numbers; it has no value.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from keepset.audit.sampling import Plan
from keepset.audit.tally import Tally
from keepset.errors import UsageError
from keepset.providers.files import Wanted

EVERY: Final = 2.0
"""Seconds after which the file is written again, once a run is read."""

_FORMAT: Final = 2


class _Kept(msgspec.Struct):
    format: int
    place: str
    plan: tuple[int, int | None, float | None, int, bool, tuple[str, ...]]
    tally: Tally


class Keeping:
    """Keeps what is counted.

    Args:
        path: The file.
        place: The store that is read.
        plan: How much of it is read; another plan cannot go on.
        elapsed: Seconds since some moment.
        eyes: Names of those that look closer; with others it is another reading.
    """

    def __init__(
        self,
        path: Path,
        place: str,
        plan: Plan,
        elapsed: Callable[[], float],
        eyes: tuple[str, ...] = (),
    ) -> None:
        """Keep nothing yet."""
        self._path = path
        self._place = place
        # With a limit of time runs are read in another order, so that it makes another plan.
        is_limited = plan.seconds is not None
        self._plan = (plan.all_below, plan.runs, plan.share, plan.seed, is_limited, eyes)
        self._elapsed = elapsed
        self._last = elapsed()

    def before(self) -> Tally | None:
        """Give what was counted before; None where there is no such file.

        Raises:
            UsageError: ``audit.resume-other``: it is of another store or plan, or no such file.
        """
        try:
            kept = msgspec.msgpack.decode(self._path.read_bytes(), type=_Kept)
        except FileNotFoundError:
            return None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._other("is no file that an audit has kept") from error
        if (kept.format, kept.place, kept.plan) != (_FORMAT, self._place, self._plan):
            raise self._other("is of an audit of another store, or with other options")
        return kept.tally

    def keep(self, tally: Tally) -> None:
        """Keep what is counted, if the last time was some seconds ago; call it between runs."""
        if self._elapsed() - self._last >= EVERY:
            self.write(tally)

    def write(self, tally: Tally) -> None:
        """Keep what is counted now; the file is there whole or as it was."""
        kept = _Kept(_FORMAT, self._place, self._plan, tally)
        with Wanted(self._path, replaces=True, is_private=True).writing() as file:
            file.write(msgspec.msgpack.encode(kept))
        self._last = self._elapsed()

    def end(self, tally: Tally, *, is_done: bool) -> None:
        """Take the file away where all was read that was planned; else keep what there is."""
        if is_done:
            self._path.unlink(missing_ok=True)
        else:
            self.write(tally)

    def _other(self, what: str) -> UsageError:
        return UsageError(
            f"{self._path} {what}",
            code="audit.resume-other",
            hint="Name a new file, or take that one away to begin anew.",
        )
