"""A bar is held to the figures of the same run, and stays open where they are missing."""

from __future__ import annotations

from dataclasses import replace

from keepset.cli.bench.bars import Bar, bars
from keepset.cli.bench.cases import Case, Crowd, Opening
from keepset.cli.bench.results import (
    Figures,
    Floor,
    Life,
    as_audited,
    as_life,
    as_opened,
    as_throng,
)

ROUND = {
    "save": 500_000,
    "save_p99": 900_000,
    "save_first": 400_000,
    "save_last": 600_000,
    "open": 1_000_000,
    "load": 3_000_000,
    "load_middle": 3_500_000,
    "load_earlier": 7_000_000,
    "empty_bytes": 81_920,
    "disk_bytes": 100_000,
    "written_bytes": 2_000_000,
    "written_by": "/proc/self/io",
    "exact": True,
}


def _life(system: str, workload: str = "lean", steps: int = 200, **other: object) -> Life:
    case = Case(workload, system, workload, steps)
    return as_life(case, [{**ROUND, **other}])


def _bar(figures: Figures, name: str) -> Bar:
    (found,) = (bar for bar in bars(figures) if bar.name == name)
    return found


def test_a_run_that_measured_nothing_leaves_every_bar_open() -> None:
    open_bars = bars(Figures())
    assert len({bar.name for bar in open_bars}) == len(open_bars) == 46
    assert {(bar.measured, bar.met) for bar in open_bars} == {(None, None)}


def test_a_busy_machine_is_judged_by_its_bytes_and_refusals_alone() -> None:
    figures = Figures([_life("keepset"), _life("raw")], [Floor("lean", 200, 260_000, 50_000)])
    judged = {bar.name: bar.met for bar in bars(figures, busy=True) if bar.measured is not None}
    assert judged["file, lean 200"] is True
    assert judged["written to the disk, lean 200"] is True
    assert judged["save at full, lean 200"] is None
    assert judged["load the newest, lean 200"] is None
    assert _bar(figures, "save at full, lean 200").met is True


def test_an_audit_is_held_to_a_minute_a_gigabyte_and_to_its_memory() -> None:
    told = {"took": 5e9, "bytes": 10**8, "peak_bytes": 10**8, "runs": 1, "values": 9}
    figures = Figures(
        audits=[as_audited([{**told, "complete": True}, {**told, "complete": False}])]
    )
    bar = _bar(figures, "audit of a LangGraph file, read whole")
    assert (bar.measured, bar.met) == (50, True)
    assert _bar(figures, "audit of a LangGraph file, memory").measured == 100
    assert _bar(figures, "audit of a LangGraph file, left unread").met is False


def test_bytes_are_held_to_the_floor_of_the_same_run() -> None:
    figures = Figures([_life("keepset")], [Floor("lean", 200, 260_000, 50_000)])
    bar = _bar(figures, "file, lean 200")
    assert (bar.measured, bar.limit, bar.met) == (2.0, 2.5, True)
    figures.floors = [Floor("lean", 200, 260_000, 30_000)]
    assert _bar(figures, "file, lean 200").met is False


def test_a_save_is_held_to_the_raw_insert_of_the_same_run() -> None:
    figures = Figures([_life("keepset"), _life("raw", save=250_000, written_bytes=1_000_000)])
    assert _bar(figures, "save at full, lean 200").measured == 2.0
    assert _bar(figures, "save at full, lean 200").met is False
    assert _bar(figures, "written to the disk, lean 200").measured == 2.0
    assert _bar(figures, "written to the disk, lean 200").met is True
    figures.lives.pop()
    assert _bar(figures, "save at full, lean 200").met is None


def test_a_save_that_costs_more_in_a_longer_history_is_not_flat() -> None:
    short = replace(_life("keepset"), durability="normal")
    long = replace(short, steps=1_000, save=short.save * 1.2)
    assert _bar(Figures([short, long]), "save at normal, lean: 1000 to 200 steps").met is True
    long = replace(long, save=short.save * 1.3)
    assert _bar(Figures([short, long]), "save at normal, lean: 1000 to 200 steps").met is False


def test_a_file_that_grows_faster_than_its_history_is_not_linear() -> None:
    short = _life("keepset", disk_bytes=100_000)
    long = _life("keepset", steps=1_000, disk_bytes=500_000)
    name = "file, lean: a later step's bytes"
    assert _bar(Figures([short, long]), name).met is True
    assert _bar(Figures([short, replace(long, disk_bytes=2_500_000)]), name).met is False


def test_an_earlier_checkpoint_may_take_twice_as_long_as_the_newest() -> None:
    figures = Figures([_life("keepset")])
    assert _bar(figures, "load the newest, lean 200").met is True
    assert _bar(figures, "load an earlier one, lean 200").measured == 7.0
    assert _bar(figures, "load an earlier one, lean 200").limit == 8.0


def test_the_median_of_the_rounds_counts_and_one_wrong_state_spoils_all() -> None:
    case = Case("lean", "keepset", "lean", 200)
    rounds = [{**ROUND, "save": save} for save in (900, 100, 200)]
    assert as_life(case, rounds).save == 200
    assert as_life(case, rounds).exact
    assert not as_life(case, [*rounds, {**ROUND, "exact": False}]).exact


def test_bytes_that_nobody_counted_leave_their_bar_open() -> None:
    figures = Figures([_life("keepset", written_bytes=None, written_by=None), _life("raw")])
    assert _bar(figures, "written to the disk, lean 200").met is None


def test_processes_are_held_to_the_slowest_of_them_and_to_no_refusal() -> None:
    crowd = Crowd("processes", "keepset", 2, 1.0)
    one = {"took": 10**9, "save": 5, "save_p99": 9, "save_most": 11, "refused": {}}
    answers = [{**one, "by_thread": [40]}, {**one, "by_thread": [100], "save_p99": 30}]
    throng = as_throng(crowd, [answers])
    assert (throng.steps_per_second, throng.evenness, throng.save_p99) == (140, 0.4, 30)
    figures = Figures(throngs=[throng])
    assert _bar(figures, "8 processes, slowest to fastest").met is False
    assert _bar(figures, "8 processes, saves refused").met is True
    refused = as_throng(crowd, [[{**answers[0], "refused": {"store.busy": 3}}]])
    assert _bar(Figures(throngs=[refused]), "8 processes, saves refused").measured == 3


def test_threads_are_held_to_the_saver_of_the_same_run() -> None:
    one = {"took": 10**9, "save": 5, "save_p99": 4_000_000, "save_most": 11, "refused": {}}
    ours, theirs = (
        as_throng(Crowd("threads", name, 2, 1.0), [[{**one, "by_thread": [count, count]}]])
        for name, count in (("keepset", 300), ("saver", 100))
    )
    bar = _bar(Figures(throngs=[ours, theirs]), "8 threads of a process, steps per second")
    assert (bar.measured, bar.met) == (3.0, False)
    assert _bar(Figures(throngs=[ours]), "8 threads of a process, steps per second").met is None
    assert _bar(Figures(throngs=[ours]), "8 threads of a process, p99 of a save").met is True


def test_a_store_that_one_process_could_not_open_counts_once() -> None:
    opening = Opening("opening", "keepset", 3, 2)
    fine, locked = {"refused": None}, {"refused": "store.locked"}
    opened = as_opened(opening, [[fine, locked, locked], [fine, fine, fine]])
    assert (opened.failures, opened.refused) == (1, {"store.locked": 2})
