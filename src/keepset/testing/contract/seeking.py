"""Claims about finding a checkpoint and reading headers, without what the steps changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keepset.backends import Backend
from keepset.errors import NotFoundError
from keepset.plan.reads import HeaderPage, ReadHeaderPage, ReadHeaderSegments, Seek, Sought
from keepset.testing.contract.base import Claims, Scribe, headers, refused, segment, step


def _seek(backend: Backend, scribe: Scribe, checkpoint: str) -> Sought:
    return backend.execute(Seek(scribe.key, scribe.namespace, checkpoint))


def _page(backend: Backend, scribe: Scribe, until: int | None, most: int) -> HeaderPage:
    return backend.execute(ReadHeaderPage(scribe.line_id, until, most, most))


def _packed_twice(backend: Backend) -> Scribe:
    """Write a line with headers of 1 to 3 and of 4 to 6 packed, and 7 and 8 not."""
    scribe = Scribe(backend).save_many(3)
    scribe.pack(headers(1, 3), segment("a", 1, 3))
    scribe.save_many(2)
    scribe.pack(headers(4, 6), segment("a", 4, 6, base=1))
    return scribe.save_many(1)


class SeekingClaims(Claims):
    """What holds for headers."""

    def test_an_unpacked_checkpoint_is_found_whole_by_its_id(self, tmp_path: Path) -> None:
        """With its line; of the run's lines all are told."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(4)
            fork = scribe.fork(2)
            fork.save(step(3)._replace(checkpoint="of the fork"))
            on_line, on_fork = _seek(backend, scribe, "checkpoint-4"), "of the fork"
            assert on_line.step == (scribe.line_id, step(4))
            assert on_line.found.lines == (scribe.line, fork.line)
            found = _seek(backend, scribe, on_fork).step
            assert found == (fork.line_id, step(3)._replace(checkpoint="of the fork"))

    def test_a_checkpoint_of_another_namespace_or_run_is_not_found(self, tmp_path: Path) -> None:
        """An id is one of a namespace."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(1)
            inner = replace(scribe, namespace="inner", line=None, head=0, seq=0).save_many(2)
            Scribe(backend, "other").save_many(3)
            assert _seek(backend, inner, "checkpoint-2").step == (inner.line_id, step(2))
            assert _seek(backend, scribe, "checkpoint-2") == Sought(
                _seek(backend, scribe, "").found, None, ()
            )
            assert _seek(backend, inner, "checkpoint-3").step is None
            with refused(NotFoundError, "run.not-found"):
                _seek(backend, Scribe(backend, "nobody"), "checkpoint-1")

    def test_of_a_packed_checkpoint_it_is_told_where_to_look(self, tmp_path: Path) -> None:
        """On the lines of the namespace that have packed steps, and up to which of them."""
        with self.opened(tmp_path) as backend:
            scribe = _packed_twice(backend)
            scribe.fork(2).save_many(1)
            inner = replace(scribe, namespace="inner", line=None, head=0, seq=0).save_many(2)
            inner.pack(headers(1, 2))
            assert _seek(backend, scribe, "checkpoint-2").packed == ((scribe.line_id, 6),)
            assert _seek(backend, inner, "checkpoint-2").packed == ((inner.line_id, 2),)

    def test_the_segments_of_headers_are_given_that_positions_lie_in(self, tmp_path: Path) -> None:
        """Each once, in order; a position after the last one gives the last one."""
        with self.opened(tmp_path) as backend:
            scribe = _packed_twice(backend)
            first, second = headers(1, 3), headers(4, 6)
            for seqs, segments in (
                ((2,), (first,)),
                ((1, 2, 3), (first,)),
                ((3, 4), (first, second)),
                ((5, 9), (second,)),
                ((0,), ()),
                ((), ()),
            ):
                plan = ReadHeaderSegments(scribe.line_id, seqs)
                assert backend.execute(plan) == segments

    def test_headers_come_page_by_page_from_the_newest_back(self, tmp_path: Path) -> None:
        """Unpacked steps first, and segments where those are too few."""
        with self.opened(tmp_path) as backend:
            scribe = _packed_twice(backend)
            first, second = headers(1, 3), headers(4, 6)
            newest, before = step(8), step(7)
            for until, most, page in (
                (None, 1, HeaderPage((newest,), ())),
                (None, 2, HeaderPage((newest, before), ())),
                (None, 9, HeaderPage((newest, before), (second, first))),
                (7, 9, HeaderPage((before,), (second, first))),
                (6, 1, HeaderPage((), (second,))),
                (3, 9, HeaderPage((), (first,))),
                (0, 9, HeaderPage((), ())),
            ):
                assert _page(backend, scribe, until, most) == page
            packed = backend.execute(ReadHeaderPage(scribe.line_id, None, 0, 1))
            assert packed == HeaderPage((), (second,))
            fork = scribe.fork(2)
            assert _page(backend, fork, None, 9) == HeaderPage((), ())
