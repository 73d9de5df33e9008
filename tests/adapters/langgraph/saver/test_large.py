"""Large content in messages is stored once for each run, whatever changes around it."""

from __future__ import annotations

import base64
import random
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.graph import START, StateGraph, add_messages

import keepset as ks
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.saver.steps import config

STEPS = 50
IMAGE = base64.b64encode(random.Random(1).randbytes(225 * 1024)).decode()  # noqa: S311 - no secret
OUTPUT = "".join(random.Random(2).choices("abcdefghij klmnop\n", k=100_000))  # noqa: S311 - the same


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    count: int


def question(number: int) -> HumanMessage:
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
    return HumanMessage([{"type": "text", "text": f"look {number}"}, image], id="question")


def output(number: int) -> ToolMessage:
    return ToolMessage(OUTPUT, tool_call_id="1", id="output", additional_kwargs={"n": number})


def step(state: State) -> Any:
    """Add a message, and change something beside the image and beside the tool's output."""
    number = state.get("count", 0)
    messages = [AIMessage(f"step {number}"), question(number), output(number)]
    return {"messages": messages, "count": number + 1}


def graph() -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("step", step)
    builder.add_conditional_edges(
        "step", lambda state: "step" if state["count"] < STEPS else "__end__"
    )
    builder.add_edge(START, "step")
    return builder


@pytest.mark.parametrize("bound", [True, False], ids=["bound", "not bound"])
def test_an_image_and_an_output_are_stored_once_in_fifty_steps_that_change_around_them(
    tmp_path: Path,
    bound: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    tmp_path.chmod(0o700)
    url = f"sqlite:///{tmp_path}/runs.db"
    at: Any = {**config("t"), "recursion_limit": STEPS + 5}
    with ks.open(url, compression=False) as store:
        saver = KeepsetSaver(store)
        made = saver.bind(graph().compile()) if bound else graph().compile(checkpointer=saver)
        made.invoke({"messages": [question(-1), output(-1)]}, at)
        history = [state.values for state in made.get_state_history(at)]
    size = sum(file.stat().st_size for file in tmp_path.iterdir())
    assert len(IMAGE) + len(OUTPUT) < size < 2 * (len(IMAGE) + len(OUTPUT))
    with ks.open(url) as store:
        assert store.verify().problems == ()
        saver = KeepsetSaver(store)
        saver.copy_thread("t", "copy")
        saver.prune(["t"])
        saver.delete_thread("copy")
        assert store.verify().problems == ()
        kept = graph().compile(checkpointer=saver).get_state(config("t")).values
    assert [values["count"] for values in history if "count" in values] == [*range(STEPS, 0, -1)]
    for values in (kept, *history[:-1]):
        number = values.get("count", 0) - 1
        changed = {message.id: message for message in values["messages"]}
        assert changed["question"] == question(number)
        assert changed["output"] == output(number)
