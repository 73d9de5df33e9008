"""Take sessions over into a store, one after the other, each whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from keepset.adapters.landing import Replaced, aside_of, is_another, land, remove, to_be_replaced
from keepset.adapters.masked import withheld
from keepset.adapters.moved import LeftOut, Moved, Outcome
from keepset.adapters.openai_agents.rows import ItemRow, SessionRows
from keepset.adapters.openai_agents.session import ITEMS, NAME, SessionRun, path_of
from keepset.adapters.taking import Turn, in_turn, moved_or_why
from keepset.backends.driver import drive
from keepset.errors import PolicyError
from keepset.plan.reads import Found
from keepset.plan.rows import LineRow, StepRow
from keepset.readers.databases.port import Database
from keepset.readers.records.part import Host
from keepset.run.hosted import Stored
from keepset.store import Store

_PAGE: Final = 32
_MOST: Final = 20
_NO_ITEMS: Final = "there are no items of it to take over"


@dataclass(slots=True)
class _Attempt:
    """A session that is being written to another name."""

    session: str
    run: SessionRun
    aside: str
    items: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    left: list[LeftOut] = field(default_factory=list)
    more: int = 0
    size: int = 0

    def leave(self, row: ItemRow, why: str) -> None:
        told = LeftOut(row.name, "", "state", path_of(len(self.items)), why)
        if len(self.left) < _MOST:
            self.left.append(told)
        else:
            self.more += 1


class SessionImporter:
    """Takes sessions over; see `keepset.adapters.langgraph.importing.Importer`.

    Args:
        database: The database that they lie in, open to read.
        host: Where in it.
        store: Where they go; for a dry run a store in memory.
        target: The store that is there already, to compare with; None where there is none.
        skips: Whether a session is taken over without the items that cannot be.
        again: Whether a session that has gone on where it comes from is taken over anew.
        told: Hears how many bytes of the present session were read.
    """

    def __init__(  # noqa: PLR0913 - each stands alone
        self,
        database: Database,
        host: Host,
        store: Store,
        target: Store | None,
        *,
        skips: bool = False,
        again: bool = False,
        told: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Take no session yet."""
        self._told = told
        self._rows = SessionRows(database, host)
        self._services = store.services
        self._target = None if target is None else target.services
        self._is_dry = target is None or target.services is not store.services
        self._skips = skips
        self._again = again

    def runs(self) -> Iterator[str]:
        """Give the ids of the sessions that there are to take over."""
        return self._rows.sessions()

    def has(self, session: str) -> bool:
        """Tell whether there is a session to take over."""
        return next(self._rows.items(session), None) is not None

    def move(self, session: str) -> Moved:
        """Take one session over, or say why not.

        Raises:
            StoreError: The store that it goes to refuses.
        """
        return moved_or_why("session", session, self._move)

    def _move(self, session: str) -> Moved:
        found = self._look(session)
        if found is not None and found.run is not None:
            return self._compared(session, found)
        if found is not None and found.deletions:
            why = "a run of this id was deleted here, and does not come back"
            return Moved(session, Outcome.LEFT, why=why)
        return self._take(session, None)

    def _look(self, session: str) -> Found | None:
        if self._target is None:
            return None
        return drive(SessionRun(self._target, session).reader.look(), self._target.backend)

    def _take(self, session: str, replaced: Replaced | None) -> Moved:
        aside = aside_of(self._services, session)
        attempt = _Attempt(session, SessionRun(self._services, aside), aside)
        turn = Turn(
            lambda: self._is_another(session, replaced),
            lambda: self._move(session),
            replaces=replaced is not None,
        )
        return in_turn(
            turn,
            lambda: self._attempted(attempt, replaced),
            lambda why, hint: self._moved(attempt, Outcome.DIFFERS, why, hint),
        )

    def _is_another(self, session: str, replaced: Replaced | None) -> bool:
        """Tell whether another run is here by now than the one to be replaced, or was."""
        found = self._look(session)
        return found is not None and is_another(found, replaced)

    def _attempted(self, attempt: _Attempt, replaced: Replaced | None) -> Moved:
        landed = False
        try:
            self._write(attempt)
            if attempt.left and not self._skips:
                hint = "--skip-values takes it without them."
                return self._moved(attempt, Outcome.LEFT, "it has items that cannot be taken", hint)
            if not attempt.items:
                return self._moved(attempt, Outcome.LEFT, _NO_ITEMS)
            if not self._is_the_same(attempt):
                why = "what was written is not what was read, so it was removed again"
                return self._moved(attempt, Outcome.UNREAD, why)
            if not self._is_dry:
                land(self._services, attempt.aside, attempt.session, replaced)
                landed = True
            return self._moved(attempt, Outcome.TAKEN)
        finally:
            if not landed:
                remove(self._services, attempt.aside)

    def _write(self, attempt: _Attempt) -> None:
        """Write a session; where it cannot be taken, only what stands in the way is sought."""
        now = self._services.now()
        for row in self._rows.items(attempt.session):
            attempt.size += row.size
            self._told(attempt.size)
            if row.why:
                attempt.leave(row, row.why)
            elif not attempt.left or self._skips:
                parent = attempt.names[-1] if attempt.names else ""
                at = now if row.at is None else row.at
                flow = attempt.run.adding([*attempt.items, row.item], row.name, parent, at)
                try:
                    drive(flow, self._services.backend)
                except PolicyError as error:
                    attempt.leave(row, error.message)
                    continue
                attempt.items.append(row.item)
                attempt.names.append(row.name)

    # --- reading back -----------------------------------------------------------------------------

    def _is_the_same(self, attempt: _Attempt) -> bool:
        """Read a session back, checkpoint by checkpoint, and compare it with what was read."""
        run = SessionRun(self._services, attempt.aside)
        found = drive(run.reader.look(), self._services.backend)
        line, headers = self._headers(run, found)
        if line is None or [row.checkpoint for row in headers] != attempt.names[::-1]:
            return False
        expected = [self._as_stored(run, item, at) for at, item in enumerate(attempt.items)]
        surface = run.looking()
        for begin in range(0, len(headers), _PAGE):
            rows = headers[begin : begin + _PAGE]
            assert found.run is not None  # noqa: S101 - it has headers
            flow = run.reader.several(found.run, line, rows, surface)
            for at, one in enumerate(drive(flow, self._services.backend), begin):
                items = _items(one)
                count = len(expected) - at
                whole = range(count) if not at else range(count - 1, count)
                if len(items) != count or any(
                    run.codec.pack(items[place]) != expected[place] for place in whole
                ):
                    return False
        return True

    @staticmethod
    def _headers(run: SessionRun, found: Found) -> tuple[LineRow | None, Sequence[StepRow]]:
        """Give a session's line with its headers, the newest first; no line for another run."""
        lines = drive(run.reader.headers_of(found, ""), run.surface.services.backend)
        return lines[0] if len(lines) == 1 else (None, ())

    @staticmethod
    def _as_stored(run: SessionRun, item: Any, place: int) -> bytes:
        """Pack an item as it is stored: with a marker for each secret."""
        guard, field_ = run.surface.guard, run.surface.contract.fields[ITEMS]
        path = (ITEMS, place)
        put = dict(guard.decide(field_, item, path, guard.look(field_, item, path)))
        kept = put.pop(path, item)
        return guard.codec.pack(kept, path, substitute=put or None)

    def _compared(self, session: str, found: Found) -> Moved:
        """Compare a session with the run of its id that is there."""
        assert self._target is not None  # noqa: S101 - it was found there
        assert found.run is not None  # noqa: S101 - the same
        run = SessionRun(self._target, session)
        replaced: Replaced | None = None
        if self._again:  # before anything is compared: what comes later is not lost
            flow = to_be_replaced(self._target, session, found)
            replaced = drive(flow, self._target.backend)
        line, headers = self._headers(run, found)
        why = "there is another run of this id here, or both have gone on"
        if found.run.contract.name != NAME or line is None or not headers:
            return Moved(session, Outcome.DIFFERS, why=why)
        stored = drive(run.reader.on((line, headers[0].seq), run.surface), self._target.backend)
        ours = list(
            zip([row.checkpoint for row in reversed(headers)], _items(stored), strict=False)
        )
        theirs = [*self._storable(run, session)]
        if not theirs:
            return Moved(session, Outcome.LEFT, why=_NO_ITEMS)
        common = 0
        for (name, item), (other, got) in zip(theirs, ours, strict=False):
            if name != other or item != run.codec.pack(got):
                return Moved(session, Outcome.DIFFERS, common, why=why)
            common += 1
        if len(theirs) > common and replaced is not None:
            return self._take(session, replaced)
        if len(theirs) > common:
            why, hint = f"{len(theirs) - common} items are new", "Take it over anew with --again."
            return Moved(session, Outcome.GROWN, common, why=why, hint=hint)
        return Moved(session, Outcome.AHEAD if len(ours) > common else Outcome.THERE, common)

    def _storable(self, run: SessionRun, session: str) -> Iterator[tuple[str, bytes]]:
        """Give the items of a session as they are stored, without those that cannot be."""
        place = 0
        for row in self._rows.items(session):
            if row.why:
                continue
            try:
                yield row.name, self._as_stored(run, row.item, place)
            except PolicyError:
                continue
            place += 1

    def _moved(self, attempt: _Attempt, outcome: Outcome, why: str = "", hint: str = "") -> Moved:
        report, mode = attempt.run.report, self._services.mode
        return Moved(
            attempt.session,
            outcome,
            len(attempt.names),
            attempt.size,
            why,
            hint,
            tuple(attempt.left),
            attempt.more,
            withheld(report, mode) if outcome is Outcome.TAKEN else {},
        )


def _items(stored: Stored | None) -> list[Any]:
    found = stored.values.get(ITEMS) if stored is not None else None
    return found if isinstance(found, list) else []
