"""Read what a run holds, without its contract if need be: nothing is restored."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

from keepset.codec import Codec
from keepset.errors import IntegrityError, NotFoundError, UsageError
from keepset.plan.blobs import Blobs
from keepset.plan.chains import Chains, gather
from keepset.plan.lines import parent_of
from keepset.plan.meanwhile import went_meanwhile
from keepset.plan.project import is_pin
from keepset.plan.reads import FindRun, Found, Load, Loaded, ReadStanding
from keepset.plan.rebuild import rebuild
from keepset.plan.requests import Flow, Request
from keepset.plan.rows import LineRow, RunKey, RunRow, StepRow
from keepset.plan.search import locate, newest_headers
from keepset.run.checkpoint import Checkpoint, View, as_checkpoint
from keepset.run.services import Services
from keepset.verdict.status import Status


class Reader:
    """Reads one run's checkpoints."""

    def __init__(self, services: Services, run_id: str, codec: Codec, namespace: str = "") -> None:
        """Remember what the run is called; nothing is read yet.

        Args:
            services: The store's parts.
            run_id: The run.
            codec: Knows the classes of the values, or shows them as opaque.
            namespace: The host's namespace, of whose lines everything is read.
        """
        self.key = RunKey(services.tenant, run_id)
        self.mark = services.mark(self.key)
        self.codec = codec
        self.namespace = namespace

    def row(self) -> Flow[RunRow]:
        """The run's own row.

        Raises:
            NotFoundError: There is no such run.
        """
        found = yield from self._found()
        row: RunRow = found.run
        return row

    def _found(self) -> Flow[Any]:
        found: Found = yield FindRun(self.key, self.mark)
        if found.run is None:
            raise self._no_run()
        return found

    def _no_run(self) -> NotFoundError:
        return NotFoundError(
            f"there is no run {self.key.run_id} of tenant {self.key.tenant}",
            code="run.not-found",
            hint="`store.runs()` or `keepset runs` lists those that are there.",
        )

    def load(
        self,
        branch: int | None = None,
        check: Callable[[RunRow], None] | None = None,
        seq: int | None = None,
    ) -> Generator[Request, Any, tuple[Loaded, Chains, dict[str, Any]]]:
        """Load a position: what was loaded, its chains, and the stored values.

        Args:
            branch: The line's branch; None for the newest line.
            check: Looks at the run's row before anything is decoded.
            seq: The position; None for the newest checkpoint.
        """
        while True:
            loaded: Loaded = yield Load(self.key, self.mark, self.namespace, branch=branch, seq=seq)
            run = loaded.found.run
            if check and run:
                check(run)
            try:
                return (yield from self._rebuilt(loaded))
            except IntegrityError as error:
                known = run and (yield from went_meanwhile(error, self.key, self.mark, run))
                if not known:
                    raise

    def _rebuilt(
        self, loaded: Loaded
    ) -> Generator[Request, Any, tuple[Loaded, Chains, dict[str, Any]]]:
        chains = gather(loaded, self.codec)
        run = loaded.found.run
        blobs = Blobs(run.id if run else 0, self.codec, chains.uses())
        refs = chains.refs()
        if refs:
            yield from blobs.fetch(refs)
            chains = replace(chains, stored=frozenset(blobs.weights))
        return loaded, chains, rebuild(chains, blobs)

    def history(self, branch: int | None, limit: int | None) -> Flow[list[Checkpoint]]:
        """The checkpoints of a line and of its past, newest first.

        The newest one has the status in which the run has been since: what was written after it
        may say that it has paused or failed.

        Args:
            branch: The line's branch; None for the newest line.
            limit: How many at the most; None for all.
        """
        if limit is not None and (type(limit) is not int or limit < 1):
            raise UsageError(
                "the limit is not a number from 1 on", code="usage.limit", hint="Write limit=100."
            )
        lines = yield from self._lines()
        line = max(lines, key=lambda row: row.branch, default=None)
        if branch is not None:
            line = next((row for row in lines if row.branch == branch), None)
            if line is None:
                raise NotFoundError(
                    f"run {self.key.run_id} has no line {branch}",
                    code="line.not-found",
                    hint=f"It has the lines {', '.join(str(row.branch) for row in lines)}.",
                )
        found: list[Checkpoint] = []
        until: int | None = None
        while line is not None and (limit is None or len(found) < limit):
            left = None if limit is None else limit - len(found)
            rows = yield from newest_headers(line.id, until, left)
            if rows and not found:
                rows[0] = yield from self._standing(line, rows[0])
            found += [as_checkpoint(row, line, self.codec) for row in rows]
            until, line = line.parent_seq, parent_of(line, {row.id: row for row in lines})
        return found

    def _standing(self, line: LineRow, row: StepRow) -> Generator[Request, Any, StepRow]:
        status = yield ReadStanding(line.id, row.seq)
        return row._replace(status=status) if status in tuple(Status) else row

    def branches(self) -> Flow[list[int]]:
        """The branches of the run's lines, in order."""
        lines = yield from self._lines()
        return sorted(line.branch for line in lines)

    def _lines(self) -> Generator[Request, Any, list[LineRow]]:
        found = yield from self._found()
        return [row for row in found.lines if row.namespace == self.namespace]

    def find(self, checkpoint: str) -> Generator[Request, Any, tuple[LineRow, StepRow]]:
        """Find a checkpoint by its id, on whatever line it lies.

        Raises:
            NotFoundError: There is none of this id.
        """
        located = yield from locate(self.key, self.namespace, checkpoint)
        if located is None:
            raise self._no_checkpoint(checkpoint)
        return located.line, located.row

    def _no_checkpoint(self, checkpoint: str) -> NotFoundError:
        return NotFoundError(
            f"run {self.key.run_id} has no checkpoint {checkpoint}",
            code="checkpoint.not-found",
            hint="`run.history()` or `keepset show` lists those that are there.",
        )

    def at(self, checkpoint: str) -> Flow[View]:
        """What one checkpoint holds.

        Raises:
            NotFoundError: There is none of this id.
        """
        line, row = yield from self.find(checkpoint)
        loaded, _, values = yield from self.load(line.branch, seq=row.seq)
        if loaded.line is None or loaded.line.id != line.id:  # another run of this name, since
            raise self._no_checkpoint(checkpoint)
        shown = {name: value for name, value in values.items() if not is_pin(name)}
        return View(as_checkpoint(row, line, self.codec), shown)
