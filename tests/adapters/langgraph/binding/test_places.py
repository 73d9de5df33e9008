"""An error about a value of a bound graph says in which thread it came up, and of which node."""

from __future__ import annotations

import asyncio
import re
import threading
from typing import Annotated, Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

import keepset as ks
from keepset.adapters.langgraph.host import DeltaChannel
from keepset.errors import KeepsetError, PolicyError, SchemaError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.binding.stores import CONFIG, DURABILITIES
from tests.scan.credentials import KINDS, Maker


class State(TypedDict, total=False):
    a: Any
    log: Annotated[list[Any], lambda before, given: [*before, *given]]
    text: Annotated[Any, ks.Extract("text")]


def graph_of(node: Any, state: Any = State) -> Any:
    builder: Any = StateGraph(state)
    builder.add_node("draft", node)
    builder.add_node("next", lambda _: {})
    builder.add_edge(START, "draft")
    builder.add_edge("draft", "next")
    return builder.compile()


def bad() -> Any:
    return {"b": [1, threading.Lock()]}


def refused(graph: Any, given: Any, durability: Any = "async", config: Any = CONFIG) -> str:
    with pytest.raises(KeepsetError) as sync:
        graph.invoke(given, config, durability=durability)
    with pytest.raises(KeepsetError) as later:
        asyncio.run(graph.ainvoke(given, config, durability=durability))
    assert sync.value.code == later.value.code
    told, again = (re.sub(r":[0-9a-f-]{36}", ":…", one.value.message) for one in (sync, later))
    assert told == again
    return told


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize("written", ["a", "log"])
def test_what_a_node_returns_is_refused_with_the_thread_and_the_node(
    written: str, durability: Any
) -> None:
    value = [bad()] if written == "log" else bad()
    with KeepsetSaver("memory:") as saver:
        graph = saver.bind(graph_of(lambda _: {written: value}))
        message = refused(graph, {"log": []}, durability)
    assert message.startswith(f"thread one: node draft: {written}")
    assert ".b[1]: _thread.lock" in message


@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_node_is_not_named_for_what_another_one_has_put_in_place(durability: Any) -> None:
    def other(state: State) -> dict[str, Any]:
        state["a"]["b"] = [1, threading.Lock()]
        return {"log": ["done"]}

    builder: Any = StateGraph(State)
    builder.add_node("draft", lambda _: {"a": {}})
    builder.add_node("other", other)
    builder.add_edge(START, "draft")
    builder.add_edge("draft", "other")
    with KeepsetSaver("memory:") as saver:
        message = refused(saver.bind(builder.compile()), {"log": []}, durability)
    assert message.startswith("thread one: a.b[1]: _thread.lock")


@pytest.mark.skipif(DeltaChannel.__name__ == "_Absent", reason="this release of LangGraph has none")
def test_the_same_holds_for_a_channel_that_is_rebuilt() -> None:
    channel = DeltaChannel(lambda before, given: [*before, *(i for items in given for i in items)])
    state: Any = TypedDict("state", {"log": Annotated[list[Any], channel]})
    with KeepsetSaver("memory:") as saver:
        graph = saver.bind(graph_of(lambda _: {"log": [bad()]}, state))
        for durability in DURABILITIES:
            message = refused(graph, {"log": []}, durability)
            assert message.startswith("thread one: node draft: log[0].b[1]: _thread.lock")


def test_what_a_graph_inside_holds_is_refused_with_its_namespace_too() -> None:
    with KeepsetSaver("memory:") as saver:
        graph = saver.bind(graph_of(graph_of(lambda _: {"a": bad()})))
        for durability in DURABILITIES:
            message = refused(graph, {"log": []}, durability)
            assert re.match(r"thread one, namespace draft:…: node draft: a\.b\[1\]: ", message)


def test_what_comes_from_outside_is_refused_with_the_thread() -> None:
    def ask(_: Any) -> dict[str, Any]:
        return {"a": interrupt("?")}

    with KeepsetSaver("memory:") as saver:
        graph = saver.bind(graph_of(ask))
        assert refused(graph, {"a": bad()}).startswith("thread one: a.b[1]: _thread.lock")
        assert refused(graph, {"text": {"no": 1}}).startswith("thread one: text")
        graph.invoke({"log": []}, CONFIG)
        update: Any = Command(resume="x", update={"a": bad()})
        assert refused(graph, update).startswith("thread one: a.b[1]: _thread.lock")
        with pytest.raises(PolicyError, match=r"^thread one: (node draft: )?a\.b\[1\]: _thread"):
            graph.update_state(CONFIG, {"a": bad()}, as_node="draft")


def test_two_threads_at_a_time_are_told_apart() -> None:
    with KeepsetSaver("memory:") as saver:
        graph = saver.bind(graph_of(lambda state: {"a": state["a"] or bad()}))

        def steps(thread: str, given: Any) -> Any:
            config: Any = {"configurable": {"thread_id": thread}}
            return graph.stream({"a": given}, config, stream_mode="values")

        one, other = steps("one", None), steps("two", 1)
        next(one)
        next(other)
        with pytest.raises(PolicyError, match=r"^thread one: node draft: a\.b"):
            list(one)
        assert list(other)


def test_a_threads_name_that_is_itself_a_secret_is_masked() -> None:
    key = KINDS["openai-project"](Maker(7))
    with KeepsetSaver("memory:") as saver:
        graph = saver.bind(graph_of(lambda _: {"a": bad()}))
        message = refused(graph, {"log": []}, config={"configurable": {"thread_id": key}})
    assert "node draft: a.b[1]" in message
    assert key not in message


def test_a_question_that_has_changed_is_refused_with_its_thread() -> None:
    asked = ["one", "another"]
    with KeepsetSaver("memory:") as saver:
        graph: Any = saver.bind(graph_of(lambda _: {"a": interrupt(asked.pop(0))}))
        graph.invoke({"log": []}, CONFIG)
        with pytest.raises(SchemaError, match=r"^thread one, node draft, interrupt 0: "):
            graph.invoke(Command(resume="yes"), CONFIG)


class Failing:
    """What nothing can be extracted from."""

    @property
    def text(self) -> str:
        raise LookupError


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize(
    "given", [{"text": Failing()}, Command(update={"text": Failing()})], ids=["dict", "command"]
)
def test_what_nothing_can_be_extracted_from_is_refused_with_the_thread_and_the_node(
    given: Any, durability: Any
) -> None:
    with KeepsetSaver("memory:") as saver:
        graph = saver.bind(graph_of(lambda _: given))
        message = refused(graph, {"log": []}, durability)
        assert message.startswith("thread one: node draft: text: ")
        outer = saver.bind(graph_of(graph_of(lambda _: given)))
        inside = refused(outer, {"log": []}, durability, {"configurable": {"thread_id": "two"}})
    assert inside.startswith("thread two, namespace draft:…: node draft: text: ")


def test_an_update_that_nothing_can_be_extracted_from_is_refused_in_the_same_way() -> None:
    with KeepsetSaver("memory:") as saver:
        graph: Any = saver.bind(graph_of(lambda _: {}))
        graph.invoke({"log": []}, CONFIG)
        with pytest.raises(PolicyError, match="thread one: node next: text: "):
            graph.update_state(CONFIG, {"text": Failing()}, as_node="next")
