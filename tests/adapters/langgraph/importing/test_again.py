"""A thread that is there already is compared, and nothing that is there is ever overwritten."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from langchain_core import messages as lc
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.types import Command

import keepset as ks
from keepset.adapters.langgraph import importing
from keepset.adapters.langgraph.importing_rows import Rows
from keepset.cli.moving.sources import Asked
from keepset.cli.moving.sources import importing as opened
from keepset.errors import StoreError
from keepset.langgraph import KeepsetSaver
from keepset.plan.leases import Lease, Leasing
from keepset.plan.leasing import Take
from keepset.plan.reads import FindRun
from keepset.plan.requests import Seen
from keepset.plan.rows import RunKey
from tests.adapters.landed import held
from tests.adapters.langgraph.importing import stores
from tests.adapters.langgraph.importing.stores import KINDS, everything, fill, outcomes, taken
from tests.adapters.langgraph.saver.graphs import outer
from tests.adapters.langgraph.saver.steps import config

T = config("t")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "old.sqlite"
    with stores.on_sqlite(place) as saver:
        outer(saver).invoke({"log": ["in"]}, T)
    return place


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.db"


def go_on_there(path: Path, answer: str = "yes") -> None:
    with stores.on_sqlite(path) as saver:
        outer(saver).invoke(Command(resume=answer), T)


def go_on_here(url: str, answer: str = "yes") -> None:
    with KeepsetSaver(url) as saver:
        outer(saver).invoke(Command(resume=answer), T)


def here(url: str) -> list[Any]:
    with KeepsetSaver(url) as saver:
        return everything(saver, "t")


def test_the_same_import_again_changes_nothing(tmp_path: Path, url: str) -> None:
    place = tmp_path / "all.sqlite"
    with stores.on_sqlite(place) as saver:
        fill(saver)
    taken(place, url)
    with ks.open(url) as store:
        before = [(one.run, one.checkpoint, one.updated) for one in store.runs()]
    assert set(outcomes(taken(place, url)).values()) == {"there"}
    with ks.open(url) as store:
        assert [(one.run, one.checkpoint, one.updated) for one in store.runs()] == before
    assert len(before) == len(KINDS)


def test_a_thread_that_went_on_where_it_comes_from_is_taken_anew_only_if_that_is_said(
    path: Path, url: str
) -> None:
    taken(path, url)
    before = here(url)
    go_on_there(path)
    assert outcomes(taken(path, url)) == {"t": "grown"}
    assert here(url) == before
    assert outcomes(taken(path, url, again=True, apply=False)) == {"t": "taken"}
    assert here(url) == before
    assert outcomes(taken(path, url, again=True)) == {"t": "taken"}
    with stores.on_sqlite(path) as saver:
        assert here(url) == everything(saver, "t")
    assert outcomes(taken(path, url, again=True)) == {"t": "there"}


def test_a_write_that_is_new_after_the_newest_checkpoint_counts_as_gone_on(
    path: Path, url: str
) -> None:
    taken(path, url)
    with stores.on_sqlite(path) as saver:
        newest = saver.get_tuple(T)
        saver.put_writes(newest.config, [("log", ["late"])], "another-task", "~path")
    assert outcomes(taken(path, url)) == {"t": "grown"}
    assert outcomes(taken(path, url, again=True)) == {"t": "taken"}
    assert ("another-task", "log", ["late"]) in here(url)[-1][4]


def test_a_thread_that_went_on_here_is_left_as_it_is(path: Path, url: str) -> None:
    taken(path, url)
    go_on_here(url)
    after = here(url)
    for again in (False, True):
        assert outcomes(taken(path, url, again=again)) == {"t": "ahead"}
    assert here(url) == after


def test_where_both_have_gone_on_neither_is_changed(path: Path, url: str) -> None:
    taken(path, url)
    go_on_here(url, "here")
    go_on_there(path, "there")
    after = here(url)
    for again in (False, True):
        assert outcomes(taken(path, url, again=again)) == {"t": "differs"}
    assert here(url) == after


def test_another_thread_of_the_same_id_is_told_apart(path: Path, url: str) -> None:
    with KeepsetSaver(url) as saver:
        outer(saver).invoke({"log": ["mine"]}, T)
    after = here(url)
    assert outcomes(taken(path, url)) == {"t": "differs"}
    assert here(url) == after


def test_a_value_that_is_another_one_here_is_told_with_its_place(path: Path, url: str) -> None:
    taken(path, url)
    stores.change(
        path,
        "update writes set value = ? where channel = 'log' and thread_id = 't'",
        b"\x91\xa1z",
    )
    moved = taken(path, url)["t"]
    assert moved.outcome.value == "differs"
    assert [left.surface for left in moved.left] == ["write"]


@pytest.mark.parametrize(
    ("held", "other", "path_of_it"),
    [
        (1, True, "held"),
        (1, 1.0, "held"),
        (0.0, -0.0, "held"),
        ([1, {"a": 2}], [1, {"a": "2"}], "held[1].a"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "held"),
        ([b"x"], ["x"], "held[0]"),
        ([lc.AIMessage("a", id="1")], [lc.AIMessage("b", id="1")], "held[0].content"),
        ([lc.AIMessage("a", id="1")], [lc.HumanMessage("a", id="1")], "held[0]"),
        ([Decimal("1.0")], [Decimal("1.00")], "held[0]"),
    ],
)
def test_the_smallest_difference_of_a_value_is_found_wherever_it_lies(
    tmp_path: Path, url: str, held: Any, other: Any, path_of_it: str
) -> None:
    place = tmp_path / "old.sqlite"

    def write(value: Any) -> None:
        checkpoint = empty_checkpoint()
        checkpoint["id"] = "1ef00001-0000-6000-8000-000000000000"
        checkpoint["ts"] = "2026-01-01T00:00:00+00:00"
        checkpoint["channel_values"] = {"held": value}
        checkpoint["channel_versions"] = {"held": "1"}
        at: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        with stores.on_sqlite(place) as saver:
            saver.put(at, checkpoint, {"source": "loop", "step": 1, "parents": {}}, {})

    write(held)
    assert outcomes(taken(place, url)) == {"t": "taken"}
    write(other)
    moved = taken(place, url)["t"]
    assert moved.outcome.value == "differs"
    assert [(left.surface, left.path) for left in moved.left] == [("state", path_of_it)]
    write(held)
    assert outcomes(taken(place, url)) == {"t": "there"}


def test_of_two_that_take_a_thread_anew_one_is_first_and_the_other_one_compares(
    path: Path, url: str
) -> None:
    taken(path, url)
    go_on_there(path)
    first: list[Any] = []

    def meanwhile(_: int) -> None:
        if not first:
            first.append("")
            first[0] = outcomes(taken(path, url, again=True))

    assert outcomes(taken(path, url, again=True, told=meanwhile)) == {"t": "there"}
    assert first == [{"t": "taken"}]


def test_a_thread_that_is_here_and_not_where_it_would_come_from_is_said_to_be_none_there(
    path: Path, url: str
) -> None:
    taken(path, url)
    stores.change(path, "delete from checkpoints")
    asked = Asked(types=stores.OWN, again=True)
    with opened(str(path), asked) as make, ks.open(url) as store:
        moved = make(store, store, lambda _: None).move("t")
    assert (moved.outcome.value, moved.why) == (
        "left",
        "there is no thread of this id to take over",
    )


def test_a_thread_that_was_shortened_here_is_told_to_be_and_not_to_have_gone_on(
    path: Path, url: str
) -> None:
    taken(path, url)
    with ks.open(url) as store:
        store.prune("t", keep_latest=1)
    moved = taken(path, url)["t"]
    assert (moved.outcome.value, moved.hint[:25]) == ("grown", "It was shortened here: --")
    taken(path, url, again=True)
    go_on_there(path)
    assert taken(path, url)["t"].hint == "Take it over anew with --again."


def test_a_thread_whose_clocks_were_out_of_step_is_left_out_and_told_so(
    tmp_path: Path, url: str
) -> None:
    place = tmp_path / "old.sqlite"
    at: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    with stores.on_sqlite(place) as saver:
        for number in (2, 1, 3):
            checkpoint = empty_checkpoint()
            checkpoint["id"] = f"1ef0000{number}-0000-6000-8000-000000000000"
            at = saver.put(at, checkpoint, {"source": "loop", "step": 1, "parents": {}}, {})
    moved = taken(place, url)["t"]
    assert moved.outcome.value == "left"
    assert "a checkpoint is older than its parent" in moved.why
    with ks.open(url) as store:
        assert held(store) == []


def test_a_thread_that_was_deleted_here_does_not_come_back(path: Path, url: str) -> None:
    taken(path, url)
    with KeepsetSaver(url) as saver:
        saver.delete_thread("t")
    for again in (False, True):
        assert outcomes(taken(path, url, again=again)) == {"t": "left"}
    assert here(url) == []


def test_a_thread_that_an_execution_works_on_is_not_replaced(path: Path, url: str) -> None:
    taken(path, url)
    go_on_there(path)
    with ks.open(url) as store:
        services = store.services
        key = RunKey("default", "t")
        run = services.backend.execute(FindRun(key, services.mark(key))).run
        assert run is not None
        lease = Leasing(Lease("another", 1, services.now() + 60_000), held=False, gone=None)
        services.backend.execute(
            Take(key, services.mark(key), Seen(run.incarnation, 0), b"", run.contract, lease, 1)
        )
        before = here(url)
        moved = taken(path, url, again=True)["t"]
        assert moved.outcome.value == "differs"
        assert "another execution works on run t" in moved.why
        assert here(url) == before
        assert held(store) == ["t"]


def answered(saver: Any) -> None:
    newest = saver.get_tuple(T)
    saver.put_writes(newest.config, [("log", ["late"])], "another-task", "~path")


def saved(saver: Any) -> None:
    outer(saver).update_state(T, {"log": ["late"]}, as_node="a")


@pytest.mark.parametrize("go_on", [answered, saved])
def test_a_thread_that_goes_on_here_while_another_is_to_take_its_place_loses_nothing(
    path: Path, url: str, go_on: Callable[[Any], None]
) -> None:
    taken(path, url)
    go_on_there(path)
    after: list[Any] = []

    def meanwhile(_: int) -> None:
        if not after:
            with KeepsetSaver(url) as saver:
                go_on(saver)
            after.extend(here(url))

    moved = taken(path, url, again=True, told=meanwhile)["t"]
    assert moved.outcome.value == "differs"
    assert "late" in str(after)
    assert here(url) == after


def test_a_thread_that_goes_on_while_it_is_read_is_taken_over_as_it_is_then(
    path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Written(Rows):
        """Tables to which somebody writes when the last checkpoint was read."""

        reads = 0

        def checkpoint(self, *place: Any) -> Any:
            Written.reads += 1
            if Written.reads == 4:
                with stores.on_sqlite(path) as saver:
                    newest = saver.get_tuple(T)
                    saver.put_writes(newest.config, [("log", ["late"])], "another-task", "~path")
            return super().checkpoint(*place)

    monkeypatch.setattr(importing, "Rows", Written)
    assert outcomes(taken(path, url)) == {"t": "taken"}
    assert ("another-task", "log", ["late"]) in here(url)[-1][4]
    monkeypatch.undo()
    assert outcomes(taken(path, url)) == {"t": "there"}


def test_a_store_of_ours_refuses_the_place_of_another_tool_and_changes_nothing(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        taken(path, f"sqlite:///{path}")
    assert path.read_bytes() == before
