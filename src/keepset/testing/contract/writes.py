"""Claims about pending writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keepset.backends import Backend
from keepset.errors import ConflictError, NotFoundError
from keepset.plan.bundled import Bundle
from keepset.plan.reads import ReadBlobs, ReadEverything, ReadWrites
from keepset.plan.requests import Seen
from keepset.plan.rows import BUNDLE, WriteRow
from keepset.plan.writes import PutWrites, Rewrite, Rewritten
from keepset.testing.contract.base import Claims, Scribe, blob, headers, refused, segment


def _put(backend: Backend, scribe: Scribe, seq: int, *writes: WriteRow) -> None:
    backend.execute(PutWrites(scribe.fence, scribe.line_id, seq, writes))


def _read(backend: Backend, scribe: Scribe, seq: int) -> tuple[WriteRow, ...]:
    return backend.execute(ReadWrites(scribe.line_id, seq))


class WritesClaims(Claims):
    """What holds for the writes between two checkpoints."""

    def test_writes_come_back_by_path_then_task_then_index(self, tmp_path: Path) -> None:
        """Negative indexes are a host's special channels and come first in their task."""
        rows = (
            WriteRow("task-b", "path-1", 0, "messages", b"1", b"digest-1"),
            WriteRow("task-a", "path-2", 1, "messages", b"2", b"digest-2"),
            WriteRow("task-a", "path-2", -1, "error", b"3", b"digest-3"),
            WriteRow("task-c", "path-1", 0, "messages", b"", b"digest-4"),
        )
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(2)
            _put(backend, scribe, 2, *rows)
            assert _read(backend, scribe, 2) == (rows[0], rows[3], rows[2], rows[1])
            assert _read(backend, scribe, 1) == ()

    def test_a_write_that_is_made_again_stays_or_is_replaced(self, tmp_path: Path) -> None:
        """As the host asks, write by write."""
        first = WriteRow("task", "path", 0, "a", b"first", b"digest-1")
        third = WriteRow("task", "other", 0, "b", b"third", b"digest-3")
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(1)
            _put(backend, scribe, 1, first)
            _put(backend, scribe, 1, WriteRow("task", "other", 0, "b", b"second"))
            assert _read(backend, scribe, 1) == (first,)
            _put(backend, scribe, 1, replace(third, replace=True))
            assert _read(backend, scribe, 1) == (third,)
            assert backend.execute(ReadEverything(scribe.key)).writes == (
                (scribe.line_id, 1, third),
            )

    def test_writes_are_bundled_in_one_row(self, tmp_path: Path) -> None:
        """The bundle is given with every checkpoint up to its own, and goes in a rewrite."""
        rows = [WriteRow("task", "", n, "a", b"1", b"digest-%d" % n) for n in range(3)]
        row = WriteRow("", "", BUNDLE, "", b"all", b"digest-all")
        made = Bundle(2, row, ((1, rows[0]), (2, rows[1])))
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(2)
            _put(backend, scribe, 1, rows[0])
            _put(backend, scribe, 2, rows[1], rows[2])
            scribe.save(bundle=made)
            assert _read(backend, scribe, 1) == (row,)
            assert _read(backend, scribe, 2) == (rows[2], row)
            assert _read(backend, scribe, 3) == ()
            backend.execute(self._without_bundles(backend, scribe, (1, rows[0])))
            assert _read(backend, scribe, 1) == (rows[0],)
            assert _read(backend, scribe, 2) == (rows[2],)

    def test_where_a_write_is_another_one_by_now_nothing_is_bundled(self, tmp_path: Path) -> None:
        """Else the bundle would hold what was never stored, or what was replaced."""
        row = WriteRow("task", "", 0, "a", b"1", b"digest")
        other = replace(row, value=b"2", digest=b"other")
        made = Bundle(2, WriteRow("", "", BUNDLE, "", b"all", b"all"), ((1, row), (2, other)))
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(2)
            _put(backend, scribe, 1, row)
            _put(backend, scribe, 2, row)
            scribe.save(bundle=made)
            assert _read(backend, scribe, 1) == (row,)
            assert _read(backend, scribe, 2) == (row,)

    def test_what_comes_late_for_a_bundled_checkpoint_is_in_no_second_bundle(
        self, tmp_path: Path
    ) -> None:
        """Neither in the same place nor further on, where who looks for it would not look."""
        early, late = (WriteRow("task", "", n, "a", b"1", b"%d" % n) for n in range(2))
        later = WriteRow("task", "", 0, "a", b"1", b"later")
        bundles = [WriteRow("", "", BUNDLE, "", b"%d" % n, b"all-%d" % n) for n in range(3)]
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(3)
            _put(backend, scribe, 2, early)
            scribe.save(bundle=Bundle(2, bundles[0], ((2, early),)))
            _put(backend, scribe, 2, late)
            scribe.save(bundle=Bundle(2, bundles[1], ((2, late),)))
            _put(backend, scribe, 4, later)
            scribe.save(bundle=Bundle(4, bundles[2], ((2, late), (4, later))))
            assert _read(backend, scribe, 2) == (late, bundles[0])
            assert _read(backend, scribe, 4) == (later,)

    @staticmethod
    def _without_bundles(backend: Backend, scribe: Scribe, *back: tuple[int, WriteRow]) -> Rewrite:
        everything = backend.execute(ReadEverything(scribe.key))
        (past,) = everything.lines
        seqs = tuple(step.seq for step in past.steps)
        return Rewrite(
            key=scribe.key,
            mark=scribe.find().mark,
            seen=Seen(everything.run.incarnation, 0, everything.run.layout),
            heads=((past.line.id, seqs[-1]),),
            lines=(Rewritten(past.line, seqs, past.steps, past.segments),),
            stay=(),
            written=tuple(sorted(write.digest for _, _, write in everything.writes)),
            restored=tuple((past.line.id, seq, row) for seq, row in back),
        )

    def test_a_write_that_comes_late_is_accepted(self, tmp_path: Path) -> None:
        """Its checkpoint may have successors, and may be packed."""
        write = WriteRow("task", "", 0, "a", b"late")
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(3)
            _put(backend, scribe, 1, write)
            scribe.pack(headers(1, 3), segment("a", 1, 3))
            _put(backend, scribe, 2, write)
            assert [_read(backend, scribe, seq) for seq in (1, 2, 3)] == [(write,), (write,), ()]

    def test_a_write_for_a_checkpoint_that_is_not_there_is_refused(self, tmp_path: Path) -> None:
        """Nothing of the call is stored, and what lies in the past is another line's."""
        write = WriteRow("task", "", 0, "a", b"x")
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(2)
            fork = scribe.fork(1)
            for writer, seq in ((scribe, 0), (scribe, 3), (fork, 1)):
                with refused(NotFoundError, "checkpoint.not-found"):
                    _put(backend, writer, seq, write)
            assert _read(backend, scribe, 1) == ()

    def test_an_overtaken_writer_puts_no_writes(self, tmp_path: Path) -> None:
        """The claim counts for writes as it does for saves."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(1)
            Scribe(backend).look().save()
            with refused(ConflictError, "conflict.token"):
                _put(backend, scribe, 1, WriteRow("task", "", 0, "a", b"x"))
            assert _read(backend, scribe, 1) == ()

    def test_a_large_value_of_a_write_is_stored_with_it(self, tmp_path: Path) -> None:
        """One plan stores both."""
        large = blob(b"large")
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(1)
            writes = (WriteRow("task", "", 0, "a", large.digest),)
            backend.execute(PutWrites(scribe.fence, scribe.line_id, 1, writes, (large,)))
            assert backend.execute(ReadBlobs(scribe.fence.run, (large.digest,))) == (large,)
