"""A large store is sampled: fairly, with intervals, and it is never called clean."""

from __future__ import annotations

import random
from itertools import count

import pytest

from keepset.audit.data import as_data
from keepset.audit.detectors import detectors
from keepset.audit.intervals import wilson
from keepset.audit.report import Audit, audited
from keepset.audit.sampling import Chosen, Plan
from keepset.audit.surveying import Around, Clock, survey
from keepset.cli.audit import sentences
from keepset.readers.ports import Overview, RunFacts
from tests.audit import naive
from tests.audit.test_survey import Rows, audit, state


def store(runs: int, *, with_secret: int = 0, seed: int = 1) -> Rows:
    """Runs of different lengths, of which some have a key in each of their steps."""
    chance = random.Random(seed)  # noqa: S311 - the same store each time
    keyed = set(chance.sample(range(runs), with_secret))
    return Rows(
        *(
            state(f"run-{run}", step, "config", {"k": naive.KEY if run in keyed else "none"})
            for run in range(runs)
            for step in range(chance.randint(1, 6))
        )
    )


def sampled(rows: Rows, runs: int, seed: int = 0) -> Audit:
    return audit(rows, plan=Plan(runs=runs, seed=seed))


def test_the_same_seed_reads_the_same_runs_and_a_smaller_sample_is_a_part_of_a_larger() -> None:
    facts = [RunFacts(f"run-{number}", 1, 1) for number in range(500)]

    def chosen(most: int, seed: int) -> list[str]:
        sample = Chosen(most, seed)
        for one in facts:
            sample.take(one)
        return [one.run for one in sample.runs()]

    assert chosen(20, 7) == chosen(40, 7)[:20]
    assert chosen(20, 7) != chosen(20, 8)
    assert len(chosen(900, 7)) == 500


def test_each_run_is_as_likely_as_any_other() -> None:
    facts = [RunFacts(f"run-{number:03}", 1, 1) for number in range(100)]
    hits = dict.fromkeys((one.run for one in facts), 0)
    for seed in range(400):
        sample = Chosen(10, seed)
        for one in facts:
            sample.take(one)
        for run in sample.runs():
            hits[run.run] += 1
    assert min(hits.values()) >= 15
    assert max(hits.values()) <= 70


def test_a_sample_is_never_called_clean() -> None:
    found = sampled(store(60), 20)
    assert found.findings == ()
    assert not found.is_complete
    assert "lean" not in sentences.verdict(found)
    assert "was not looked at" in sentences.looked(found)
    assert as_data(found)["sample"]["not_looked_at"] > 0.4


def test_a_sample_of_all_runs_is_the_whole_store() -> None:
    found = sampled(store(20), 50)
    assert found.is_complete
    assert as_data(found)["sample"] is None


def test_intervals_hold_the_true_figures_about_as_often_as_they_say() -> None:
    rows = store(300, with_secret=60)
    [truth] = audit(rows).findings
    held = {"runs": 0, "copies": 0}
    tries = 60
    for seed in range(tries):
        data = as_data(sampled(rows, 80, seed))
        [one] = [one for one in data["findings"] if one["code"] == "secret.format"]
        for name, true in (("runs", truth.runs), ("copies", truth.copies)):
            figure = one["estimates"][name]
            assert figure["low"] <= figure["value"] <= figure["high"]
            held[name] += figure["low"] <= true <= figure["high"]
    assert min(held.values()) >= 0.85 * tries


def test_the_bytes_of_a_field_are_reckoned_for_all_runs() -> None:
    rows = store(200, with_secret=20)
    whole = as_data(audit(rows))["fields"][0]
    figure = as_data(sampled(rows, 60))["fields"][0]["estimates"]
    assert figure["bytes"]["low"] <= whole["bytes"] <= figure["bytes"]["high"]
    assert figure["share"]["value"] == pytest.approx(1)


def test_what_is_known_of_all_runs_is_not_reckoned() -> None:
    facts = tuple(
        RunFacts(f"run-{number}", 1, 10, 0.0, 0.0, is_unfinished=True) for number in range(50)
    )
    found = audit(Rows(facts=facts), now=1e9, plan=Plan(runs=5))
    [one] = [one for one in as_data(found)["findings"] if one["code"] == "audit.unfinished"]
    assert (one["copies"], one["estimates"]) == (50, {})


def test_a_share_that_nobody_or_everybody_has_still_has_an_interval() -> None:
    assert wilson(0, 20, 1_000).high > 50
    assert wilson(20, 20, 1_000).low < 950
    assert wilson(20, 20, 20).low == 20


def test_reading_ends_when_time_is_up_and_says_what_it_left() -> None:
    ticks = count()
    clock = Clock(now=lambda: 0.0, elapsed=lambda: float(next(ticks)))
    found = audited(survey(store(100), "s", detectors(), Plan(seconds=20), around=Around(clock)))
    assert 0 < found.survey.tally.read < 100
    assert as_data(found)["sample"]["of_runs"] == 100


@pytest.mark.parametrize(
    ("plan", "size", "wanted"),
    [
        (Plan(), 999_999_999, None),
        (Plan(), 10_000_000_000, 500),
        (Plan(), 10**15, 30),
        (Plan(share=0.25), 1, 2_500),
        (Plan(runs=7), 10**15, 7),
        (Plan(all_below=10**15), 10**14, None),
    ],
)
def test_only_a_store_above_the_limit_is_sampled_unless_asked(
    plan: Plan, size: int, wanted: int | None
) -> None:
    assert plan.wanted(Overview("x", "1", size, {}, 10_000)) == wanted


def test_a_giant_run_of_a_sample_is_left_early_and_counted_as_such() -> None:
    rows = Rows(*(state("giant", step, "x", "y", size=1_000) for step in range(1_000)))
    rows.overview = lambda: Overview("rows", "1", 1_000_000, {}, 1)  # type: ignore[method-assign] # a size that the rows have not
    found = audit(rows, plan=Plan(all_below=200_000))
    assert found.survey.tally.cut == 1
    assert not found.is_complete
    assert as_data(found)["sample"]["not_looked_at"] == pytest.approx(0.95, abs=0.01)
