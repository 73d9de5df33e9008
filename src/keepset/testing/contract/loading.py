"""Claims about loading what a state is rebuilt from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keepset.errors import IntegrityError, NotFoundError
from keepset.plan.reads import FindRun, ReadBlobs, ReadEverything
from keepset.plan.rows import RunKey
from keepset.testing.contract.base import Claims, Scribe, blob, headers, refused, segment, step


class LoadingClaims(Claims):
    """What holds for reads of one run."""

    def test_where_there_is_no_run_nothing_is_found(self, tmp_path: Path) -> None:
        """The newest of nothing is nothing; a position that is asked for is an error."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend)
            loaded = scribe.load()
            assert (loaded.found.run, loaded.line, loaded.seq, loaded.pasts) == (None, None, 0, ())
            assert backend.execute(FindRun(RunKey("t", "r"), b"mark")).deletions == 0
            with refused(NotFoundError, "run.not-found"):
                scribe.load(seq=1)
            with refused(NotFoundError, "run.not-found"):
                backend.execute(ReadEverything(scribe.key))

    def test_the_newest_checkpoint_is_loaded_with_all_that_it_stands_on(
        self, tmp_path: Path
    ) -> None:
        """The header comes without changes, the steps with them."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(3)
            loaded = scribe.load()
            assert loaded.seq == 3
            assert loaded.line == scribe.line
            assert loaded.header == step(3)._replace(changes=b"")
            assert loaded.headers is None
            assert loaded.pasts[0].steps == (step(1), step(2), step(3))
            assert loaded.found.lines == (scribe.line,)

    def test_an_earlier_checkpoint_is_loaded_without_what_came_later(self, tmp_path: Path) -> None:
        """A position cuts steps and segments alike."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(4)
            scribe.pack(headers(1, 4), segment("a", 1, 4))
            scribe.save_many(3)
            loaded = scribe.load(seq=6)
            assert loaded.pasts[0].steps == (step(5), step(6))
            assert loaded.pasts[0].segments == (segment("a", 1, 4),)
            assert loaded.header == step(6)._replace(changes=b"")

    def test_a_checkpoint_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        """Neither a seq beyond the line, nor one in a gap, nor another branch is guessed."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend)
            for seq in (1, 2, 5):
                scribe.save(step(seq))
            for seq in (3, 6):
                with refused(NotFoundError, "checkpoint.not-found"):
                    scribe.load(seq=seq)
            with refused(NotFoundError, "checkpoint.not-found"):
                scribe.load(branch=1)
            with refused(NotFoundError, "checkpoint.not-found"):
                replace(scribe, namespace="elsewhere").load(seq=1)

    def test_the_header_of_a_packed_checkpoint_comes_in_its_segment(self, tmp_path: Path) -> None:
        """A backend does not look into segments; it gives the one that holds the header."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(3)
            scribe.pack(headers(1, 3), segment("a", 1, 3))
            scribe.save_many(2)
            scribe.pack(headers(4, 6), segment("a", 4, 6, base=1))
            loaded = scribe.load(seq=2)
            assert loaded.header is None
            assert loaded.headers == headers(1, 3)
            assert loaded.pasts[0].steps == ()

    def test_only_the_segments_that_a_chain_needs_are_loaded(self, tmp_path: Path) -> None:
        """Each field's chain goes back to its own whole value and no further."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend)
            for first in (1, 4, 7, 10):
                scribe.save_many(3 if first == 1 else 2)
                wide = segment("wide", first, first + 2, base=2)
                fresh = segment("fresh", first, first + 2)
                late = segment("late", first, first + 2, base=max(first - 2, 1))
                rare = (segment("rare", 2, 2),) if first == 1 else ()
                scribe.pack(headers(first, first + 2), wide, fresh, late, *rare)
            got: dict[str, list[int]] = {}
            for row in scribe.load().pasts[0].segments:
                got.setdefault(row.field, []).append(row.first)
            assert got == {"wide": [1, 4, 7, 10], "fresh": [10], "late": [7, 10], "rare": [2]}
            early = [(row.field, row.first) for row in scribe.load(seq=5).pasts[0].segments]
            assert early == [
                ("fresh", 4),
                ("late", 1),
                ("late", 4),
                ("rare", 2),
                ("wide", 1),
                ("wide", 4),
            ]

    def test_a_large_value_is_stored_once_and_found_by_digest(self, tmp_path: Path) -> None:
        """They come in the order asked for; one that is missing is damage."""
        with self.opened(tmp_path) as backend:
            one, two = blob(b"one" * 5000), blob(b"two")
            scribe = Scribe(backend)
            scribe.save(blobs=(one, two))
            scribe.save(blobs=(one,))
            run = scribe.fence.run
            read = backend.execute(ReadBlobs(run, (two.digest, one.digest)))
            assert read == (two, one)
            stored = backend.execute(ReadEverything(scribe.key)).blobs
            assert stored == tuple(sorted((one.digest, two.digest)))
            with refused(IntegrityError, "blob.missing"):
                backend.execute(ReadBlobs(run, (blob(b"three").digest,)))
            other = Scribe(backend, "other").save_many(1)
            with refused(IntegrityError, "blob.missing"):
                backend.execute(ReadBlobs(other.fence.run, (one.digest,)))
