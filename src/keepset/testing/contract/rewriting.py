"""Claims about rewriting a run with less."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keepset.backends import Backend
from keepset.errors import ConflictError, IntegrityError, UsageError
from keepset.plan.reads import ListRuns, ReadBlobs, ReadEverything, ReadWrites
from keepset.plan.requests import Seen
from keepset.plan.rows import WriteRow
from keepset.plan.writes import Claim, PutWrites, Rewrite, Rewritten
from keepset.testing.contract.base import (
    TENANT,
    Claims,
    Scribe,
    blob,
    headers,
    mark,
    refused,
    segment,
    step,
)

KEPT, DROPPED = blob(b"kept"), blob(b"dropped")


def _history(backend: Backend) -> tuple[Scribe, Scribe]:
    """Write a run with a packed past, a fork, large values, and writes at three checkpoints."""
    root = Scribe(backend).save_many(4)
    root.pack(headers(1, 4), segment("a", 1, 4))
    root.save(blobs=(KEPT, DROPPED))
    fork = root.fork(3).save_many(2)
    for seq in (2, 5, 6):
        write = WriteRow("task", "", 0, "a", b"%d" % seq, b"digest-%d" % seq)
        backend.execute(PutWrites(root.fence, root.line_id, seq, (write,)))
    return root, fork


def _plan(root: Scribe, *lines: Rewritten, fork_head: int = 5) -> Rewrite:
    heads = ((root.line_id, 6), (root.line_id + 1, fork_head))
    seen = Seen(root.fence.incarnation, 0)
    written = tuple(b"digest-%d" % seq for seq in (2, 5, 6))
    return Rewrite(root.key, mark(root.key), seen, heads, lines, (KEPT.digest,), written=written)


def _shorter(root: Scribe) -> Rewritten:
    """The root line with checkpoints 2, 5 and 6, of which 2 is packed."""
    assert root.line is not None
    steps = (step(5, changes=b"whole"), step(6))
    return Rewritten(root.line, (2, 5, 6), steps, (headers(2, 2), segment("a", 2, 2)))


class RewritingClaims(Claims):
    """What holds for a rewrite."""

    def test_a_rewrite_replaces_what_a_line_holds(self, tmp_path: Path) -> None:
        """Steps, segments and counts are what was given; the line keeps its number."""
        with self.opened(tmp_path) as backend:
            root, fork = _history(backend)
            assert fork.line is not None
            alone = replace(fork.line, parent=None, depth=0)
            other = Rewritten(alone, (5,), (step(5, changes=b"all of it"),), ())
            backend.execute(_plan(root, _shorter(root), other))
            first, second = backend.execute(ReadEverything(root.key)).lines
            assert (first.line, first.steps) == (root.line, (step(5, changes=b"whole"), step(6)))
            assert first.segments == (headers(2, 2), segment("a", 2, 2))
            assert (second.line, second.steps) == (alone, other.steps)
            assert backend.execute(ListRuns(TENANT))[0].checkpoints == 4

    def test_a_rewrite_lets_go_of_lines_writes_and_large_values(self, tmp_path: Path) -> None:
        """What is not named is gone; the writes of checkpoints that stay are there."""
        with self.opened(tmp_path) as backend:
            root, fork = _history(backend)
            backend.execute(_plan(root, replace(_shorter(root), seqs=(5, 6), segments=())))
            stored = backend.execute(ReadEverything(root.key))
            assert [past.line for past in stored.lines] == [root.line]
            assert [(seq, row.value) for _, seq, row in stored.writes] == [(5, b"5"), (6, b"6")]
            assert backend.execute(ReadWrites(fork.line_id, 4)) == ()
            assert stored.blobs == (KEPT.digest,)
            with refused(IntegrityError, "blob.missing"):
                backend.execute(ReadBlobs(root.fence.run, (DROPPED.digest,)))

    def test_a_rewrite_leaves_the_writer_its_claim(self, tmp_path: Path) -> None:
        """What it remembers of the rows no longer holds; it loads them again and goes on."""
        with self.opened(tmp_path) as backend:
            root, _ = _history(backend)
            idle = Scribe(backend).look()
            backend.execute(_plan(root, _shorter(root)))
            for writer in (root, idle):
                with refused(ConflictError, "conflict.layout"):
                    writer.save()
            run = backend.execute(ReadEverything(root.key)).run
            assert (run.token, run.layout) == (root.fence.token, 1)
            root.claim = replace(root.fence, layout=run.layout)
            root.save()
            assert root.head == 7

    def test_a_writer_that_knows_the_old_rows_forks_claims_and_puts_nothing(
        self, tmp_path: Path
    ) -> None:
        """What it takes for a checkpoint may have been pruned from the middle of a segment."""
        write = WriteRow("task", "", 0, "a", b"late")
        with self.opened(tmp_path) as backend:
            root, _ = _history(backend)
            idle = Scribe(backend).look()
            assert isinstance(idle.claim, Seen)
            spread = replace(_shorter(root), seqs=(1, 4, 5, 6), segments=(headers(1, 4),))
            backend.execute(_plan(root, spread))
            before = backend.execute(ReadEverything(root.key))
            with refused(ConflictError, "conflict.layout"):
                backend.execute(PutWrites(root.fence, root.line_id, 3, (write,)))
            with refused(ConflictError, "conflict.layout"):
                root.fork(3)
            with refused(ConflictError, "conflict.layout"):
                backend.execute(Claim(idle.key, mark(idle.key), idle.claim, epoch=9))
            assert backend.execute(ReadEverything(root.key)) == before
            root.claim = replace(root.fence, layout=1)
            backend.execute(PutWrites(root.fence, root.line_id, 4, (write,)))
            root.fork(4)

    def test_a_rewrite_adds_large_values_and_keeps_those_that_stay(self, tmp_path: Path) -> None:
        """One that is added is there; one that was there already is left as it is."""
        added, other = blob(b"added"), replace(KEPT, data=b"another frame of the same value")
        with self.opened(tmp_path) as backend:
            root, _ = _history(backend)
            stay = (KEPT.digest, added.digest)
            plan = replace(_plan(root, _shorter(root)), stay=stay, blobs=(added, other))
            backend.execute(plan)
            assert backend.execute(ReadBlobs(root.fence.run, stay)) == (KEPT, added)
            with refused(IntegrityError, "blob.missing"):
                backend.execute(ReadBlobs(root.fence.run, (DROPPED.digest,)))

    def test_a_rewrite_of_what_has_changed_is_refused(self, tmp_path: Path) -> None:
        """A newer checkpoint, a new line, or another incarnation: nothing is touched."""
        with self.opened(tmp_path) as backend:
            root, fork = _history(backend)
            plan = _plan(root, _shorter(root))
            fork.save()
            before = backend.execute(ReadEverything(root.key))
            with refused(ConflictError, "conflict.head"):
                backend.execute(plan)
            root.fork(5)
            with refused(ConflictError, "conflict.head"):
                backend.execute(_plan(root, _shorter(root), fork_head=6))
            with refused(ConflictError, "conflict.deleted"):
                backend.execute(replace(plan, seen=Seen(b"another", 0)))
            with refused(ConflictError, "conflict.deleted"):
                backend.execute(replace(plan, key=Scribe(backend, "none").key))
            after = backend.execute(ReadEverything(root.key))
            assert after.lines[:2] == before.lines

    def test_a_rewrite_keeps_the_newest_checkpoint_unpacked(self, tmp_path: Path) -> None:
        """A plan that would pack it, or that names a line of another run, is refused."""
        with self.opened(tmp_path) as backend:
            root, _ = _history(backend)
            assert root.line is not None
            packed = Rewritten(root.line, (6,), (), (headers(6, 6),))
            stray = Rewritten(replace(root.line, id=999), (1,), (step(1),), ())
            for line in (packed, stray):
                with refused(UsageError, "plan.rewrite"):
                    backend.execute(_plan(root, line))

    def test_a_rewrite_that_does_not_know_a_pending_write_is_refused(self, tmp_path: Path) -> None:
        """What came in since the run was read must not lose what it refers to."""
        with self.opened(tmp_path) as backend:
            root, _ = _history(backend)
            plan = _plan(root, _shorter(root))
            late = WriteRow("late", "", 0, "a", b"late", b"digest of it")
            backend.execute(PutWrites(root.fence, root.line_id, 6, (late,)))
            before = backend.execute(ReadEverything(root.key))
            with refused(ConflictError, "conflict.head"):
                backend.execute(plan)
            assert backend.execute(ReadEverything(root.key)) == before
