"""Claims about forks: new lines that share the past of another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keepset.errors import ConflictError, NotFoundError
from keepset.plan.writes import Begin, Fork
from keepset.testing.contract.base import Claims, Scribe, headers, refused, segment, step


class ForkingClaims(Claims):
    """What holds for lines and their past."""

    def test_a_fresh_fork_loads_the_checkpoint_that_it_was_forked_from(
        self, tmp_path: Path
    ) -> None:
        """The line is the fork's own, so that a writer goes on there; its head is 0."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(5)
            fork = scribe.fork(3)
            loaded = scribe.load()
            assert fork.line is not None
            assert (fork.line.branch, fork.line.parent, fork.line.parent_seq, fork.line.depth) == (
                1,
                scribe.line_id,
                3,
                1,
            )
            assert (loaded.line, loaded.seq) == (fork.line, 3)
            assert loaded.header == step(3)._replace(changes=b"")
            assert [(past.line, past.steps) for past in loaded.pasts] == [
                (fork.line, ()),
                (scribe.line, (step(1), step(2), step(3))),
            ]

    def test_a_fork_goes_its_own_way(self, tmp_path: Path) -> None:
        """Both lines go on from the same past, and neither sees the other's steps."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(3)
            fork = scribe.fork(2)
            fork.save(step(3, changes=b"the other way"))
            scribe.save()
            mine, yours = scribe.load(branch=0), scribe.load(branch=1)
            assert [row.seq for row in mine.pasts[0].steps] == [1, 2, 3, 4]
            assert [(past.line.branch, past.steps) for past in yours.pasts] == [
                (1, (step(3, changes=b"the other way"),)),
                (0, (step(1), step(2))),
            ]

    def test_a_position_before_the_fork_is_found_in_the_past(self, tmp_path: Path) -> None:
        """A line's past is read through the line, at any depth."""
        with self.opened(tmp_path) as backend:
            root = Scribe(backend).save_many(3)
            fork = root.fork(2).save_many(2)
            inner = fork.fork(3).save_many(1)
            loaded = root.load(branch=2, seq=1)
            assert (loaded.line, loaded.seq) == (inner.line, 1)
            assert loaded.header == step(1)._replace(changes=b"")
            assert [past.steps for past in loaded.pasts] == [(), (), (step(1),)]

    def test_a_fork_of_a_fork_reads_through_every_line(self, tmp_path: Path) -> None:
        """Each line of the past gives what lies before the next fork."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(2)
            for _ in range(4):
                scribe = scribe.fork(scribe.seq).save_many(2)
            loaded = scribe.load()
            assert [past.line.branch for past in loaded.pasts] == [4, 3, 2, 1, 0]
            seqs = [[row.seq for row in past.steps] for past in loaded.pasts]
            assert seqs == [[9, 10], [7, 8], [5, 6], [3, 4], [1, 2]]

    def test_a_fork_that_is_too_deep_stands_on_its_own(self, tmp_path: Path) -> None:
        """Its depth is 0, and once it has a step of its own nothing before it is read."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(1)
            for _ in range(2):
                scribe = scribe.fork(scribe.seq, deepest=2).save_many(1)
            deep = scribe.fork(scribe.seq, deepest=2)
            assert deep.line is not None
            assert deep.line.depth == 0
            fresh = deep.load()
            assert [past.line.branch for past in fresh.pasts] == [3, 2, 1, 0]
            deep.save()
            assert [past.line.branch for past in deep.load().pasts] == [3]
            next_one = deep.fork(deep.seq)
            assert next_one.line is not None
            assert next_one.line.depth == 1

    def test_a_fork_point_in_the_past_belongs_to_the_line_that_holds_it(
        self, tmp_path: Path
    ) -> None:
        """Forking an old checkpoint through a fork gives a line of the root."""
        with self.opened(tmp_path) as backend:
            root = Scribe(backend).save_many(4)
            fork = root.fork(3).save_many(2)
            again = fork.fork(2)
            assert again.line is not None
            assert (again.line.parent, again.line.depth) == (root.line_id, 1)

    def test_a_packed_checkpoint_can_be_forked(self, tmp_path: Path) -> None:
        """The parent may go on and pack; the fork reads as much as belongs to its past."""
        with self.opened(tmp_path) as backend:
            root = Scribe(backend).save_many(4)
            fork = root.fork(3)
            root.pack(headers(1, 4), segment("a", 1, 4))
            root.save_many(1)
            root.pack(headers(5, 6), segment("a", 5, 6, base=1))
            late = root.fork(2)
            assert late.line is not None
            fork.save()
            past = root.load(branch=1).pasts[1]
            assert (past.steps, past.segments) == ((), (segment("a", 1, 4),))
            assert root.load(branch=2).headers == headers(1, 4)

    def test_a_fork_needs_a_checkpoint_and_the_newest_claim(self, tmp_path: Path) -> None:
        """No line is begun at a place that is not there, or by a writer that was overtaken."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(2)
            for seq in (0, 3):
                with refused(NotFoundError, "checkpoint.not-found"):
                    scribe.fork(seq)
            other = Scribe(backend, "other").save_many(2)
            with refused(ConflictError, "conflict.head"):
                backend.execute(Fork(scribe.fence, other.line_id, 1))
            Scribe(backend).look().save()
            with refused(ConflictError, "conflict.token"):
                scribe.fork(1)
            assert len(scribe.load().found.lines) == 1

    def test_a_save_begins_a_fork_of_its_own(self, tmp_path: Path) -> None:
        """The line and its first step land together, and the parent goes on as before."""
        with self.opened(tmp_path) as backend:
            root = Scribe(backend).save_many(3)
            begin = Begin(root.line_id, 2, 1)
            saved = replace(root, line=None, head=0, seq=2).save(begin=begin)
            assert saved.line.branch == 1
            assert (saved.line.parent, saved.line.parent_seq, saved.line.depth) == (
                root.line_id,
                2,
                1,
            )
            root.save()
            assert [row.seq for row in root.load(branch=0).pasts[0].steps] == [1, 2, 3, 4]
            assert [past.steps for past in root.load(branch=1).pasts] == [
                (step(3),),
                (step(1), step(2)),
            ]

    def test_a_save_begins_a_second_root_line(self, tmp_path: Path) -> None:
        """Hosts begin anew beside what is there; the new line has no past."""
        with self.opened(tmp_path) as backend:
            root = Scribe(backend).save_many(2)
            saved = replace(root, line=None, head=0, seq=0).save(begin=Begin())
            assert (saved.line.branch, saved.line.parent, saved.line.parent_seq) == (1, None, 0)
            assert [past.steps for past in root.load(branch=1).pasts] == [(step(1),)]

    def test_a_save_begins_no_fork_where_there_is_no_fork_point(self, tmp_path: Path) -> None:
        """Neither at a step that is not there nor from a line of another namespace."""
        with self.opened(tmp_path) as backend:
            root = Scribe(backend).save_many(2)
            fresh = replace(root, line=None, head=0, seq=9)
            with refused(NotFoundError, "checkpoint.not-found"):
                fresh.save(begin=Begin(root.line_id, 9, 1))
            with refused(NotFoundError, "checkpoint.not-found"):
                replace(fresh, namespace="other", seq=1).save(begin=Begin(root.line_id, 1, 1))
            with refused(ConflictError, "conflict.head"):
                fresh.save(begin=Begin(root.line_id + 1, 1, 1))
            assert len(backend.execute(root.find()).lines) == 1
