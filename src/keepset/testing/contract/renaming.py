"""Claims about runs that get another id, or take the place of another one."""

from __future__ import annotations

from pathlib import Path

from keepset.backends.port import Backend
from keepset.errors import ConflictError, NotFoundError
from keepset.plan.reads import FindRun, ReadEverything, ReadWrites
from keepset.plan.requests import Seen
from keepset.plan.rows import RunKey, WriteRow
from keepset.plan.writes import Delete, PutWrites, Rename, Replace
from keepset.testing.contract.base import TENANT, Claims, Scribe, blob, mark, refused
from keepset.testing.contract.leasing import take, taking

TARGET = RunKey(TENANT, "target")


def in_place(backend: Backend, source: Scribe) -> Replace:
    """Make the plan that puts a run in place of the target as it is now."""
    found = backend.execute(FindRun(TARGET, mark(TARGET)))
    assert found.run is not None
    seen = Seen(found.run.incarnation, found.deletions, found.run.layout)
    everything = backend.execute(ReadEverything(TARGET))
    heads = tuple((past.line.id, past.steps[-1].seq) for past in everything.lines)
    written = tuple(sorted(write.digest for _, _, write in everything.writes))
    return Replace(source.key, TARGET, b"renamed", mark(TARGET), seen, heads, written)


class RenamingClaims(Claims):
    """What holds for a run that has another id from then on."""

    def test_a_run_keeps_all_that_it_holds_under_another_id(self, tmp_path: Path) -> None:
        """Lines, forks, steps, pending writes and large values are there; the old id is free."""
        with self.opened(tmp_path) as backend:
            root = Scribe(backend).save_many(3)
            root.save(blobs=(blob(b"large"),))
            root.fork(2).save_many(2)
            write = WriteRow("task", "path", 0, "a", b"value", b"digest")
            backend.execute(PutWrites(root.fence, root.line_id, 2, (write,)))
            before = backend.execute(ReadEverything(root.key))
            backend.execute(Rename(root.key, TARGET, b"renamed", mark(TARGET)))
            after = backend.execute(ReadEverything(TARGET))
            assert (after.run.key, after.run.incarnation) == (TARGET, b"renamed")
            assert after.lines == before.lines
            assert backend.execute(ReadWrites(root.line_id, 2)) == (write,)
            assert backend.execute(FindRun(root.key, mark(root.key))).run is None
            assert backend.execute(FindRun(root.key, mark(root.key))).deletions == 0

    def test_who_wrote_under_the_old_id_is_refused_and_others_go_on(self, tmp_path: Path) -> None:
        """The run has a new incarnation."""
        with self.opened(tmp_path) as backend:
            root = Scribe(backend).save_many(2)
            backend.execute(Rename(root.key, TARGET, b"renamed", mark(TARGET)))
            with refused(ConflictError, "conflict.deleted"):
                root.save()
            assert Scribe(backend, "target").look().save().line.id == root.line_id

    def test_no_run_is_renamed_to_one_that_is_there_or_was_deleted(self, tmp_path: Path) -> None:
        """Each is refused by name, and nothing is changed."""
        with self.opened(tmp_path) as backend:
            root = Scribe(backend).save_many(1)
            plan = Rename(root.key, TARGET, b"renamed", mark(TARGET))
            with refused(NotFoundError, "run.not-found"):
                backend.execute(Rename(TARGET, root.key, b"renamed", mark(root.key)))
            Scribe(backend, "target").save_many(2)
            with refused(ConflictError, "conflict.exists"):
                backend.execute(plan)
            backend.execute(Delete(TARGET, mark(TARGET), 5))
            with refused(ConflictError, "conflict.deleted"):
                backend.execute(plan)
            assert root.load().seq == 1

    def test_a_run_takes_the_place_of_another_one_whole(self, tmp_path: Path) -> None:
        """What was there is gone, whoever wrote to it is refused, and nothing counts as deleted."""
        with self.opened(tmp_path) as backend:
            root, old = Scribe(backend).save_many(3), Scribe(backend, "target").save_many(2)
            backend.execute(in_place(backend, root))
            assert Scribe(backend, "target").load().seq == 3
            assert backend.execute(FindRun(root.key, mark(root.key))).run is None
            assert backend.execute(FindRun(TARGET, mark(TARGET))).deletions == 0
            with refused(ConflictError, "conflict.deleted"):
                old.save()

    def test_a_run_that_went_on_since_it_was_read_is_not_replaced(self, tmp_path: Path) -> None:
        """No newer checkpoint of it is lost, no pending write, and nobody's work."""
        with self.opened(tmp_path) as backend:
            root, old = Scribe(backend).save_many(3), Scribe(backend, "target").save_many(2)
            plan = in_place(backend, root)
            old.save()
            with refused(ConflictError, "conflict.head"):
                backend.execute(plan)
            plan = in_place(backend, root)
            answer = WriteRow("task", "path", 0, "a", b"value", b"digest")
            backend.execute(PutWrites(old.fence, old.line_id, 3, (answer,)))
            with refused(ConflictError, "conflict.head"):
                backend.execute(plan)
            assert backend.execute(ReadWrites(old.line_id, 3)) == (answer,)
            plan = in_place(backend, root)
            backend.execute(take(old, taking()))
            with refused(ConflictError, "run.leased"):
                backend.execute(plan)
            assert (old.load().seq, root.load().seq) == (3, 3)
