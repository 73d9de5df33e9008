"""The worked example as people run it today: a LangGraph graph that stores all that it has."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

KEY = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z" * 2
"""A planted key: it has the format of one, and opens nothing."""
METADATA_KEY = "sk-ant-api03-" + "Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe" * 3
WORKDIR = "/tmp/agent-x91/work"  # noqa: S108 - nobody makes it


class Research(TypedDict, total=False):
    question: str
    doc_ids: list[str]
    docs: list[dict[str, Any]]
    db: str
    api_key: str
    payment: dict[str, Any]
    workdir: str
    messages: Annotated[list[Any], add_messages]


def graph(saver: Any, *, fails: bool = False) -> Any:
    """Make the graph; its last node raises an error that quotes the key where asked for."""

    def find(state: Research) -> Research:
        del state
        ids = [f"doc-{number}" for number in range(40)]
        docs = [{"id": one, "text": f"{one}: " + "the text of a document. " * 20} for one in ids]
        return {
            "doc_ids": ids,
            "docs": docs,
            "db": "<sqlite3.Connection object at 0x7f3a2b1c4d50>",
            "api_key": KEY,
            "workdir": WORKDIR,
        }

    def pay(state: Research) -> Research:
        del state
        return {"payment": {"attempts": 1, "charged": True}}

    def answer(state: Research) -> Research:
        del state
        if fails:
            raise RuntimeError(f"401 for key {KEY}")
        message = AIMessage(
            "An answer.",
            response_metadata={"model_name": "m", "headers": {"x": "y" * 300}},
            usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        )
        return {"messages": [message]}

    builder = StateGraph(Research)
    builder.add_node("find", find)
    builder.add_node("pay", pay)
    builder.add_node("answer", answer)
    builder.add_edge(START, "find")
    builder.add_edge("find", "pay")
    builder.add_edge("pay", "answer")
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=saver)


def fill(saver: Any, *, runs: int = 3, key_in_config: bool = True, fails: bool = False) -> None:
    """Run it so many times."""
    compiled = graph(saver, fails=fails)
    for number in range(runs):
        configurable = {"thread_id": f"ticket-{number}"}
        if key_in_config:
            configurable["openai_api_key"] = METADATA_KEY
        try:
            compiled.invoke(
                {"question": "Why is the sky blue?", "messages": [HumanMessage("Why?")]},
                {"configurable": configurable},
            )
        except RuntimeError:
            assert fails


def saver(**how: Any) -> InMemorySaver:
    """Give a saver in memory that holds such runs."""
    filled = InMemorySaver()
    fill(filled, **how)
    return filled
