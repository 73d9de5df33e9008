"""A programme is measured to its end, whatever becomes of the peers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from keepset.cli.bench.bars import bars
from keepset.cli.bench.cases import (
    PARTS,
    Case,
    Crowd,
    Fleet,
    Opening,
    Programme,
    Reading,
    Run,
    programme,
)
from keepset.cli.bench.machine import is_busy, machine
from keepset.cli.bench.measure import Measurement
from keepset.cli.bench.report import document, show
from keepset.cli.bench.system import SYSTEMS, Entry
from keepset.errors import StoreError
from tests.cli.terminal import SCHEMAS, start

LEAN = (Case("lean", "raw", "lean", 5), Case("lean", "keepset", "lean", 5, rounds=2))
TINY = Programme(
    lives=(
        (*LEAN, *(Case("lean", name, "lean", 5) for name in ("saver", "delta", "dbos"))),
        (Case("rare", "keepset", "rare", 40, "normal"),),
    ),
    crowds=(Crowd("threads", "keepset", 2, 0.3), Crowd("processes", "keepset", 2, 0.3)),
    openings=(Opening("opening", "keepset", 2, 2),),
    graphs=(tuple(Run(name, 3) for name in ("none", "graph", "delta", "saver", "memory")),),
    documents=1,
    readings=(Reading(300_000, rounds=2),),
    fleets=(tuple(Fleet(name, 2, 3, rounds=2) for name in ("graph", "delta")),),
)


@pytest.fixture
def said() -> list[str]:
    return []


def _measured(folder: Path, plan: Programme, said: list[str]) -> tuple[Measurement, Any]:
    measurement = Measurement(folder, said.append)
    figures = measurement.run(plan)
    told = {"level": "quick", "parts": [], "seconds": 1.0, "machine": machine(folder)}
    return measurement, document(figures, bars(figures), measurement.skipped, told)


def test_a_tiny_run_gives_a_document_that_fits_its_schema_and_leaves_no_file(
    tmp_path: Path, said: list[str]
) -> None:
    _, result = _measured(tmp_path, TINY, said)
    schema = json.loads((SCHEMAS / "bench.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate({"schema": "keepset.bench/1", "result": result}, schema)
    ours = [life for life in result["lives"] if life["system"] == "keepset"]
    assert [(life["workload"], life["rounds"]) for life in ours] == [("lean", 2), ("rare", 1)]
    assert all(life["exact"] for life in result["lives"])
    assert [crowd["part"] for crowd in result["crowds"]] == ["threads", "processes"]
    assert result["openings"][0]["failures"] == 0
    assert {walk["system"] for walk in result["graphs"]} >= {"graph"}
    assert all(walk["exact"] for walk in result["graphs"])
    assert [(one["found"], one["exact"]) for one in result["documents"]] == [(0, True)]
    assert all(fleet["exact"] and fleet["disk_bytes"] > 0 for fleet in result["fleets"])
    assert {(fleet["threads"], fleet["rounds"]) for fleet in result["fleets"]} == {(2, 2)}
    [audited] = result["audits"]
    assert audited["complete"]
    assert (audited["rounds"], audited["runs"]) == (2, 1)
    assert audited["bytes"] > 300_000 < audited["peak_bytes"]
    assert str(tmp_path) not in json.dumps(result)
    assert [file.name for file in tmp_path.iterdir() if "db" in file.suffix] == []


def test_a_peer_that_is_not_installed_is_left_out_with_a_notice(
    tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = replace(SYSTEMS["saver"], packages=("a-package-that-nobody-made",))
    monkeypatch.setitem(SYSTEMS, "saver", missing)
    plan = Programme(
        ((*LEAN, Case("lean", "saver", "lean", 5)),), (Crowd("threads", "saver", 2, 0.3),), ()
    )
    measurement, result = _measured(tmp_path, plan, said)
    told = "LangGraph SqliteSaver is left out: not installed: pip install"
    assert [line for line in said if line.startswith(told)] != []
    assert set(measurement.skipped) == {"saver"}
    assert {life["system"] for life in result["lives"]} == {"raw", "keepset"}
    (entry,) = (one for one in result["systems"] if one["name"] == "saver")
    assert entry["version"] is None
    assert entry["skipped"].startswith("not installed")


def test_a_peer_whose_process_ends_is_left_out_and_the_others_go_on(
    tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SYSTEMS, "ghost", Entry("Ghost", "ghost"))  # no other process knows it
    ghost = Case("lean", "ghost", "lean", 5, rounds=2)
    openings = (Opening("opening", "ghost", 2, 1), Opening("opening", "keepset", 2, 1))
    plan = Programme(((ghost, *LEAN),), (Crowd("threads", "ghost", 2, 0.3),), openings)
    measurement = Measurement(tmp_path, said.append)
    figures = measurement.run(plan)
    assert "ghost" in measurement.skipped["ghost"]
    assert {life.system for life in figures.lives} == {"raw", "keepset"}
    assert [opened.system for opened in figures.openings] == ["keepset"]
    assert sum("Ghost is left out" in line for line in said) == 1


def test_a_process_of_our_own_that_ends_is_an_error(tmp_path: Path, said: list[str]) -> None:
    (tmp_path / "1.db").mkdir()  # lies where its first file is to be
    plan = Programme(((Case("lean", "keepset", "lean", 5),),), (), ())
    with pytest.raises(StoreError) as caught:
        Measurement(tmp_path, said.append).run(plan)
    assert caught.value.code == "bench.process"


def test_the_tables_show_what_was_measured_beside_its_bars(
    tmp_path: Path, said: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    plan = replace(TINY, lives=(LEAN,))
    figures = Measurement(tmp_path, said.append).run(plan)
    show(figures, bars(figures))
    printed = capsys.readouterr()
    assert "lean, 5 steps: " in printed.out
    assert "raw INSERT" in printed.out
    assert "empty store" in printed.out
    assert "file, lean 200" not in printed.out  # nothing measured it
    assert "keepset, bound to the graph" in printed.out
    assert "documents under Refetch: excerpts stored" in printed.out
    assert "not measured or judged" in printed.err


def test_one_part_is_measured_alone_and_every_part_has_something_to_measure() -> None:
    for part in PARTS:
        chosen = programme("full").only((part,))
        parts = {case.part for group in chosen.lives for case in group}
        parts |= {crowd.part for crowd in chosen.crowds}
        parts |= {opening.part for opening in chosen.openings}
        parts |= {"graph"} if chosen.graphs and chosen.documents else set()
        parts |= {"short"} if chosen.fleets else set()
        parts |= {"audit"} if chosen.readings else set()
        assert parts == {part}
    assert programme("full").only(()) == programme("full")


def test_a_case_is_measured_only_in_ways_that_its_system_has() -> None:
    for level in ("quick", "default", "full"):
        plan = programme(level)
        for case in (case for group in plan.lives for case in group):
            assert case.durability in SYSTEMS[case.system].durabilities
            assert case.rounds > 0
        names = {crowd.system for crowd in plan.crowds} | {one.system for one in plan.openings}
        assert all(SYSTEMS[name].is_concurrent for name in names)


def test_a_machine_that_others_use_is_called_busy(tmp_path: Path) -> None:
    about = machine(tmp_path)
    assert is_busy({**about, "cpus": 2, "load_before": 1.5})
    assert not is_busy({**about, "cpus": 2, "load_before": 0.4})


def test_the_command_measures_one_part_and_leaves_nothing_behind(tmp_path: Path) -> None:
    said = start("bench", "--quick", "--only", "opening", "--json", folder=tmp_path)
    assert said.code == 0, said.err
    found = said.result("bench")
    assert (found["level"], found["parts"], found["lives"]) == ("quick", ["opening"], [])
    assert found["openings"][0]["system"] == "keepset"
    assert "8 processes open 3 new stores: keepset" in said.err
    assert list(tmp_path.iterdir()) == []
