"""What runs would take in keepset is measured by writing them, and nothing stays behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from keepset.audit import measured as measuring
from keepset.audit.measured import states
from keepset.audit.report import weighed
from keepset.cli.audit import sentences
from keepset.store import Store
from tests.audit import naive
from tests.audit.memory import MemoryReader
from tests.audit.test_survey import Rows, audit, state


def growing(runs: int, steps: int) -> Rows:
    return Rows(
        *(
            state(f"run-{run}", step, "log", [f"line {n} of {run} " * 20 for n in range(step)])
            for run in range(runs)
            for step in range(1, steps)
        )
    )


def test_a_history_that_grows_takes_a_fraction_of_it() -> None:
    rows = growing(2, 80)
    found = weighed(audit(rows), rows).measured
    assert found is not None
    assert sorted(found.runs) == ["run-0", "run-1"]
    assert found.steps == 158
    assert found.theirs == sum(item.size for item in rows.given)
    assert 0 < found.ours < found.theirs / 3


def test_fields_that_do_not_belong_are_left_out_of_the_second_figure() -> None:
    reader = MemoryReader(naive.saver())
    found = weighed(audit(reader), reader)
    assert found.measured is not None
    assert found.measured.kept < found.measured.ours
    assert found.measured.refused == 0
    assert "3 runs (12 steps)" in sentences.in_keepset(found)


def test_no_file_is_made_and_no_secret_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen: list[str] = []
    files: list[Path] = []
    weigh = measuring._weight

    def look(store: Store) -> int:  # at the moment at which all is written
        for one in store.runs():
            run = store.inspect(one.run.key.run_id)
            seen.extend(repr(run.at(point).values) for point in run.history())
        files.extend(tmp_path.rglob("*"))
        return weigh(store)

    monkeypatch.setattr(measuring, "_weight", look)
    reader = Rows(state("a", 0, "config", {"api_key": naive.KEY, "model": "a-model-by-name"}))
    weighed(audit(reader), reader)
    assert files == []
    assert not any(naive.KEY in data for data in seen)
    # The control: what is no secret is there.
    assert any("a-model-by-name" in data for data in seen)


def test_a_state_has_what_an_earlier_step_wrote_and_this_one_did_not_change() -> None:
    items = [state("a", 0, "x", 1), state("a", 0, "y", 2), state("a", 1, "x", 3)]
    found = [one for _, one, _ in states(items)]
    assert found == [{"x": 1, "y": 2}, {"x": 3, "y": 2}]


def test_a_store_without_state_is_not_measured() -> None:
    assert weighed(audit(Rows()), Rows()).measured is None
