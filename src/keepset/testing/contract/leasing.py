"""Claims about leases: who works on a run, and what becomes of those who would as well."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keepset.backends import Backend
from keepset.errors import ConflictError
from keepset.plan.leases import Lease, Leasing
from keepset.plan.leasing import BreakLease, GiveBack, ReadLease, Renew, Take
from keepset.plan.reads import ListRuns, ReadEverything, ReadSizes
from keepset.plan.requests import Fence, Seen
from keepset.plan.rows import RunKey
from keepset.plan.writes import Claim, Copy, Delete
from keepset.testing.contract.base import TENANT, Claims, Scribe, mark, refused, step

MINE, OTHER = Lease("me", 1, 1_000), Lease("other", 1, 2_000)
MINE_TOO = MINE._replace(number=2)


def taking(own: Lease = MINE, gone: Lease | None = None, *, held: bool = False) -> Leasing:
    """Want a lease."""
    return Leasing(own, held=held, gone=gone)


def ending(own: Lease = MINE) -> Leasing:
    """Want to give a lease back."""
    return Leasing(own, takes=False, held=True)


def lease_of(backend: Backend, scribe: Scribe) -> Lease | None:
    """Read a run's lease, in both ways."""
    lease = backend.execute(ReadLease(scribe.key))
    run = backend.execute(scribe.find()).run
    assert run is None or run.lease == lease
    return lease


def take(scribe: Scribe, leasing: Leasing, *, line: int | None = None, head: int = 0) -> Take:
    """Plan to take the lease of a scribe's run."""
    new = b"incarnation-that-was-begun"
    return Take(
        scribe.key, mark(scribe.key), scribe.claim, new, scribe.contract, leasing, 1, line, head
    )


def _folder(folder: Path, name: str) -> Path:
    """Make a folder for one more store."""
    (folder / name).mkdir()
    return folder / name


