"""Claims about lists of runs and about sizes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keepset.backends import Backend
from keepset.plan.packing import NO_PACKS, pack_segments
from keepset.plan.reads import ASIDE, ListRuns, ReadSizes, ReadStanding
from keepset.plan.rows import ContractRow, RunSummary, WriteRow
from keepset.plan.steps import remembered
from keepset.plan.writes import PutWrites
from keepset.testing.contract.base import TENANT, Claims, Scribe, blob, headers, segment, step


def _ids(backend: Backend, plan: ListRuns) -> list[str]:
    return [row.run.key.run_id for row in backend.execute(plan)]


def _newest(backend: Backend, run_id: str) -> tuple[str, str, str, int]:
    (row,) = [r for r in backend.execute(ListRuns(TENANT)) if r.run.key.run_id == run_id]
    return row.status, row.checkpoint, row.step, row.updated


class ListingClaims(Claims):
    """What holds for lists and measures."""

    def test_runs_are_listed_in_order_and_page_by_page(self, tmp_path: Path) -> None:
        """Only the tenant's own; `after` leaves out what was seen."""
        with self.opened(tmp_path) as backend:
            for run_id in ("d", "b", "a", "c", "B"):
                Scribe(backend, run_id).save_many(1)
            Scribe(backend, "z", tenant="another").save_many(1)
            assert _ids(backend, ListRuns(TENANT)) == ["B", "a", "b", "c", "d"]
            assert _ids(backend, ListRuns(TENANT, limit=2)) == ["B", "a"]
            assert _ids(backend, ListRuns(TENANT, after="a", limit=2)) == ["b", "c"]
            assert _ids(backend, ListRuns(TENANT, after="d")) == []

    def test_runs_that_hold_another_one_for_a_while_are_left_out_where_that_is_said(
        self, tmp_path: Path
    ) -> None:
        """A page is full all the same."""
        with self.opened(tmp_path) as backend:
            for run_id in (f"{ASIDE}1", f"{ASIDE}2", "langgraph#mine", "z"):
                Scribe(backend, run_id).save_many(1)
            assert len(_ids(backend, ListRuns(TENANT))) == 4
            plan = ListRuns(TENANT, aside=False, limit=2)
            assert _ids(backend, plan) == ["langgraph#mine", "z"]

    def test_a_run_is_listed_with_the_checkpoint_that_a_resume_goes_on_from(
        self, tmp_path: Path
    ) -> None:
        """That of the last branch, though another line was saved to later; all are counted."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(4)
            scribe.pack(headers(1, 4), segment("a", 1, 4))
            fork = scribe.fork(5)
            fork.save(step(6, status="paused", at=8000))
            scribe.save(step(6, status="running", at=9000))
            inner = replace(scribe, namespace="inner", line=None, head=0, seq=0)
            inner.save(step(1, status="failed", at=9900))
            (row,) = backend.execute(ListRuns(TENANT))
            run = scribe.load().found.run
            assert run is not None
            assert row == RunSummary(run, "paused", "checkpoint-6", "name-6", 8, 8000)

    def test_what_was_written_after_the_newest_checkpoint_says_where_the_run_stands(
        self, tmp_path: Path
    ) -> None:
        """The write that came last counts, also one that took another's place."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(2)
            asks = WriteRow("task", "", -3, "asks", b"1", status="paused", replace=True)
            told = WriteRow("task", "", -4, "told", b"2", status="running", replace=True)
            other = WriteRow("other", "", 0, "a", b"3")
            for write, stands in ((asks, "paused"), (told, "running"), (asks, "paused")):
                for one in (write, other):
                    backend.execute(PutWrites(scribe.fence, scribe.line_id, 2, (one,)))
                (row,) = backend.execute(ListRuns(TENANT, status=stands))
                assert (row.status, row.checkpoint) == (stands, "checkpoint-2")
                assert backend.execute(ReadStanding(scribe.line_id, 2)) == stands
                assert not backend.execute(ListRuns(TENANT, status="done"))
            scribe.save()
            assert _ids(backend, ListRuns(TENANT, status="paused")) == []
            assert backend.execute(ReadStanding(scribe.line_id, 3)) == ""

    def test_a_fresh_fork_is_listed_with_its_fork_point(self, tmp_path: Path) -> None:
        """Packed or not, since that is where a resume goes on; pages and filters see it so."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend, "b")
            rows = [step(1, status="paused"), *map(step, (2, 3))]
            for row in rows:
                scribe.save(row)
            tail = [remembered(row, {}) for row in rows]
            segments, _ = pack_segments(tail, NO_PACKS, compressed=True)
            scribe.pack(*segments)
            Scribe(backend, "a").save()
            Scribe(backend, "c").save(step(1, status="paused"))
            assert _ids(backend, ListRuns(TENANT, status="paused")) == ["c"]
            scribe.fork(4)
            assert _newest(backend, "b") == ("running", "checkpoint-4", "name-4", 1004)
            scribe.fork(1)
            assert _newest(backend, "b") == ("paused", "checkpoint-1", "name-1", 1001)
            assert _ids(backend, ListRuns(TENANT, status="paused")) == ["b", "c"]
            assert _ids(backend, ListRuns(TENANT, status="paused", limit=1)) == ["b"]
            assert _ids(backend, ListRuns(TENANT, status="running", limit=2)) == ["a"]

    def test_a_run_whose_newest_checkpoint_is_damaged_is_not_lost(self, tmp_path: Path) -> None:
        """It is listed without a status, whatever status was asked for."""
        with self.opened(tmp_path) as backend:
            scribe = Scribe(backend).save_many(2)
            scribe.pack(headers(1, 2))
            scribe.fork(1)
            assert _newest(backend, "run")[:3] == ("", "", "")
            assert _ids(backend, ListRuns(TENANT, status="done")) == ["run"]

    def test_runs_are_found_by_status_contract_and_subject(self, tmp_path: Path) -> None:
        """Filters go together with each other and with pages."""
        other = ContractRow("order", 3, "0d", "{}")
        with self.opened(tmp_path) as backend:
            Scribe(backend, "a", subject=b"alice").save(step(1, status="paused"))
            Scribe(backend, "b", subject=b"alice", contract=other).save(step(1, status="done"))
            Scribe(backend, "c", subject=b"bob").save(step(1, status="paused"))
            Scribe(backend, "d").save(step(1, status="done"))
            assert _ids(backend, ListRuns(TENANT, status="paused")) == ["a", "c"]
            assert _ids(backend, ListRuns(TENANT, contract="order")) == ["b"]
            assert _ids(backend, ListRuns(TENANT, subject=b"alice")) == ["a", "b"]
            both = ListRuns(TENANT, status="done", subject=b"alice")
            assert _ids(backend, both) == ["b"]
            assert _ids(backend, replace(both, after="b")) == []
            assert _ids(backend, ListRuns(TENANT, status="paused", limit=1)) == ["a"]

    def test_a_later_writer_can_name_the_subject(self, tmp_path: Path) -> None:
        """A subject that is given with a claim is added to the run."""
        with self.opened(tmp_path) as backend:
            Scribe(backend).save_many(1)
            late = Scribe(backend, subject=b"alice").look()
            late.save()
            late.look().save()
            assert _ids(backend, ListRuns(TENANT, subject=b"alice")) == ["run"]

    def test_sizes_count_what_a_tenant_stores(self, tmp_path: Path) -> None:
        """By field for what is packed, by kind for the rest, the largest first."""
        with self.opened(tmp_path) as backend:
            Scribe(backend, "other", tenant="another").save_many(3)
            scribe = Scribe(backend).save_many(3)
            assert backend.execute(ReadSizes("nobody")).checkpoints == 0
            large = replace(segment("large", 1, 3), data=b"x" * 50_000)
            scribe.pack(headers(1, 3), segment("small", 1, 3), large)
            writes = (WriteRow("task", "", 0, "a", b"y" * 3000),)
            blobs = (blob(b"z" * 9000),)
            backend.execute(PutWrites(scribe.fence, scribe.line_id, 4, writes, blobs))
            sizes = backend.execute(ReadSizes(TENANT))
            assert (sizes.runs, sizes.checkpoints) == (1, 4)
            names = [name for name, _ in sizes.bytes_by_field]
            assert names[:3] == ["large", "blobs", "writes"]
            assert set(names[3:]) == {"small", "", "steps"}
            by_field = dict(sizes.bytes_by_field)
            assert by_field["large"] >= 50_000
            assert 9000 <= by_field["blobs"] < 9100
            assert 3000 <= by_field["writes"] < 3100
            assert sizes.file_bytes > sum(by_field.values())
            assert 0 <= sizes.free_bytes < sizes.file_bytes
