"""Two executions on one thread: one of them wins, the other one is told, nothing is lost."""

from __future__ import annotations

import operator
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

pytest.importorskip("langgraph")

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from keepset.errors import ConflictError, NotFoundError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.saver.steps import checkpoint, config, in_loop, put


@pytest.fixture
def url(tmp_path: Path) -> str:
    tmp_path.chmod(0o700)
    return f"sqlite:///{tmp_path}/runs.db"


@pytest.fixture
def saver(url: str) -> Iterator[KeepsetSaver]:
    with KeepsetSaver(url) as opened:
        yield opened


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


def steps_of(saver: KeepsetSaver, thread: str = "t") -> list[int]:
    return [found.metadata["step"] for found in saver.list(config(thread))]


def test_of_two_runs_after_one_checkpoint_the_second_is_refused_and_both_are_named(
    saver: KeepsetSaver,
) -> None:
    start = put(saver, in_loop(config("t")), 0, log=[])
    first = put(saver, in_loop(start), 1, log=["first"])
    late = checkpoint(1, log=["second"])
    with pytest.raises(ConflictError) as caught:
        saver.put(in_loop(start), late, {"source": "loop", "step": 1}, {})
    assert caught.value.code == "conflict.two-writers"
    for part in ("thread t", first["configurable"]["checkpoint_id"], late["id"]):
        assert part in caught.value.message
    newest = saver.get_tuple(config("t"))
    assert newest is not None
    assert newest.checkpoint["channel_values"] == {"log": ["first"]}


def test_what_stands_on_a_refused_checkpoint_is_refused_for_the_same_reason(
    saver: KeepsetSaver,
) -> None:
    """A run in the background goes on for a while after its checkpoint was refused."""
    start = put(saver, in_loop(config("t")), 0, log=[])
    put(saver, in_loop(start), 1, log=["first"])
    late = checkpoint(1, log=["second"])
    with pytest.raises(ConflictError):
        saver.put(in_loop(start), late, {"source": "loop", "step": 1}, {})
    there = in_loop(config("t", late["id"]))
    with pytest.raises(ConflictError, match=f"checkpoint {late['id']} was refused") as caught:
        saver.put_writes(there, [("log", ["x"])], "task")
    assert caught.value.code == "conflict.two-writers"
    with pytest.raises(ConflictError, match="was refused") as caught:
        put(saver, there, 2, log=["second", "third"])
    assert caught.value.code == "conflict.two-writers"
    assert steps_of(saver) == [1, 0]


def test_of_two_runs_that_begin_one_thread_the_second_is_refused(saver: KeepsetSaver) -> None:
    put(saver, in_loop(config("t")), -1, "input", log=["first"])
    with pytest.raises(ConflictError, match="the beginning is followed by"):
        put(saver, in_loop(config("t")), -1, "input", log=["second"])
    assert steps_of(saver) == [-1]


def test_a_run_in_another_process_is_noticed(url: str, saver: KeepsetSaver) -> None:
    start = put(saver, in_loop(config("t")), 0, log=[])
    with KeepsetSaver(url) as other:
        other.get_tuple(in_loop(config("t")))
        put(other, in_loop(start), 1, log=["other"])
    with pytest.raises(ConflictError) as caught:
        put(saver, in_loop(start), 1, log=["mine"])
    assert caught.value.code == "conflict.two-writers"


@pytest.mark.parametrize("source", ["fork", "update"])
def test_a_fork_and_an_update_begin_a_line_of_their_own(saver: KeepsetSaver, source: str) -> None:
    start = put(saver, in_loop(config("t")), 0, log=["a"])
    put(saver, in_loop(start), 1, log=["a", "b"])
    fork = put(saver, in_loop(start), 1, source, log=["a", "c"])
    forked, newest = saver.get_tuple(fork), saver.get_tuple(config("t"))
    assert forked is not None
    assert newest is not None
    assert newest.checkpoint == forked.checkpoint
    assert forked.parent_config == start
    on = put(saver, in_loop(fork), 2, log=["a", "c", "d"])
    found = saver.get_tuple(on)
    assert found is not None
    assert found.checkpoint["channel_values"] == {"log": ["a", "c", "d"]}
    assert len(list(saver.list(config("t")))) == 4


def test_a_run_that_was_sent_to_a_checkpoint_begins_a_line(saver: KeepsetSaver) -> None:
    start = put(saver, in_loop(config("t")), 0, log=[])
    put(saver, in_loop(start), 1, log=["first"])
    sent = {"checkpoint_id": start["configurable"]["checkpoint_id"]}
    again = put(saver, in_loop(start, metadata=sent), 1, log=["again"])
    newest = saver.get_tuple(config("t"))
    assert newest is not None
    assert newest.config == again