class LeasingClaims(Claims):
    """What holds of leases."""

    def test_a_lease_comes_and_goes_with_saves(self, tmp_path: Path) -> None:
        """The first one takes it, also of a run that is there; the last one gives it back."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend)
            scribe.save(leasing=taking())
            assert lease_of(backend, scribe) == MINE
            scribe.save()
            assert lease_of(backend, scribe) == MINE
            scribe.save(leasing=ending())
            assert lease_of(backend, scribe) is None
            scribe.save(leasing=taking())
            assert lease_of(backend, scribe) == MINE
            scribe.save(leasing=ending())
            later = Scribe(backend).look()
            later.save(leasing=taking(OTHER))
            assert lease_of(backend, scribe) == OTHER
            (listed,) = backend.execute(ListRuns(TENANT))
            assert listed.run.lease == OTHER

    def test_a_run_that_another_execution_works_on_is_refused(self, tmp_path: Path) -> None:
        """To save, to claim and to take, and nothing is changed by it."""
        for claimed in (False, True):
            with self.opened(_folder(tmp_path, str(claimed))) as backend:
                scribe = Scribe(backend)
                scribe.save(leasing=taking(OTHER))
                late = replace(scribe) if claimed else Scribe(backend).look()
                before = backend.execute(ReadEverything(scribe.key))
                with refused(ConflictError, "run.leased"):
                    late.save(leasing=taking())
                with refused(ConflictError, "run.leased"):
                    backend.execute(take(late, taking()))
                seen = Seen(scribe.fence.incarnation, 0)
                with refused(ConflictError, "run.leased"):
                    backend.execute(Claim(late.key, mark(late.key), seen, 1, taking()))
                assert backend.execute(ReadEverything(scribe.key)) == before
                scribe.save()

    def test_the_lease_of_an_execution_that_has_ended_is_as_good_as_none(
        self, tmp_path: Path
    ) -> None:
        """If it is the one that was there when the other one was found to have ended."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend)
            scribe.save(leasing=taking(OTHER))
            later = Scribe(backend).look()
            backend.execute(Renew(OTHER.by, 9_000))
            with refused(ConflictError, "run.leased"):
                later.save(leasing=taking(gone=OTHER))
            renewed = OTHER._replace(until=9_000)
            later.save(leasing=taking(gone=renewed))
            assert lease_of(backend, scribe) == MINE
            with refused(ConflictError, "conflict.token"):
                scribe.save()
            with refused(ConflictError, "run.lease-lost"):
                Scribe(backend).look().save(leasing=taking(renewed, held=True))

    def test_who_works_without_a_lease_is_not_held_up_by_one(self, tmp_path: Path) -> None:
        """And leaves it to whoever has it, who goes on by claiming the run again."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend)
            scribe.save(leasing=taking())
            Scribe(backend).look().save()
            assert lease_of(backend, scribe) == MINE
            with refused(ConflictError, "conflict.token"):
                scribe.save()
            scribe.look().save(leasing=taking(held=True))
            assert lease_of(backend, scribe) == MINE

    def test_a_lease_that_is_taken_before_anything_is_saved_leaves_nothing_to_be_seen(
        self, tmp_path: Path
    ) -> None:
        """And nothing at all, once it is given back."""
        with self.opened(tmp_path) as backend:
            scribe, key = Scribe(backend), Scribe(backend).key
            before = backend.execute(ReadSizes(TENANT)).runs
            fence = backend.execute(take(scribe, taking()))
            assert backend.execute(ReadLease(key)) == MINE
            assert backend.execute(scribe.find()).run is None
            assert backend.execute(ListRuns(TENANT)) == ()
            assert backend.execute(ReadSizes(TENANT)).runs == before
            with refused(ConflictError, "run.leased"):
                Scribe(backend).look().save(leasing=taking(OTHER))
            backend.execute(GiveBack(MINE.by, (MINE.number,)))
            assert backend.execute(ReadLease(key)) is None
            assert not backend.execute(Delete(key, mark(key), 1))
            with refused(ConflictError, "conflict.deleted"):
                replace(scribe, claim=fence).save()
            scribe.look().save()

    def test_a_run_that_was_begun_is_saved_to_by_who_has_begun_it(self, tmp_path: Path) -> None:
        """Whether it knows its claim, or has looked again and seen nothing."""
        for knows_it in (False, True):
            with self.opened(_folder(tmp_path, str(knows_it))) as backend:
                scribe = Scribe(backend)
                fence = backend.execute(take(scribe, taking()))
                if knows_it:
                    scribe.claim = fence
                scribe.save(leasing=None if knows_it else taking(held=True))
                scribe.save()
                assert lease_of(backend, scribe) == MINE
                assert scribe.fence.incarnation == fence.incarnation

    def test_a_run_that_was_begun_is_taken_over_by_who_works_without_a_lease(
        self, tmp_path: Path
    ) -> None:
        """As if it were not there."""
        with self.opened(tmp_path) as backend:
            first = replace(Scribe(backend), claim=backend.execute(take(Scribe(backend), taking())))
            second = Scribe(backend)
            second.save()
            with refused(ConflictError, "conflict.head"):
                first.save()
            second.save()

    def test_what_was_begun_and_deleted_meanwhile_does_not_come(self, tmp_path: Path) -> None:
        """The deletion counts, though there was nothing to delete yet."""
        for knows_it in (False, True):
            with self.opened(_folder(tmp_path, str(knows_it))) as backend:
                scribe = Scribe(backend)
                fence = backend.execute(take(scribe, taking()))
                assert backend.execute(Delete(scribe.key, mark(scribe.key), 1))
                late = replace(scribe, claim=fence) if knows_it else Scribe(backend).look()
                with refused(ConflictError, "conflict.deleted"):
                    late.save(leasing=taking(held=True))
                assert backend.execute(scribe.find()).run is None

    def test_taking_a_lease_claims_the_run(self, tmp_path: Path) -> None:
        """Who had it is refused from then on; who has the claim keeps it."""
        with self.opened(tmp_path) as backend:
            old = Scribe(backend).save_many(2)
            new = Scribe(backend).look()
            new.claim = backend.execute(take(new, taking()))
            with refused(ConflictError, "conflict.token"):
                old.save()
            with refused(ConflictError, "conflict.token"):
                backend.execute(take(old, taking(MINE_TOO)))
            assert backend.execute(take(new, taking())) == new.claim
            new.save()

    def test_who_takes_a_lease_knows_the_newest_checkpoint(self, tmp_path: Path) -> None:
        """Where it says which one it knows, another one is a conflict."""
        for claimed in (False, True):
            with self.opened(_folder(tmp_path, str(claimed))) as backend:
                scribe = Scribe(backend).save_many(2)
                line = scribe.line_id
                late = scribe if claimed else Scribe(backend).look()
                with refused(ConflictError, "conflict.head"):
                    backend.execute(take(late, taking(), line=line, head=1))
                assert lease_of(backend, scribe) is None
                backend.execute(take(late, taking(), line=line, head=2))
                assert lease_of(backend, scribe) == MINE

    def test_all_leases_of_a_holder_are_renewed_at_once(self, tmp_path: Path) -> None:
        """And those are told that are still there."""
        with self.opened(tmp_path) as backend:
            for number, lease in enumerate((MINE, MINE_TOO, OTHER)):
                Scribe(backend, f"run-{number}").save(leasing=taking(lease))
            assert backend.execute(Renew("me", 5_000)) == {1, 2}
            assert lease_of(backend, Scribe(backend, "run-1")) == Lease("me", 2, 5_000)
            assert lease_of(backend, Scribe(backend, "run-2")) == OTHER
            backend.execute(GiveBack("me", (1, 7)))
            assert backend.execute(Renew("me", 6_000)) == {2}
            backend.execute(GiveBack("me", (2,)))
            assert backend.execute(Renew("me", 6_000)) == frozenset()

    def test_a_lease_can_be_broken(self, tmp_path: Path) -> None:
        """Who had it is refused from then on; where there is none, nothing happens."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend)
            assert not backend.execute(BreakLease(scribe.key))
            scribe.save(leasing=taking())
            assert backend.execute(BreakLease(scribe.key))
            assert lease_of(backend, scribe) is None
            with refused(ConflictError, "conflict.token"):
                scribe.save()
            with refused(ConflictError, "run.lease-lost"):
                scribe.look().save(leasing=taking(held=True))
            assert not backend.execute(BreakLease(scribe.key))
            scribe.look().save(leasing=taking(OTHER))

    def test_a_copy_has_no_lease(self, tmp_path: Path) -> None:
        """Whatever the run has that it was copied of; and takes a name that was only begun."""
        with self.opened(tmp_path) as backend:
            scribe, copy = Scribe(backend), Scribe(backend, "copy")
            scribe.save(leasing=taking())
            backend.execute(take(copy, taking(OTHER)))
            backend.execute(Copy(scribe.key, RunKey(TENANT, "copy"), b"copied", 1))
            assert lease_of(backend, copy) is None
            assert lease_of(backend, scribe) == MINE

    def test_a_save_that_is_refused_takes_no_lease(self, tmp_path: Path) -> None:
        """Nothing of it is done."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(2)
            late = Scribe(backend).look()
            late.head = 1
            with refused(ConflictError, "conflict.head"):
                late.save(leasing=taking())
            assert lease_of(backend, scribe) is None
            assert isinstance(scribe.claim, Fence)
            scribe.save(step(3, status="done"))
