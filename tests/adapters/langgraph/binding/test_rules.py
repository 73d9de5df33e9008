"""What a rule leaves out is left out before the next node sees the state, and of every row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import PIIMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, convert_to_messages
from langgraph.graph import START, StateGraph, add_messages
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from keepset import Drop, Extract, Keep
from keepset.adapters.langgraph.host import Overwrite
from keepset.adapters.langgraph.saver import KeepsetSaver
from keepset.errors import PolicyError
from tests.adapters.langgraph.binding.stores import CONFIG, DURABILITIES, found, saver

WHOLE = {"choices": [{"text": "forty-two"}], "usage": "marked-as-left-out"}


def shout(value: Any) -> str:
    return str(value["choices"][0]["text"]).upper()


class State(TypedDict, total=False):
    answer: Annotated[Any, Extract("choices[0].text")]
    loud: Annotated[str, Extract(shout)]
    messages: Annotated[list[AnyMessage], Keep(without="*.response_metadata"), add_messages]
    draft: Annotated[str, Drop(default="none")]
    gone: Annotated[str, Drop()]
    kept: str


def graph_of(first: Any, seen: list[Any], second: Any = None) -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("first", first)
    builder.add_node("second", second or (lambda state: seen.append(dict(state))))
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    return builder.compile()


GIVEN: dict[str, Any] = {
    "answer": WHOLE,
    "loud": WHOLE,
    "messages": [AIMessage("hi", id="1", response_metadata={"model": "marked-as-left-out"})],
    "draft": "marked-as-left-out",
    "gone": "marked-as-left-out",
    "kept": "marked-by-a-control",
}
SHAPED: dict[str, Any] = {
    "answer": "forty-two",
    "loud": "FORTY-TWO",
    "messages": [AIMessage("hi", id="1", response_metadata={})],
    "draft": "none",
    "kept": "marked-by-a-control",
}


@pytest.mark.parametrize("durability", DURABILITIES)
def test_the_next_node_sees_what_a_resumed_one_would_see(durability: Any, tmp_path: Path) -> None:
    seen: list[Any] = []

    def second(state: State) -> None:
        seen.append(dict(state))
        interrupt("?")

    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of(lambda _: GIVEN, seen, second))
        graph.invoke({"kept": "x"}, CONFIG, durability=durability)
        graph.invoke(Command(resume=1), CONFIG, durability=durability)
    assert seen == [SHAPED, SHAPED]
    assert not found("marked-as-left-out", tmp_path)
    assert found("marked-by-a-control", tmp_path)


@pytest.mark.parametrize("durability", DURABILITIES)
def test_the_same_holds_for_what_a_graph_is_called_with(durability: Any, tmp_path: Path) -> None:
    seen: list[Any] = []
    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of(lambda _: None, seen))
        graph.invoke(GIVEN, CONFIG, durability=durability)
    assert seen == [SHAPED]
    assert not found("marked-as-left-out", tmp_path)
    assert found("marked-by-a-control", tmp_path)


def test_the_same_holds_for_a_command_that_resumes_and_for_update_state(tmp_path: Path) -> None:
    seen: list[Any] = []
    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of(lambda _: {"kept": interrupt("?")}, seen))
        graph.invoke({"kept": "x"}, CONFIG)
        graph.invoke(Command(resume="marked-by-a-control", update=GIVEN), CONFIG)
        assert seen == [SHAPED]
        graph.update_state(CONFIG, {"answer": WHOLE, "draft": "marked-as-left-out"})
        assert graph.get_state(CONFIG).values["answer"] == "forty-two"
    assert not found("marked-as-left-out", tmp_path)
    assert found("marked-by-a-control", tmp_path)


def test_what_a_task_wrote_before_its_step_failed_is_stored_as_it_enters_the_state(
    tmp_path: Path,
) -> None:
    def fails(_: State) -> None:
        message = "not today"
        raise RuntimeError(message)

    builder: Any = StateGraph(State)
    builder.add_node("gives", lambda _: GIVEN)
    builder.add_node("fails", fails)
    builder.add_edge(START, "gives")
    builder.add_edge(START, "fails")
    with saver(tmp_path) as keeper:
        graph: Any = keeper.bind(builder.compile())
        with pytest.raises(RuntimeError):
            graph.invoke({"kept": "x"}, CONFIG)
        writes = {channel: value for _, channel, value in graph.checkpointer.get_tuple(CONFIG)[4]}
        assert writes["answer"] == "forty-two"
        assert writes["loud"] == "FORTY-TWO"
        assert "draft" not in writes
    assert not found("marked-as-left-out", tmp_path)
    assert found("marked-by-a-control", tmp_path)


def test_a_node_that_gives_back_its_whole_state_does_not_extract_twice() -> None:
    seen: list[Any] = []
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of(lambda _: GIVEN, seen, lambda state: {**state}))
        assert graph.invoke({"kept": "x"}, CONFIG) == SHAPED


@pytest.mark.skipif(Overwrite.__name__ != "Overwrite", reason="this release cannot overwrite")
def test_a_value_that_overwrites_what_a_reducer_has_is_shaped_as_well() -> None:
    seen: list[Any] = []
    messages = [HumanMessage("new", id="2", response_metadata={"model": "m"})]
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of(lambda _: {"messages": Overwrite(messages)}, seen))
        graph.invoke(GIVEN, CONFIG)
    assert seen[0]["messages"] == [HumanMessage("new", id="2", response_metadata={})]


def test_one_message_that_a_reducer_adds_to_a_list_is_shaped_as_one_of_it() -> None:
    seen: list[Any] = []
    message = AIMessage("hi", id="1", response_metadata={"model": "m"})
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of(lambda _: {"messages": message}, seen))
        graph.invoke({"kept": "x"}, CONFIG)
    assert seen[0]["messages"] == SHAPED["messages"]
    assert message.response_metadata == {"model": "m"}


def test_a_path_that_leads_nowhere_fails_the_node_that_gave_the_value() -> None:
    @dataclass
    class Other:
        text: str

    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of(lambda _: {"answer": {"other": Other("x")}}, []))
        with pytest.raises(PolicyError) as error:
            graph.invoke({"kept": "x"}, CONFIG)
    assert error.value.code == "extract.path"


ADDRESS = "jane.doe@example.org"


def redacted(given: Any) -> list[AnyMessage]:
    """Messages without addresses, of whatever LangGraph takes for messages."""
    messages: Any = convert_to_messages(given if isinstance(given, list) else [given])
    return [
        message.model_copy(update={"content": re.sub(r"\S+@\S+", "[address]", message.text)})
        for message in messages
    ]


class Redacted(AgentState[Any]):
    messages: Annotated[list[AnyMessage], Extract(redacted), add_messages]


class Model(GenericFakeChatModel):
    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


@pytest.mark.skipif(
    version("langchain").startswith("1.0."),
    reason="it merges the schemas of an agent in any order, and a rule may get lost",
)
@pytest.mark.parametrize("ruled", [False, True], ids=["middleware alone", "with the rule"])
def test_a_rule_keeps_out_of_every_row_what_middleware_redacts_too_late(
    ruled: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
) -> None:
    model = Model(messages=iter([AIMessage(f"I wrote to {ADDRESS}")]))
    options: dict[str, Any] = {"state_schema": Redacted} if ruled else {}
    middleware = [PIIMiddleware("email", strategy="redact", apply_to_output=True)]
    agent = create_agent(model, [], middleware=middleware, **options)
    with saver(tmp_path) as keeper:
        graph = keeper.bind(agent)
        said = graph.invoke({"messages": [{"role": "user", "content": f"Mail {ADDRESS}"}]}, CONFIG)
    assert ADDRESS not in str(said["messages"])
    assert found(ADDRESS, tmp_path) is not ruled
    assert found("I wrote to", tmp_path)
