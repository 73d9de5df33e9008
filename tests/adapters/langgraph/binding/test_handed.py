"""What a task has written is stored as it was when the task ended, whatever becomes of it later."""

from __future__ import annotations

import asyncio
import operator
import threading
from typing import Annotated, Any

import pytest
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from keepset.adapters.langgraph.host import DeltaChannel
from keepset.adapters.langgraph.saver import KeepsetSaver
from tests.adapters.langgraph.binding.stores import CONFIG, DURABILITIES

BACKGROUND = [one for one in DURABILITIES if one != "exit"]
rebuilt = pytest.mark.skipif(
    DeltaChannel.__name__ == "_Absent", reason="this release of LangGraph has none"
)


class Late(KeepsetSaver):
    """A saver that stores what is written to one channel once somebody has changed it."""

    changed: threading.Event
    channel: str

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        if self._is_meant(writes):
            assert self.changed.wait(30)
        super().put_writes(config, writes, task_id, task_path)

    async def aput_writes(
        self, config: Any, writes: Any, task_id: str, task_path: str = ""
    ) -> None:
        if self._is_meant(writes):
            assert await asyncio.to_thread(self.changed.wait, 30)
        await super().aput_writes(config, writes, task_id, task_path)

    def _is_meant(self, writes: Any) -> bool:
        return any(channel == self.channel for channel, _ in writes)


def late(channel: str) -> Late:
    saver = Late("memory:")
    saver.changed, saver.channel = threading.Event(), channel
    return saver


def call(graph: Any, given: Any, how: str, durability: Any) -> Any:
    if how == "async":
        return asyncio.run(graph.ainvoke(given, CONFIG, durability=durability))
    return graph.invoke(given, CONFIG, durability=durability)


def written(graph: Any, channel: str) -> list[Any]:
    """All that tasks wrote to a channel, the oldest first, as it is stored."""
    found = [*graph.checkpointer.list(CONFIG)]
    return [
        value
        for one in reversed(found)
        for _, name, value in one.pending_writes or []
        if name == channel
    ]


class State(TypedDict, total=False):
    nested: dict[str, Any]
    other: str


def changed_by_the_next(saver: Late, value: Any) -> Any:
    def second(state: State) -> dict[str, Any]:
        state["nested"]["deep"]["n"] = 99
        state["nested"]["more"] = "more"
        saver.changed.set()
        return {"other": "done"}

    builder: Any = StateGraph(State)
    builder.add_node("first", lambda _: {"nested": value})
    builder.add_node("second", second)
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    return builder


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("durability", BACKGROUND)
def test_what_the_next_node_changes_in_place_is_stored_as_the_node_before_wrote_it(
    how: str, durability: Any
) -> None:
    with late("nested") as saver:
        graph = saver.bind(changed_by_the_next(saver, {"deep": {"n": 1}}).compile())
        assert call(graph, {"other": "x"}, how, durability)["nested"]["more"] == "more"
        assert written(graph, "nested") == [{"deep": {"n": 1}}]


def test_a_control_that_is_not_bound_stores_what_has_become_of_it() -> None:
    with late("nested") as saver:
        graph = changed_by_the_next(saver, {"deep": {"n": 1}}).compile(checkpointer=saver)
        call(graph, {"other": "x"}, "sync", "async")
        assert written(graph, "nested") == [{"deep": {"n": 99}, "more": "more"}]


@pytest.mark.parametrize("durability", BACKGROUND)
def test_what_a_node_of_the_same_step_changes_later_does_not_show(durability: Any) -> None:
    ended = threading.Event()

    class Seen(Late):
        def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
            if self._is_meant(writes):
                ended.set()
            super().put_writes(config, writes, task_id, task_path)

    def shared(_: State) -> dict[str, Any]:
        return {"nested": kept}

    def other(_: State) -> dict[str, Any]:
        assert ended.wait(30)
        kept["n"] = 99
        saver.changed.set()
        return {"other": "done"}

    kept: dict[str, Any] = {"n": 1}
    builder: Any = StateGraph(State)
    builder.add_node("shared", shared)
    builder.add_node("other", other)
    builder.add_edge(START, "shared")
    builder.add_edge(START, "other")
    with Seen("memory:") as saver:
        saver.changed, saver.channel = threading.Event(), "nested"
        graph = saver.bind(builder.compile())
        call(graph, {"other": "x"}, "sync", durability)
        assert written(graph, "nested") == [{"n": 1}]


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("durability", DURABILITIES)
def test_what_a_task_returned_is_what_its_caller_gets_again_however_that_has_changed_it(
    how: str, durability: Any
) -> None:
    got: list[Any] = []

    @task
    def make() -> dict[str, Any]:
        return {"steps": ["made"]}

    @task
    async def make_later() -> dict[str, Any]:
        return {"steps": ["made"]}

    with late("__return__") as saver:

        def use(made: dict[str, Any]) -> Any:
            got.append([*made["steps"]])
            made["steps"].append("changed")
            saver.changed.set()
            return interrupt("go on?")

        @entrypoint()
        def flow(_: str) -> Any:
            return use(make().result())

        @entrypoint()
        async def flow_later(_: str) -> Any:
            return use(await make_later())

        graph: Any = saver.bind(flow_later if how == "async" else flow)
        call(graph, "x", how, durability)
        assert call(graph, Command(resume="yes"), how, durability) == "yes"
    assert got == [["made"], ["made"]]


