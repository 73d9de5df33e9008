"""Claims about saving a checkpoint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keepset.backends import Backend
from keepset.errors import ConflictError, UsageError
from keepset.plan.reads import Everything, ReadEverything
from keepset.plan.requests import Fence, Seen
from keepset.plan.rows import ContractRow
from keepset.plan.writes import Claim
from keepset.testing.contract.base import (
    CONTRACT,
    Claims,
    Scribe,
    headers,
    mark,
    refused,
    segment,
    step,
)


def _all(backend: Backend, scribe: Scribe) -> Everything:
    return backend.execute(ReadEverything(scribe.key))


class SavingClaims(Claims):
    """What holds for saves."""

    def test_a_first_save_creates_the_run_and_its_root_line(self, tmp_path: Path) -> None:
        """Run, root line and step are there, with every column as it was given."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend)
            saved = scribe.save()
            stored = _all(backend, scribe)
            assert stored.run.key == scribe.key
            assert stored.run.contract == CONTRACT
            assert (stored.run.incarnation, stored.run.token) == (b"incarnation-of-run", 1)
            assert saved.fence == Fence(stored.run.id, b"incarnation-of-run", 1)
            assert stored.lines[0].line == saved.line
            assert (saved.line.branch, saved.line.parent, saved.line.depth) == (0, None, 0)
            assert stored.lines[0].steps == (step(1),)
            assert stored.run.created == step(1).at

    def test_saves_that_follow_are_kept_in_order(self, tmp_path: Path) -> None:
        """Gaps between seqs are kept too."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend)
            for seq in (1, 2, 7, 8):
                scribe.save(step(seq))
            assert _all(backend, scribe).lines[0].steps == tuple(map(step, (1, 2, 7, 8)))

    def test_a_run_that_appeared_meanwhile_refuses_a_first_save(self, tmp_path: Path) -> None:
        """Who saw no run does not write into the one that another has begun."""
        with self.opened(tmp_path) as backend:
            late = Scribe(backend)
            Scribe(backend).save()
            with refused(ConflictError, "conflict.head"):
                late.save()

    def test_a_second_writer_claims_the_run_and_the_first_is_refused(self, tmp_path: Path) -> None:
        """The token rises with the claim, and the old one writes nothing more."""
        with self.opened(tmp_path) as backend:
            first = Scribe(backend).save_many(2)
            second = Scribe(backend).look()
            assert second.save().fence.token == 2
            before = _all(backend, first)
            with refused(ConflictError, "conflict.token"):
                first.save(head=3, row=step(4))
            assert _all(backend, first) == before

    def test_a_claim_without_a_save_fences_the_old_writer_too(self, tmp_path: Path) -> None:
        """`Claim` gives a token that a save then presents."""
        with self.opened(tmp_path) as backend:
            first = Scribe(backend).save_many(1)
            second = Scribe(backend).look()
            assert isinstance(second.claim, Seen)
            plan = Claim(second.key, mark(second.key), second.claim, epoch=1)
            second.claim = backend.execute(plan)
            with refused(ConflictError, "conflict.token"):
                first.save()
            assert second.save().fence.token == 2

    def test_a_save_that_does_not_know_the_newest_checkpoint_is_refused(
        self, tmp_path: Path
    ) -> None:
        """Neither an older head nor one that was never there is accepted."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(3)
            for head in (0, 2, 4):
                with refused(ConflictError, "conflict.head"):
                    backend.execute(replace(scribe.plan(), head=head, step=step(9)))
            assert len(_all(backend, scribe).lines[0].steps) == 3

    def test_a_lower_epoch_is_refused_and_a_higher_one_takes_over(self, tmp_path: Path) -> None:
        """The run carries the contract of its last writer."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(1)
            newer = ContractRow("ticket", 2, "0b", '{"fields":{"a":1}}')
            scribe.save(contract=newer)
            assert _all(backend, scribe).run.contract == newer
            with refused(ConflictError, "conflict.epoch"):
                scribe.save(contract=CONTRACT)
            seen = Seen(b"incarnation-of-run", 0)
            with refused(ConflictError, "conflict.epoch"):
                backend.execute(Claim(scribe.key, mark(scribe.key), seen, epoch=1))
            assert _all(backend, scribe).run.token == 1

    def test_another_shape_of_the_same_epoch_is_recorded(self, tmp_path: Path) -> None:
        """An unversioned contract changes without a new epoch; the newest shape is what counts."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(1)
            other = replace(CONTRACT, shape="0c", structure='{"fields":{"b":1}}')
            scribe.save(contract=other)
            assert _all(backend, scribe).run.contract == other
            scribe.save(contract=CONTRACT)
            assert _all(backend, scribe).run.contract == CONTRACT

    def test_a_checkpoint_is_not_stored_twice(self, tmp_path: Path) -> None:
        """The same id again is a save that was made twice."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(2)
            again = step(3)._replace(checkpoint="checkpoint-1")
            with refused(ConflictError, "conflict.duplicate"):
                scribe.save(again)

    def test_seqs_only_rise(self, tmp_path: Path) -> None:
        """A step cannot be put before or onto another."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend)
            scribe.save(step(5))
            for seq in (4, 5):
                with refused(UsageError, "plan.seq"):
                    scribe.save(step(seq)._replace(checkpoint="new"))

    def test_a_line_of_another_run_is_refused(self, tmp_path: Path) -> None:
        """A line's number alone opens nothing."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(1)
            other = Scribe(backend, "other").save_many(1)
            with refused(ConflictError, "conflict.head"):
                scribe.save(line=other.line_id)
            assert len(_all(backend, other).lines[0].steps) == 1

    def test_each_namespace_has_a_root_line_of_its_own(self, tmp_path: Path) -> None:
        """A second namespace is begun under the same claim."""
        with self.opened(tmp_path) as backend:
            outer = Scribe(backend).save_many(2)
            inner = replace(outer, namespace="sub|graph", line=None, head=0, seq=0)
            inner.save_many(3)
            outer.save()
            lines = _all(backend, outer).lines
            assert [(past.line.namespace, len(past.steps)) for past in lines] == [
                ("", 3),
                ("sub|graph", 3),
            ]

    def test_tenants_with_one_run_id_do_not_meet(self, tmp_path: Path) -> None:
        """A run is named by both parts of its key."""
        with self.opened(tmp_path) as backend:
            mine = Scribe(backend, tenant="mine").save_many(1)
            yours = Scribe(backend, tenant="yours").save_many(2)
            assert len(_all(backend, mine).lines[0].steps) == 1
            assert len(_all(backend, yours).lines[0].steps) == 2

    def test_a_save_packs_the_steps_before_it(self, tmp_path: Path) -> None:
        """What the segments hold is taken out; the new step stays unpacked."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(4)
            scribe.pack(headers(1, 4), segment("a", 1, 4), segment("b", 2, 3))
            stored = _all(backend, scribe).lines[0]
            assert stored.steps == (step(5),)
            assert stored.segments == (headers(1, 4), segment("a", 1, 4), segment("b", 2, 3))
            scribe.save()
            assert _all(backend, scribe).lines[0].steps == (step(5), step(6))

    def test_any_valid_text_names_a_run_and_other_text_is_refused(self, tmp_path: Path) -> None:
        """NUL and every plane come back as they are; a lone surrogate is no text."""
        with self.opened(tmp_path) as backend:
            for run_id in ("nul\0inside", "\U0001f600 ünï", " '\"%_", "x" * 5000):
                scribe = Scribe(backend, run_id).save_many(1)
                assert _all(backend, scribe).run.key.run_id == run_id
            odd = Scribe(backend)
            with refused(UsageError, "store.text"):
                odd.save(step(1)._replace(name="\ud800"))
            assert backend.execute(odd.find()).run is None
