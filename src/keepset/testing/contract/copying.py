"""Claims about copies of runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keepset.errors import ConflictError, NotFoundError
from keepset.plan.reads import FindRun, ReadBlobs, ReadEverything, ReadWrites
from keepset.plan.requests import Seen
from keepset.plan.rows import RunKey, WriteRow
from keepset.plan.writes import Copy, Delete, PutWrites
from keepset.testing.contract.base import (
    TENANT,
    Claims,
    Scribe,
    blob,
    headers,
    mark,
    refused,
    segment,
)

TARGET = RunKey(TENANT, "copy")


class CopyingClaims(Claims):
    """What holds for a run that was copied."""

    def test_a_copy_holds_all_that_the_run_holds_and_is_a_run_of_its_own(
        self, tmp_path: Path
    ) -> None:
        """Lines and their forks, packed and unpacked steps, pending writes, large values."""
        large = blob(b"large")
        with self.opened(tmp_path) as backend:
            root = Scribe(backend).save_many(2)
            root.pack(headers(1, 2), segment("a", 1, 2))
            root.save(blobs=(large,))
            root.fork(2).save_many(2)
            write = WriteRow("task", "path", 0, "a", b"value", b"digest")
            backend.execute(PutWrites(root.fence, root.line_id, 2, (write,)))
            backend.execute(Copy(root.key, TARGET, b"incarnation-of-the-copy", 77))
            mine = backend.execute(ReadEverything(root.key))
            copy = backend.execute(ReadEverything(TARGET))
            assert (copy.run.incarnation, copy.run.token, copy.run.created) == (
                b"incarnation-of-the-copy",
                1,
                77,
            )
            assert copy.run.contract == mine.run.contract
            numbers = dict(zip([p.line.id for p in mine.lines], copy.lines, strict=True))
            for past in mine.lines:
                twin = numbers[past.line.id]
                parent = numbers[past.line.parent].line.id if past.line.parent else None
                assert twin.line == replace(past.line, id=twin.line.id, parent=parent)
                assert (twin.steps, twin.segments) == (past.steps, past.segments)
            there = numbers[root.line_id].line.id
            assert backend.execute(ReadWrites(there, 2)) == (write,)
            backend.execute(Delete(root.key, mark(root.key), 78))
            assert backend.execute(ReadBlobs(copy.run.id, (large.digest,))) == (large,)
            assert backend.execute(ReadEverything(TARGET)) == copy

    def test_a_copy_goes_on_by_itself(self, tmp_path: Path) -> None:
        """Neither run sees what the other one writes from then on."""
        with self.opened(tmp_path) as backend:
            root = Scribe(backend).save_many(2)
            backend.execute(Copy(root.key, TARGET, b"copy", 77))
            copy = Scribe(backend, "copy").look()
            copy.save()
            root.save_many(3)
            assert [copy.load().seq, root.load().seq] == [3, 5]

    def test_no_copy_is_made_of_nothing_or_onto_something(self, tmp_path: Path) -> None:
        """Both are refused by name, and nothing is changed."""
        with self.opened(tmp_path) as backend:
            root = Scribe(backend).save_many(1)
            with refused(NotFoundError, "run.not-found"):
                backend.execute(Copy(RunKey(TENANT, "nothing"), TARGET, b"copy", 1))
            assert backend.execute(FindRun(TARGET, mark(TARGET))).run is None
            with refused(ConflictError, "conflict.exists"):
                backend.execute(Copy(root.key, root.key, b"copy", 1))
            assert root.load().seq == 1

    def test_a_copy_under_a_deleted_name_is_fenced_off_from_who_wrote_there(
        self, tmp_path: Path
    ) -> None:
        """What was deleted stays deleted."""
        with self.opened(tmp_path) as backend:
            root = Scribe(backend).save_many(1)
            old = Scribe(backend, "copy").save_many(1)
            backend.execute(Delete(TARGET, mark(TARGET), 5))
            with refused(ConflictError, "conflict.deleted"):
                backend.execute(Copy(root.key, TARGET, b"copy", 7, mark=mark(TARGET)))
            assert backend.execute(FindRun(TARGET, mark(TARGET))).run is None
            backend.execute(Copy(root.key, TARGET, b"copy", 7))
            with refused(ConflictError, "conflict.deleted"):
                old.save()
            with refused(ConflictError, "conflict.deleted"):
                replace(old, claim=Seen(b"incarnation-of-copy", 0)).save()