def test_the_update_of_a_command_is_stored_as_it_was_given() -> None:
    def second(state: State) -> dict[str, Any]:
        if interrupt("go on?"):
            state["nested"]["n"] = 99
            saver.changed.set()
        return {"other": "done"}

    builder: Any = StateGraph(State)
    builder.add_node("second", second)
    builder.add_edge(START, "second")
    with late("nested") as saver:
        graph: Any = saver.bind(builder.compile())
        graph.invoke({"other": "x"}, CONFIG)
        graph.invoke(Command(resume=True, update={"nested": {"n": 1}}), CONFIG)
        assert written(graph, "nested") == [{"n": 1}]


def joined(before: list[Any] | None, given: Any) -> list[Any]:
    return [*(before or []), *(item for items in given for item in items)]


def in_place(before: list[Any] | None, given: Any) -> list[Any]:
    made = before if before is not None else []
    for items in given:
        made.extend(items)
    return made


def of_channel(channel: Any, *nodes: Any) -> Any:
    state: Any = TypedDict("state", {"log": Annotated[list[Any], channel], "other": str})
    builder: Any = StateGraph(state)
    for number, node in enumerate(nodes):
        builder.add_node(f"n{number}", node)
        builder.add_edge(f"n{number - 1}" if number else START, f"n{number}")
    return builder.compile()


def changes_the_first(state: Any) -> dict[str, Any]:
    state["log"][0]["n"] = 99
    return {"other": "done"}


@rebuilt
@pytest.mark.parametrize("reducer", [joined, in_place])
@pytest.mark.parametrize("durability", DURABILITIES)
def test_what_is_written_to_a_channel_that_is_rebuilt_is_stored_as_it_was_written(
    durability: Any, reducer: Any
) -> None:
    with KeepsetSaver("memory:") as saver:
        graph = saver.bind(
            of_channel(DeltaChannel(reducer), lambda _: {"log": [{"n": 1}]}, changes_the_first)
        )
        for thread in ("t", "t"):  # the second time on a checkpoint that is there
            config: Any = {"configurable": {"thread_id": thread}}
            graph.invoke({"log": [{"n": 0}]}, config, durability=durability)
            values = graph.get_state(config).values["log"]
            assert [item["n"] for item in values[-2:]] == [0, 1]


@rebuilt
def test_one_object_that_is_written_again_and_again_is_stored_as_it_was_each_time() -> None:
    kept, several = {"n": 0}, list[Any]()

    def node(_: Any) -> dict[str, Any]:
        kept["n"] += 1
        return {"log": [kept]}

    def same(_: Any) -> dict[str, Any]:
        kept["n"] += 1
        several.append(kept)
        return {"log": several}

    for durability in DURABILITIES:
        kept["n"] = 0
        several.clear()
        with KeepsetSaver("memory:") as saver:
            graph: Any = saver.bind(of_channel(DeltaChannel(joined), node, node, same, same))
            graph.invoke({"log": []}, CONFIG, durability=durability)
            values = graph.get_state(CONFIG).values["log"]
            assert [item["n"] for item in values] == [1, 2, 3, 4, 4]


class LateStep(KeepsetSaver):
    """A saver whose every step is saved once a node has changed something."""

    changed: threading.Event

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        assert metadata["step"] != 1 or self.changed.wait(30)
        return super().put(config, checkpoint, metadata, new_versions)


@rebuilt
def test_a_snapshot_of_a_channel_that_is_rebuilt_is_what_the_next_node_was_given() -> None:
    def second(state: Any) -> dict[str, Any]:
        changes_the_first(state)
        saver.changed.set()
        return {"other": "done"}

    channel = DeltaChannel(joined, snapshot_frequency=1)
    with LateStep("memory:") as saver:
        saver.changed = threading.Event()
        graph: Any = saver.bind(of_channel(channel, lambda _: {"log": [{"n": 1}]}, second))
        graph.invoke({"log": []}, CONFIG, durability="async")
        found = [
            one.values["log"] for one in graph.get_state_history(CONFIG) if one.next == ("n1",)
        ]
        assert found == [[{"n": 1}]]


def test_what_a_bound_graph_inside_one_that_is_not_has_written_is_stored_as_it_was() -> None:
    with late("nested") as own, late("nested") as around:
        inner = own.bind(changed_by_the_next(around, {"deep": {"n": 1}}).compile())
        builder: Any = StateGraph(State)
        builder.add_node("inner", inner)
        builder.add_edge(START, "inner")
        graph: Any = builder.compile(checkpointer=around)
        graph.invoke({"other": "x"}, CONFIG, durability="async")
        assert {"deep": {"n": 1}} in written(graph, "nested")


class Sum(TypedDict, total=False):
    total: Annotated[list[int], operator.add]


def test_what_was_written_and_what_is_streamed_are_as_they_are_without_binding() -> None:
    builder: Any = StateGraph(Sum)
    builder.add_node("first", lambda _: {"total": [1]})
    builder.add_node("second", lambda _: Command(update={"total": [2]}))
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    told = []
    with KeepsetSaver("memory:") as saver:
        for graph in (saver.bind(builder.compile()), builder.compile()):
            streamed = graph.stream({"total": [0]}, CONFIG, stream_mode=["values", "updates"])
            told.append([*streamed])
    assert told[0] == told[1]