def test_what_is_put_outside_of_a_run_begins_a_line(saver: KeepsetSaver) -> None:
    start = put(saver, config("t"), 0, log=[])
    put(saver, start, 1, log=["first"])
    put(saver, start, 1, log=["second"])
    put(saver, config("t"), 0, log=["anew"])
    assert sorted(steps_of(saver)) == [0, 0, 1, 1]


def test_a_checkpoint_after_one_that_never_was_is_refused(saver: KeepsetSaver) -> None:
    with pytest.raises(NotFoundError, match="thread t: there is no checkpoint nowhere"):
        put(saver, config("t", "nowhere"), 0, log=[])
    assert saver.get_tuple(config("t")) is None


def graph(saver: KeepsetSaver) -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("ask", lambda _: {"log": [interrupt("ok?")]})
    builder.add_node("act", lambda _: {"log": ["acted"]})
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "act")
    builder.add_edge("act", END)
    return builder.compile(checkpointer=saver)


def test_a_process_resumes_at_once_what_another_one_that_lives_has_paused(url: str) -> None:
    with KeepsetSaver(url) as one, KeepsetSaver(url) as other:
        graph(one).invoke({"log": ["in"]}, config("t"))
        assert graph(other).invoke(Command(resume="yes"), config("t")) == {
            "log": ["in", "yes", "acted"]
        }
        assert graph(one).invoke({"log": ["more"]}, config("t"))["log"][-1] == "more"
        assert graph(one).invoke(Command(resume="no"), config("t"))["log"][-2:] == ["no", "acted"]


def test_two_runs_of_a_graph_on_one_thread_end_in_one_history_and_one_error(url: str) -> None:
    """Both have loaded the same checkpoint before either saves."""
    both = threading.Barrier(2)
    outcomes: list[object] = []

    class Together(KeepsetSaver):
        def get_tuple(self, config: Any) -> Any:
            found = super().get_tuple(config)
            both.wait(30)
            return found

    with Together(url) as one, Together(url) as other:

        def run(saver: KeepsetSaver, name: str) -> None:
            try:
                graph(saver).invoke({"log": [name]}, config("t"), durability="sync")
                outcomes.append(name)
            except ConflictError as error:
                outcomes.append(error.code)

        threads = [
            threading.Thread(target=run, args=(saver, name))
            for saver, name in ((one, "one"), (other, "other"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert "conflict.two-writers" in outcomes
        (winner,) = set(outcomes) & {"one", "other"}
        with KeepsetSaver(url) as reader:
            newest = reader.get_tuple(config("t"))
            assert newest is not None
            assert newest.checkpoint["channel_values"]["log"] == [winner]


def test_parallel_writers_of_one_thread_all_land(saver: KeepsetSaver) -> None:
    start = put(saver, config("t"), 0, log=[])
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            space = f"child:{number}"
            at = put(saver, config("t", namespace=space), 0, log=[number])
            saver.put_writes(start, [("log", [number])], f"task-{number}")
            put(saver, at, 1, log=[number, number])
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test fails with it
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    for number in range(8):
        found = saver.get_tuple(config("t", namespace=f"child:{number}"))
        assert found is not None
        assert found.checkpoint["channel_values"] == {"log": [number, number]}
    root = saver.get_tuple(start)
    assert root is not None
    assert len(root.pending_writes or ()) == 8


def test_a_thread_that_is_deleted_and_used_again_is_a_fresh_one(url: str) -> None:
    with KeepsetSaver(url) as one, KeepsetSaver(url) as other:
        graph(one).invoke({"log": ["old"]}, config("t"))
        other.delete_thread("t")
        assert graph(one).invoke({"log": ["new"]}, config("t"))["log"] == ["new"]
        assert graph(one).invoke(Command(resume="yes"), config("t"))["log"] == [
            "new",
            "yes",
            "acted",
        ]


def test_a_run_whose_thread_is_deleted_meanwhile_is_refused_and_brings_nothing_back(
    url: str,
) -> None:
    with KeepsetSaver(url) as saver, KeepsetSaver(url) as other:
        builder: Any = StateGraph(State)

        def node(_: State) -> State:
            other.delete_thread("t")
            return {"log": ["done"]}

        builder.add_node("node", node)
        builder.add_edge(START, "node")
        deleting = builder.compile(checkpointer=saver)
        with pytest.raises(ConflictError) as caught:
            deleting.invoke({"log": ["in"]}, config("t"), durability="sync")
        assert caught.value.code == "conflict.deleted"
        assert saver.get_tuple(config("t")) is None
        assert list(saver.list(None)) == []
