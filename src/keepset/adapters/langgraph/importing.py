"""Take the threads of another saver over into a store, one after the other.

Nothing of another tool's bytes is run: the readers take them apart as data, and only classes that
were allowed are made of them. A thread is written under another name, read back and compared, and
takes its own name in one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from keepset.adapters.landing import Replaced, is_another, land, remove, to_be_replaced
from keepset.adapters.langgraph.binding import GraphBinding
from keepset.adapters.langgraph.elsewhere import Conversion
from keepset.adapters.langgraph.importing_rows import Rows, Spot
from keepset.adapters.langgraph.importing_source import ENCRYPTED
from keepset.adapters.langgraph.importing_taking import Attempt, Origin, Taking
from keepset.adapters.langgraph.options import metadata_names, named_types
from keepset.adapters.langgraph.threads import Threads, registry
from keepset.adapters.langgraph.types import host_classes, host_types
from keepset.adapters.langgraph.verifying import Unlike, Verifying
from keepset.adapters.langgraph.vetting import NO_CLASS, Allowed
from keepset.adapters.masked import withheld
from keepset.adapters.moved import LeftOut, Moved, Outcome
from keepset.adapters.taking import Turn, in_turn, moved_or_why
from keepset.backends.driver import drive
from keepset.plan.reads import Found
from keepset.readers.databases.port import Database
from keepset.readers.langgraph.layout import Layout
from keepset.store import Store

_ENCRYPTED: Final = (
    "A saver with its key can hand it over: KeepsetSaver(store, fallback=…) takes a thread over at "
    "its first write."
)
_TYPES: Final = (
    "Name the graph that wrote it, --graph MODULE:NAME, or a class, --types MODULE:CLASS. Where it "
    "lies elsewhere now: --moved OLD.MODULE.CLASS=MODULE:CLASS."
)
_MORE_TYPES: Final = (
    "The graph names no such class: --types MODULE:CLASS does. Where it lies elsewhere now: "
    "--moved OLD.MODULE.CLASS=MODULE:CLASS."
)
_OTHER_RULES: Final = (
    "It was taken over by other rules: name the graph and the classes as then, or import into a "
    "new store."
)
_NO_THREAD: Final = "there is no thread of this id to take over"
_AGAIN: Final = "Take it over anew with --again."
_PRUNED: Final = "It was shortened here: --again takes it over anew, with what was removed."


@dataclass(frozen=True, slots=True)
class Options:
    """How threads are taken over.

    Attributes:
        graph: The compiled graph that wrote them, whose rules apply; None where it is not known.
        types: Classes of the user's that states hold.
        moved: Those that lay elsewhere when the threads were written, by the names that they had.
        metadata_keys: Keys of the metadata that are taken over beside LangGraph's own.
        skips: Whether a thread is taken over without the values that cannot be.
        again: Whether a thread that has gone on where it comes from is taken over anew.
    """

    graph: Any = None
    types: Collection[type] | Mapping[str, type] = ()
    moved: Mapping[str, type] = field(default_factory=dict)
    metadata_keys: Collection[str] = ()
    skips: bool = False
    again: bool = False


class Importer:
    """Takes threads over.

    Args:
        database: The database that they lie in, open to read.
        layout: Where in it.
        store: Where they go. For a dry run a store in memory, from which each is removed again.
        target: The store that is there already, to compare with; None where there is none.
        options: How they are taken over.
        told: Hears how many bytes of the present thread were read.
    """

    def __init__(  # noqa: PLR0913 - each stands alone
        self,
        database: Database,
        layout: Layout,
        store: Store,
        target: Store | None,
        options: Options,
        *,
        told: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Take no thread yet.

        Raises:
            SchemaError: The schemas of the graph are unsound.
            UsageError: The types or the keys are none.
        """
        self._options = options
        types = named_types(options.types)
        known = registry(host_types(), types)
        self._work = _threads(store, known, options)
        same = target is not None and target.services is store.services
        self._is_dry = not same
        self._target: Threads | None = self._work if same else None
        if target is not None and not same:
            self._target = _threads(target, known, options)
        of_graph = set(self._of_graph())
        for cls in {*options.moved.values()} - of_graph:  # the graph has a name for its own
            if known.of_class(cls) is None:
                known.register(cls.__qualname__, cls)
                known.of_any_contract(cls)
        classes = {*host_classes(), *types.values(), *options.moved.values(), *of_graph}
        self._origin = Origin(
            Rows(database, layout),
            Allowed(classes, options.moved),
            Conversion(metadata_names(options.metadata_keys)),
            options.skips,
        )
        self._taking = Taking(self._origin, self._work, told)

    def _of_graph(self) -> Iterator[type]:
        binding = self._work.binding
        if isinstance(binding, GraphBinding):
            for contract in binding.contracts.values():
                yield from contract.classes.values()

    def runs(self) -> Iterator[str]:
        """Give the ids of the threads that there are to take over."""
        return self._origin.rows.threads()

    def has(self, thread: str) -> bool:
        """Tell whether there is a thread to take over."""
        return bool(self._origin.rows.spots(thread))

    def move(self, thread: str) -> Moved:
        """Take one thread over, or say why not.

        Raises:
            StoreError: The store that it goes to refuses.
        """
        # Only what is here already was written by names; what comes is made of data
        return moved_or_why("thread", thread, self._move, _OTHER_RULES)

    def _move(self, thread: str) -> Moved:
        found = self._look(thread)
        if found is not None and found.run is not None:
            return self._again(thread, found)
        if found is not None and found.deletions:
            why = "a thread of this id was deleted here, and does not come back"
            return Moved(thread, Outcome.LEFT, why=why)
        return self._take(thread, None)

    def _look(self, thread: str) -> Found | None:
        if self._target is None:
            return None
        reader = self._target.fresh(thread).reader
        return drive(reader.look(), self._target.services.backend)

    # --- one that is not there --------------------------------------------------------------------

    def _take(self, thread: str, replaced: Replaced | None) -> Moved:
        """Take a thread over; once more where it went on while it was read."""
        moved = self._tried(thread, replaced)
        return self._tried(thread, replaced) if moved.outcome is Outcome.UNREAD else moved

    def _tried(self, thread: str, replaced: Replaced | None) -> Moved:
        attempt = self._taking.begin(thread, self._origin.rows.spots(thread))
        turn = Turn(
            lambda: self._is_another(thread, replaced),
            lambda: self._move(thread),
            replaces=replaced is not None,
        )
        return in_turn(
            turn,
            lambda: self._attempted(attempt, replaced),
            lambda why, hint: self._moved(attempt, Outcome.DIFFERS, why, hint),
        )

    def _attempted(self, attempt: Attempt, replaced: Replaced | None) -> Moved:
        landed = False
        try:
            self._taking.write(attempt)
            stands = self._stands_in_the_way(attempt) or self._unverified(attempt)
            if stands is None and not self._is_dry:
                stands = self._land(attempt, replaced)
                landed = stands is None
            return stands or self._moved(attempt, Outcome.TAKEN)
        finally:
            if not landed:
                remove(self._work.services, attempt.aside.id)

    def _is_another(self, thread: str, replaced: Replaced | None) -> bool:
        """Tell whether another thread is here by now than the one to be replaced, or was."""
        found = self._look(thread)
        return found is not None and is_another(found, replaced)

    def _stands_in_the_way(self, attempt: Attempt) -> Moved | None:
        """Say why a thread was not written; None where it was."""
        if not attempt.spots:
            return self._moved(attempt, Outcome.LEFT, _NO_THREAD)
        if attempt.gone:
            return self._moved(attempt, Outcome.LEFT, "it was deleted meanwhile")
        if attempt.broken:
            hint = _ENCRYPTED if attempt.broken == ENCRYPTED else ""
            return self._moved(attempt, Outcome.LEFT, attempt.broken, hint)
        if attempt.left and not self._options.skips:
            hint = self._hint(attempt.left)
            return self._moved(attempt, Outcome.LEFT, "it has values that cannot be taken", hint)
        return None

    def _hint(self, left: Collection[LeftOut]) -> str:
        """Say what can be done about values that are in the way."""
        if any(one.why == ENCRYPTED for one in left):
            return _ENCRYPTED
        hint = "--skip-values takes it without them."
        if not any(one.why.endswith(NO_CLASS) for one in left):
            return hint
        return f"{_TYPES if self._options.graph is None else _MORE_TYPES} {hint}"

    def _unverified(self, attempt: Attempt) -> Moved | None:
        """Read a thread back; say where it is not what it was, None where it is."""
        aside = self._work.fresh(attempt.aside.id)
        found = drive(aside.reader.look(), self._work.services.backend)
        if found.run is not None:
            verifying = Verifying(self._origin, self._work)
            unlike = next(verifying.unlike(aside, found, attempt.thread, attempt.spots), None)
            if unlike is None:
                return None
            attempt.left = [unlike.where]
        why = "what was written is not what was read, so it was removed again"
        hint = "It may have gone on meanwhile: try again, once nothing writes to it."
        return self._moved(attempt, Outcome.UNREAD, why, hint)

    def _land(self, attempt: Attempt, replaced: Replaced | None) -> Moved | None:
        """Give what was written its own name; None where that is done."""
        if self._origin.rows.checkpoint(attempt.thread, attempt.spots[-1]) is None:
            return self._moved(attempt, Outcome.LEFT, "it was deleted meanwhile")
        land(self._work.services, attempt.aside.id, attempt.thread, replaced)
        return None

    # --- one that is there ------------------------------------------------------------------------

    def _again(self, thread: str, found: Found) -> Moved:
        """Compare a thread with the one of its id that is there."""
        target = self._target or self._work
        here, backend = target.fresh(thread), target.services.backend
        replaced: Replaced | None = None
        if self._options.again:  # before anything is compared: what comes later is not lost
            replaced = drive(to_be_replaced(target.services, thread, found), backend)
        lines = drive(here.reader.headers_of(found, None), backend)
        ours = {Spot(row.checkpoint, line.namespace) for line, rows in lines for row in rows}
        spots = self._origin.rows.spots(thread)
        if not spots:
            return Moved(thread, Outcome.LEFT, why=_NO_THREAD)
        common = [spot for spot in spots if spot in ours]
        more, fewer = len(spots) > len(common), len(ours) > len(common)
        first: Unlike | None = None
        if common:
            unlike = Verifying(self._origin, target).unlike(here, found, thread, common)
            for one in unlike:
                more, fewer = more or one.writes == "more", fewer or one.writes == "fewer"
                if not one.writes:
                    first = one
                    break
        moved = Moved(thread, Outcome.THERE, len(common))
        if first is not None or not common or (more and fewer):
            why = "there is another thread of this id here, or both have gone on"
            where = (self._masked(first.where),) if first else ()
            return replace(moved, outcome=Outcome.DIFFERS, why=why, left=where)
        if more and replaced is not None:
            return self._take(thread, replaced)
        if more:
            number = len(spots) - len(common)
            why = f"{number} checkpoints are not here, or more was written after some"
            shorter = found.run is not None and found.run.layout
            hint = _PRUNED if shorter else _AGAIN
            return replace(moved, outcome=Outcome.GROWN, why=why, hint=hint)
        return replace(moved, outcome=Outcome.AHEAD) if fewer else moved

    def _moved(self, attempt: Attempt, outcome: Outcome, why: str = "", hint: str = "") -> Moved:
        report, mode = attempt.aside.report, self._work.services.mode
        return Moved(
            attempt.thread,
            outcome,
            len(attempt.spots),
            attempt.size,
            why,
            hint,
            tuple(self._masked(one) for one in attempt.left),
            attempt.more,
            withheld(report, mode) if outcome is Outcome.TAKEN else {},
            tuple(sorted(map(self._work.services.scanner.text, attempt.unasked))),
        )

    def _masked(self, one: LeftOut) -> LeftOut:
        """Mask a key in a path that is itself a secret."""
        told = self._work.services.scanner.text
        return replace(one, path=told(one.path), why=told(one.why))


def _threads(store: Store, known: Any, options: Options) -> Threads:
    threads = Threads(store.services, known)
    if options.graph is not None:
        threads.bind(GraphBinding(options.graph, known))
    return threads
