"""Edges: large parts, late writes, changed rules, interrupts, arguments of odd kinds."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

import keepset as ks
from keepset.errors import ConflictError, KeepsetError, PolicyError, StoreError, UsageError
from keepset.verdict.status import Resume
from tests.run.states import Chat

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LONG = "INFO fine\n" * 9_000


class Anything(TypedDict, total=False):
    x: Annotated[Any, ks.Keep()]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["hi"], ["hi", LONG + TOKEN]),
        (["hi", "there"], ["hi", LONG + TOKEN]),
        ({"a": 1}, {"a": LONG + TOKEN}),
        ("short", LONG + TOKEN),
        (LONG, LONG + TOKEN),
        ((1, 2), (1, LONG + TOKEN)),
        ({"config": 1}, {"config": {"password": "q8Zx2LmP0vR7tY4wK9nB", "log": LONG}}),
    ],
)
def test_a_secret_in_a_large_part_that_is_new_is_in_no_file(
    tmp_path: Path, before: Any, after: Any
) -> None:
    with ks.open(f"sqlite:///{tmp_path / 'a.db'}", compression=False) as store:
        run = store.run(Anything, "r")
        run.save("one", {"x": before})
        run.save("two", {"x": after})
        assert any(finding.kind.startswith("secret.") for finding in run.findings)
    data = b"".join(file.read_bytes() for file in sorted(tmp_path.iterdir()))
    assert b"INFO fine" in data, "control"
    assert TOKEN.encode() not in data
    assert b"q8Zx2LmP0vR7tY4wK9nB" not in data


def test_pending_writes_that_come_in_during_a_pruning_survive_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with ks.open(url) as store, ks.open(url) as other:
        run = store.run(Chat, "r")
        ids = [run.save("step", {"count": n}).id for n in range(80)]
        done = threading.Event()
        errors: list[BaseException] = []

        def prune() -> None:
            try:
                while not done.is_set():
                    other.prune("r", keep_latest=60)
            except ConflictError:
                prune()
            except KeepsetError as error:
                errors.append(error)

        pruner = threading.Thread(target=prune)
        pruner.start()
        for number in range(30):
            run.put_writes(ids[79], f"task {number}", [("draft", f"{number} " + "z" * 70_000)])
            run.save("step", {"count": 80 + number})
        done.set()
        pruner.join()
        assert errors == []
        assert len(run.writes(ids[79])) == 30
        assert store.verify().problems == ()


def made() -> str:
    return "made afresh"


class KeptBefore(TypedDict, total=False):
    key: Annotated[str, ks.Keep()]
    folder: Annotated[str, ks.Keep()]
    gone: Annotated[str, ks.Keep()]


class RuledNow(TypedDict, total=False):
    key: Annotated[str, ks.Secret("env:KEEPSET_TEST_NEW_KEY")]
    folder: Annotated[str, ks.Scratch(made)]
    gone: Annotated[str, ks.Drop(default="default")]


def test_a_rule_that_was_declared_since_decides_over_what_was_stored_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ks.contract(name="ruled")(KeptBefore)
    ks.contract(name="ruled")(RuledNow)
    monkeypatch.setenv("KEEPSET_TEST_NEW_KEY", "the-rotated-key")
    with ks.open("memory:") as store:
        store.run(KeptBefore, "r").save("one", {"key": TOKEN, "folder": "old", "gone": "old"})
        assert store.can_resume("r", RuledNow).verdict is Resume.AS_IS
        expected = {"key": "the-rotated-key", "folder": "made afresh", "gone": "default"}
        assert store.run(RuledNow, "r").state == expected


class SummedUp(TypedDict, total=False):
    ids: Annotated[list[str], ks.Keep()]
    docs: Annotated[list[str], ks.Refetch(list, using="ids")]
    summary: Annotated[str, ks.Keep()]


class SummedUpAgain(TypedDict, total=False):
    ids: Annotated[list[str], ks.Keep()]
    folder: Annotated[str, ks.Scratch(made)]
    docs: Annotated[list[str], ks.Refetch(list, using="ids")]
    summary: Annotated[str, ks.Refetch(lambda *found: repr(found), using=("docs", "folder"))]


def test_what_is_fetched_by_now_by_what_is_restored_itself_is_fetched() -> None:
    ks.contract(name="summed")(SummedUp)
    ks.contract(name="summed")(SummedUpAgain)
    with ks.open("memory:") as store:
        store.run(SummedUp, "r").save("one", {"ids": ["a"], "docs": ["a"], "summary": "stored"})
        store.run(SummedUp, "without ids").save("one", {"summary": "stored"})
        assert store.run(SummedUpAgain, "r").state["summary"] == "(['a'], 'made afresh')"
        assert store.run(SummedUpAgain, "without ids").state["summary"] == "stored"


class Growing(TypedDict, total=False):
    b: Annotated[list[str], ks.Keep(append_only=True)]


def test_a_list_with_a_withheld_secret_may_grow_after_its_run_was_loaded_again() -> None:
    with ks.open("memory:") as store:
        run = store.run(Growing, "r")
        state = {"b": [f"my key {TOKEN}"]}
        for number in range(3):
            state["b"].append(f"entry {number}")
            run.save("step", state)
        store.prune("r", keep_latest=1)
        state["b"].append("after the pruning")
        run.save("step", state)
        with pytest.raises(PolicyError, match="append_only"):
            run.save("step", {"b": ["other", *state["b"][1:]]})


DONE: list[str] = []


def charge(state: Any) -> None:
    DONE.append("charged")
    state["x"] = 1


class Undeclared(TypedDict, total=False):
    x: int


def test_a_workflow_does_no_work_that_it_may_not_save(tmp_path: Path) -> None:
    DONE.clear()
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with ks.open(url):
        pass
    with ks.open(url, role="viewer") as store, pytest.raises(PolicyError, match="viewer"):
        ks.Workflow(Anything, [charge]).run(store, "r", {"x": 0})
    with ks.open(url, mode="strict") as store, pytest.raises(PolicyError, match="undeclared"):
        ks.Workflow(Undeclared, [charge]).run(store, "r", {"x": 0})
    assert DONE == []


def stop(_: Any) -> Any:
    return next(iter([]))


def test_a_step_that_raises_stop_iteration_fails_like_any_other() -> None:
    async def work() -> None:
        async with ks.aopen("memory:") as store:
            await ks.Workflow(Anything, [stop]).arun(store, "r", {"x": 0})

    with pytest.raises(RuntimeError, match="stop raised StopIteration"):
        asyncio.run(asyncio.wait_for(work(), 20))
    with ks.open("memory:") as store, pytest.raises(RuntimeError, match="stop raised"):
        ks.Workflow(Anything, [stop]).run(store, "r", {"x": 0})


def unfit(_: Any) -> Any:
    return "a text"


def test_a_step_whose_result_is_unfit_makes_the_run_stand_as_failed_once() -> None:
    with ks.open("memory:") as store:
        flow = ks.Workflow(Anything, [charge, unfit])
        for _ in range(3):
            with pytest.raises(KeepsetError):
                flow.run(store, "r", {"x": 0})
        assert store.runs()[0].status == "failed"
        assert len(store.run(Anything, "r").history()) == 2


def test_a_run_that_was_interrupted_after_its_save_had_landed_goes_on() -> None:
    with ks.open("memory:") as store:
        run = store.run(Chat, "r")
        for number in range(3):
            flow = run.core.save("step", {"count": number})
            request: Any = next(flow)
            result: Any = None
            try:
                while True:
                    result = store.services.backend.execute(request)
                    if type(request).__name__ == "Save":
                        flow.close()  # as an interrupt does, before the answer is heard
                        break
                    request = flow.send(result)
            except StopIteration:
                pytest.fail("the save was not interrupted")
        run.save("step", {"count": 3})
        assert [c.seq for c in run.history()] == [4, 3, 2, 1]


def test_something_that_is_no_plain_file_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.db")
    for role in ("writer", "viewer"):
        with pytest.raises(StoreError) as refused:
            ks.open(f"sqlite:///{tmp_path / 'pipe.db'}", role=role)
        assert refused.value.code == "store.not-a-database"


@pytest.mark.parametrize("name", [None, 7, b"r", ""])
def test_a_run_id_of_another_type_is_a_usage_error_everywhere(name: Any) -> None:
    with ks.open("memory:") as store:
        for call in (store.delete, store.inspect, store.can_resume):
            with pytest.raises(KeepsetError):
                call(name)
        with pytest.raises(KeepsetError):
            store.prune(name, keep_latest=1)
        if name is not None:
            with pytest.raises(KeepsetError):
                store.runs(subject=name)


@pytest.mark.parametrize("limit", ["x", 1.5, -1, 0])
def test_a_limit_that_is_no_number_is_a_usage_error(limit: Any) -> None:
    with ks.open("memory:") as store:
        run = store.run(Chat, "r")
        run.save("one", {"count": 1})
        with pytest.raises(KeepsetError):
            run.history(limit)
        with pytest.raises(KeepsetError):
            store.runs(limit=limit)


@pytest.mark.parametrize("steps", [5, None, "ab", [None], ["ask"]])
def test_steps_that_are_no_list_of_functions_are_a_usage_error(steps: Any) -> None:
    with pytest.raises(KeepsetError):
        ks.Workflow(Chat, steps)


@pytest.mark.parametrize("data", ["text", None, -1, 10**12])
def test_what_is_no_bytes_is_never_decoded(data: Any) -> None:
    with pytest.raises(KeepsetError):
        ks.decode(data)


@pytest.mark.parametrize("branch", [-1, "0", False, 1.0])
def test_a_branch_that_is_no_number_of_a_line_is_a_usage_error(branch: Any) -> None:
    with ks.open("memory:") as store, pytest.raises(UsageError, match="branch"):
        store.run(Chat, "r", branch=branch)


def test_each_block_closes_the_store_that_it_opened() -> None:
    async def work() -> None:
        opening = ks.aopen("memory:")
        async with opening as outer:
            async with opening as inner:
                await (await inner.run(Chat, "r")).save("one", {"count": 1})
            assert await outer.runs() == []
            with pytest.raises(StoreError):
                await inner.runs()
        with pytest.raises(StoreError):
            await outer.runs()

    asyncio.run(work())
