"""Claims about deletion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keepset.backends import Backend
from keepset.errors import ConflictError, IntegrityError, NotFoundError
from keepset.plan.reads import ListRuns, ReadBlobs, ReadEverything, ReadSizes, ReadWrites
from keepset.plan.requests import Seen
from keepset.plan.rows import WriteRow
from keepset.plan.writes import Begin, Claim, Delete, PutWrites
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


def _delete(backend: Backend, scribe: Scribe) -> bool:
    return backend.execute(Delete(scribe.key, mark(scribe.key), at=5))


def _full(backend: Backend, run_id: str = "run") -> Scribe:
    """Write a run that has something of everything."""
    scribe = Scribe(backend, run_id, subject=b"subject").save_many(3)
    scribe.pack(headers(1, 3), segment("a", 1, 3))
    scribe.save(blobs=(blob(b"large"),))
    scribe.fork(2).save_many(2)
    write = WriteRow("task", "", 0, "a", b"value")
    backend.execute(PutWrites(scribe.fence, scribe.line_id, 1, (write,)))
    return scribe


class RemovingClaims(Claims):
    """What holds once a run is deleted."""

    def test_where_there_is_no_run_a_deletion_says_so(self, tmp_path: Path) -> None:
        """And leaves no tombstone: only the deletion of a run is counted."""
        with self.opened(tmp_path) as backend:
            assert _delete(backend, Scribe(backend)) is False
            assert backend.execute(Scribe(backend).find()).deletions == 0

    def test_a_deletion_takes_everything_and_spares_other_runs(self, tmp_path: Path) -> None:
        """Rows of every kind go; the deletion itself is recorded."""
        with self.opened(tmp_path) as backend:
            other = _full(backend, "other")
            before = backend.execute(ReadEverything(other.key))
            size = backend.execute(ReadSizes(TENANT)).bytes_by_field
            gone = _full(backend)
            assert _delete(backend, gone) is True
            found = backend.execute(gone.find())
            assert (found.run, found.deletions, found.lines) == (None, 1, ())
            with refused(NotFoundError, "run.not-found"):
                backend.execute(ReadEverything(gone.key))
            assert backend.execute(ReadSizes(TENANT)).bytes_by_field == size
            listed = backend.execute(ListRuns(TENANT, subject=b"subject"))
            assert [row.run.key for row in listed] == [other.key]
            assert backend.execute(ReadEverything(other.key)) == before

    def test_a_late_writer_cannot_bring_a_run_back(self, tmp_path: Path) -> None:
        """Whether it had a claim, had seen the run, or had seen that there was none."""
        with self.opened(tmp_path) as backend:
            early = Scribe(backend)
            holder = _full(backend)
            seer = Scribe(backend).look()
            assert isinstance(seer.claim, Seen)
            _delete(backend, holder)
            write = WriteRow("task", "", 0, "a", b"late")
            for late in (early, holder, seer):
                with refused(ConflictError, "conflict.deleted"):
                    late.save()
            with refused(ConflictError, "conflict.deleted"):
                backend.execute(PutWrites(holder.fence, holder.line_id, 1, (write,)))
            with refused(ConflictError, "conflict.deleted"):
                holder.fork(1)
            with refused(ConflictError, "conflict.deleted"):
                backend.execute(Claim(seer.key, mark(seer.key), seer.claim, epoch=9))
            assert backend.execute(holder.find()).run is None

    def test_a_run_id_can_begin_a_new_incarnation(self, tmp_path: Path) -> None:
        """Who loaded nothing after the deletion starts anew; nothing old is seen or written."""
        with self.opened(tmp_path) as backend:
            old = _full(backend)
            _delete(backend, old)
            new = Scribe(backend).look()
            new.save(incarnation=b"the second")
            with refused(ConflictError, "conflict.deleted"):
                old.save()
            with refused(IntegrityError, "blob.missing"):
                backend.execute(ReadBlobs(new.fence.run, (blob(b"large").digest,)))
            assert backend.execute(ReadWrites(old.line_id, 1)) == ()
            assert new.line_id != old.line_id
            assert _delete(backend, new) is True
            assert backend.execute(new.find()).deletions == 2

    def test_a_claim_on_a_run_that_never_was_is_refused(self, tmp_path: Path) -> None:
        """There is nothing to claim."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend)
            with refused(NotFoundError, "run.not-found"):
                backend.execute(Claim(scribe.key, mark(scribe.key), Seen(None, 0), epoch=1))

    def test_a_writer_of_a_deleted_run_begins_no_line(self, tmp_path: Path) -> None:
        """It is refused as deleted, in a new namespace and beside the lines of an old one."""
        with self.opened(tmp_path) as backend:
            gone = Scribe(backend).save_many(1)
            _delete(backend, gone)
            for namespace, begin in (("inner", None), ("", Begin())):
                late = replace(gone, namespace=namespace, line=None, head=0)
                with refused(ConflictError, "conflict.deleted"):
                    late.save(begin=begin)
            assert backend.execute(gone.find()).lines == ()
