"""Claims about threads, tasks, event loops, and opening again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from keepset.backends import Backend
from keepset.backends.outcome import Outcome
from keepset.errors import ConflictError, StoreError
from keepset.plan.reads import ListRuns, ReadEverything, ReadSizes
from keepset.testing.contract.base import TENANT, Claims, Scribe, refused, step

THREADS = 8


def _together(work: Callable[[int], object]) -> list[object]:
    """Do work in eight threads at once, and give what came of each."""
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS)))


def _seqs(backend: Backend, scribe: Scribe) -> list[int]:
    return [row.seq for row in backend.execute(ReadEverything(scribe.key)).lines[0].steps]


class ConcurrencyClaims(Claims):
    """What holds when many use one store."""

    def test_threads_that_save_to_their_own_runs_lose_nothing(self, tmp_path: Path) -> None:
        """Every save that returned is there, in order."""
        with self.opened(tmp_path) as backend:
            scribes = [Scribe(backend, f"run-{number}") for number in range(THREADS)]
            _together(lambda number: scribes[number].save_many(25))
            assert [_seqs(backend, scribe) for scribe in scribes] == [[*range(1, 26)]] * THREADS

    def test_of_threads_that_race_for_one_run_one_wins_each_checkpoint(
        self, tmp_path: Path
    ) -> None:
        """The rest get a conflict, and no thread takes another's save down with its own."""
        with self.opened(tmp_path) as backend:
            Scribe(backend).save_many(1)
            innocent = Scribe(backend, "innocent")

            def race(number: int) -> int:
                if number == 0:
                    innocent.save_many(40)
                    return 0
                won = 0
                for _ in range(20):
                    try:
                        Scribe(backend).look().save()
                    except ConflictError:
                        continue
                    won += 1
                return won

            won = sum(count for count in _together(race) if isinstance(count, int))
            assert _seqs(backend, Scribe(backend)) == [*range(1, won + 2)]
            assert _seqs(backend, innocent) == [*range(1, 41)]

    def test_tasks_save_and_load_without_waiting_for_each_other(self, tmp_path: Path) -> None:
        """One event loop, many runs."""
        with self.opened(tmp_path) as backend:
            scribes = [Scribe(backend, f"run-{number}") for number in range(20)]

            async def all_of_them() -> list[object]:
                await asyncio.gather(*(backend.aexecute(s.plan()) for s in scribes))
                return list(await backend.aexecute(ListRuns(TENANT)))

            assert len(asyncio.run(all_of_them())) == 20

    def test_an_error_reaches_the_task_that_asked(self, tmp_path: Path) -> None:
        """Of two writes that are handed over at once, one is refused and one lands."""
        with self.opened(tmp_path) as backend:
            good, bad = Scribe(backend, "good"), Scribe(backend, "bad")
            bad.save()
            bad.head = 7

            async def both() -> list[object]:
                plans = (backend.aexecute(bad.plan()), backend.aexecute(good.plan()))
                return list(await asyncio.gather(*plans, return_exceptions=True))

            error, saved = asyncio.run(both())
            assert isinstance(error, ConflictError)
            assert not isinstance(saved, BaseException)
            assert _seqs(backend, good) == [1]

    def test_a_write_can_be_settled_instead_of_raised(self, tmp_path: Path) -> None:
        """What it gave or raised is put where the caller says, which an interrupt cannot undo."""
        with self.opened(tmp_path) as backend:
            scribe, saved, error = Scribe(backend), Outcome(), Outcome()
            backend.settle(scribe.plan(), saved)
            backend.settle(scribe.plan(), error)
            assert (saved.settled, saved.error, saved.value.line.branch) == (True, None, 0)
            assert (error.settled, error.value) == (True, None)
            assert isinstance(error.error, ConflictError)
            assert _seqs(backend, scribe) == [1]
        late = Outcome()
        with refused(StoreError, "store.closed"):
            backend.settle(scribe.plan(), late)
        assert not late.settled

    def test_several_event_loops_use_one_store(self, tmp_path: Path) -> None:
        """Nothing is bound to the loop that came first."""
        with self.opened(tmp_path) as backend:

            def in_a_loop(number: int) -> None:
                async def save_some() -> None:
                    scribe = Scribe(backend, f"run-{number}")
                    for seq in range(1, 6):
                        saved = await backend.aexecute(scribe.plan(step(seq)))
                        scribe.claim, scribe.line, scribe.head = saved.fence, saved.line, seq

                asyncio.run(save_some())

            _together(in_a_loop)
            sizes = backend.execute(ReadSizes(TENANT))
            assert (sizes.runs, sizes.checkpoints) == (THREADS, 5 * THREADS)

    def test_a_write_whose_task_is_cancelled_lands_whole(self, tmp_path: Path) -> None:
        """What was handed over is done; the next write finds it."""
        with self.opened(tmp_path) as backend:
            scribe, marker = Scribe(backend), Scribe(backend, "marker")

            async def cancelled() -> None:
                task = asyncio.ensure_future(backend.aexecute(scribe.plan()))
                await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait((task,))
                await backend.aexecute(marker.plan())

            asyncio.run(cancelled())
            assert _seqs(backend, scribe) == [1]

    def test_a_closed_store_says_that_it_is_closed(self, tmp_path: Path) -> None:
        """Closing twice is fine; using it is an error, in both ways."""
        backend = self.open(tmp_path)
        scribe = Scribe(backend).save_many(1)
        backend.close()
        backend.close()
        for plan in (scribe.plan(), scribe.find()):
            with refused(StoreError, "store.closed"):
                backend.execute(plan)
            with refused(StoreError, "store.closed"):
                asyncio.run(backend.aexecute(plan))
        with refused(StoreError, "store.closed"):
            backend.settings()

    def test_what_was_saved_is_there_when_the_store_is_opened_again(self, tmp_path: Path) -> None:
        """Where the backend lasts; else the store is fresh."""
        with self.opened(tmp_path) as backend:
            before = Scribe(backend).save_many(3)
            stored = backend.execute(ReadEverything(before.key))
        with self.opened(tmp_path) as backend:
            if self.lasting:
                assert backend.execute(ReadEverything(before.key)) == stored
                Scribe(backend).look().save()
            else:
                assert backend.execute(before.find()).run is None

    def test_the_settings_in_force_are_as_they_should_be(self, tmp_path: Path) -> None:
        """What `doctor` reports of a healthy store is good."""
        with self.opened(tmp_path) as backend:
            settings = backend.settings()
            assert settings.engine
            assert settings.version
            assert [setting for setting in settings.settings if not setting.good] == []
            assert bool(settings.files) is self.lasting
