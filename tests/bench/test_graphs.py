"""The part that measures LangGraph graphs: what it measures, and what its bars are held to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keepset.cli.bench.bars import Bar, bars
from keepset.cli.bench.cases import Fleet, Run
from keepset.cli.bench.jobs import perform
from keepset.cli.bench.results import Figures, as_fleets, as_refetched, as_walk

graphs = pytest.importorskip("keepset.cli.bench.systems.graph_savers")
measured = pytest.importorskip("keepset.cli.bench.systems.graph_run")

ROUND = {
    "step": 2_000_000,
    "step_last": 2_500_000,
    "replay": 1_000_000,
    "disk_bytes": 100_000,
    "resume": 4_000_000,
    "history": 500_000_000,
    "exact": True,
}


def _walk(system: str, steps: int = 200, **other: Any) -> Any:
    return as_walk(Run(system, steps), [{**ROUND, **other}])


def _bar(figures: Figures, name: str) -> Bar:
    (found,) = (bar for bar in bars(figures) if bar.name == name)
    return found


@pytest.mark.parametrize("system", ["none", "graph", "saver", "delta", "memory"])
def test_every_saver_ends_with_the_messages_that_the_graph_was_given(
    tmp_path: Path, system: str
) -> None:
    job = {"job": "graph", "system": system, "steps": 4}
    files = {"path": str(tmp_path / "a.db"), "again": str(tmp_path / "b.db")}
    answer = perform({**job, **files})
    assert answer["exact"]
    assert answer["step"] > 0
    on_disk = system in graphs.ON_DISK
    assert (answer["disk_bytes"] is not None) is on_disk
    assert (answer["replay"] is not None) is on_disk
    assert (answer["history"] is not None) is on_disk
    assert (answer["resume"] is not None) is (on_disk or system == "memory")


def test_all_savers_are_given_the_same_messages_of_one_length_each() -> None:
    told = graphs.messages(5)
    assert told == graphs.messages(5)
    assert len({message.id for message in told}) == 5
    assert {len(message.content) for message in told} == {graphs.CHARACTERS}


def test_documents_that_are_fetched_again_are_in_no_file_and_the_node_has_them(
    tmp_path: Path,
) -> None:
    answer = perform({"job": "documents", "path": str(tmp_path / "a.db")})
    assert (answer["found"], answer["exact"]) == (0, True)
    assert answer["resume"] > answer["loading"] > 0


def test_documents_that_are_stored_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured.ks, "Refetch", lambda *_, **__: "a marker that says nothing")
    answer = perform({"job": "documents", "path": str(tmp_path / "a.db")})
    assert answer["found"] > 0


def test_a_file_is_held_to_those_of_the_other_savers() -> None:
    figures = Figures()
    figures.walks = [_walk("graph"), _walk("saver", disk_bytes=9_900_000)]
    name = "file, graph 200: SqliteSaver's"
    assert (_bar(figures, name).measured, _bar(figures, name).met) == (99.0, False)
    figures.walks[1] = _walk("saver", disk_bytes=10_000_000)
    assert _bar(figures, name).met is True
    figures.walks[1] = _walk("delta", disk_bytes=800_000)
    assert _bar(figures, name).met is None
    assert _bar(figures, "file, graph 200: DeltaChannel(100)'s").met is True


def test_short_threads_are_held_to_those_of_the_other_savers() -> None:
    one = {"disk_bytes": 10_000, "took": 1.0, "exact": True}
    figures = Figures()
    figures.fleets = [
        as_fleets(Fleet("graph", 2, 3), [one]),
        as_fleets(Fleet("delta", 2, 3), [{**one, "disk_bytes": 14_000}]),
    ]
    name = "file, short graphs of 3 steps: DeltaChannel(100)'s"
    assert (_bar(figures, name).measured, _bar(figures, name).met) == (1.4, False)
    figures.fleets[1] = as_fleets(Fleet("delta", 2, 3), [{**one, "disk_bytes": 15_000}])
    assert _bar(figures, name).met is True
    assert _bar(figures, "file, short graphs of 8 steps: DeltaChannel(100)'s").met is None


def test_a_step_is_held_to_deltachannel_and_the_saver_alone_to_sqlite() -> None:
    figures = Figures()
    figures.walks = [_walk("graph"), _walk("delta", step=1_600_000), _walk("saver")]
    assert _bar(figures, "graph 200: a step of the whole graph").met is True
    assert _bar(figures, "graph 200: a step of the saver alone").met is False
    assert _bar(figures, "graph 200: the history of 200 checkpoints").met is True
    figures.walks += [_walk("graph", 1_000), _walk("memory", 1_000, resume=3_999_999)]
    assert _bar(figures, "graph 1000: resume").met is False
    judged = [bar for bar in bars(figures, busy=True) if bar.name.startswith("graph ")]
    assert {bar.met for bar in judged} == {None}


def test_resuming_with_documents_is_held_to_what_it_takes_beside_its_loader() -> None:
    told = {"resume": 14_000_000, "loading": 4_000_000, "found": 0, "exact": True}
    figures = Figures()
    figures.documents = [as_refetched([told])]
    name = "graph, documents under Refetch: resume beside the loader"
    assert (_bar(figures, name).measured, _bar(figures, name).met) == (10, True)
    figures.documents = [replace(figures.documents[0], found=1)]
    assert _bar(figures, "graph, documents under Refetch: excerpts stored").met is False
