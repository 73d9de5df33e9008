"""A reading that was interrupted goes on where it was, and tells the same in the end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from keepset.audit.data import as_data
from keepset.audit.detectors import detectors
from keepset.audit.report import audited
from keepset.audit.resuming import Keeping
from keepset.audit.sampling import Plan
from keepset.audit.surveying import Around, Clock, survey
from keepset.errors import UsageError
from keepset.readers.ports import Item
from tests.audit import naive
from tests.audit.test_survey import Rows, state


def rows() -> Rows:
    return Rows(
        *(
            state(f"run-{run:02}", step, field, value)
            for run in range(30)
            for step in range(run % 5 + 1)
            for field, value in (("key", naive.KEY), ("log", ["x" * 50] * step))
        )
    )


class Interrupted(Rows):
    """Interrupts whoever reads a run of it, as a person does with control and C."""

    at = ""

    def items(self, run: str) -> Iterator[Item]:
        for item in super().items(run):
            yield item
            if run == self.at:
                raise KeyboardInterrupt


def keeping(path: Path, plan: Plan) -> Keeping:
    """Time goes so fast that all is kept after each run."""
    ticks = count(0, 10)
    return Keeping(path, "a store", plan, lambda: float(next(ticks)))


def read(store: Rows, path: Path, plan: Plan) -> dict[str, Any]:
    kept = keeping(path, plan)
    clock = Clock(now=lambda: 0.0, elapsed=lambda: 0.0)
    around = Around(clock, kept=kept.keep, before=kept.before())
    found = survey(store, "a store", detectors(), plan, around)
    kept.end(found.tally, is_done=found.is_done)
    return as_data(audited(found))


@pytest.mark.parametrize("plan", [Plan(), Plan(runs=12)])
def test_what_was_interrupted_tells_the_same_as_what_was_not(tmp_path: Path, plan: Plan) -> None:
    whole = read(rows(), tmp_path / "whole.part", plan)
    store, path = Interrupted(*rows().given), tmp_path / "audit.part"
    for at in ("run-07", "run-20", "run-03"):
        store.at = at
        try:
            read(store, path, plan)
        except KeyboardInterrupt:
            store.at = ""
    store.at = ""
    assert read(store, path, plan) == whole
    assert not path.exists()


def test_the_file_is_for_its_owner_alone_and_holds_no_value(tmp_path: Path) -> None:
    store, path = Interrupted(*rows().given), tmp_path / "audit.part"
    store.at = "run-07"
    with pytest.raises(KeyboardInterrupt):
        read(store, path, Plan())
    assert path.stat().st_mode & 0o777 == 0o600
    data = path.read_bytes()
    assert naive.KEY.encode() not in data
    assert b"secret.format" in data


@pytest.mark.parametrize("damage", [b"", b"\x00", b"not ours", b"\xc1\xc1"])
def test_a_file_that_is_not_of_this_audit_is_refused(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "audit.part"
    path.write_bytes(damage)
    with pytest.raises(UsageError) as refused:
        read(rows(), path, Plan())
    assert refused.value.code == "audit.resume-other"
    assert path.read_bytes() == damage


def test_a_file_of_another_plan_is_refused(tmp_path: Path) -> None:
    store, path = Interrupted(*rows().given), tmp_path / "audit.part"
    store.at = "run-07"
    with pytest.raises(KeyboardInterrupt):
        read(store, path, Plan())
    with pytest.raises(UsageError) as refused:
        read(rows(), path, Plan(runs=3))
    assert refused.value.code == "audit.resume-other"


def test_where_the_last_run_is_gone_nothing_is_told_as_if_it_were_whole(tmp_path: Path) -> None:
    store, path = Interrupted(*rows().given), tmp_path / "audit.part"
    store.at = "run-07"
    with pytest.raises(KeyboardInterrupt):
        read(store, path, Plan())
    others = Rows(*(item for item in rows().given if item.run != "run-06"))
    with pytest.raises(UsageError) as refused:
        read(others, path, Plan())
    assert refused.value.code == "audit.resume-gone"


def test_a_file_or_a_link_beside_it_is_left_as_it_is(tmp_path: Path) -> None:
    store, path = Interrupted(*rows().given), tmp_path / "audit.part"
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "audit.part.new").symlink_to(tmp_path / "mine")
    store.at = "run-07"
    with pytest.raises(KeyboardInterrupt):
        read(store, path, Plan())
    assert (tmp_path / "mine").read_text() == "mine"
    assert not path.is_symlink()
    assert {one.name for one in tmp_path.iterdir()} == {"audit.part", "audit.part.new", "mine"}
