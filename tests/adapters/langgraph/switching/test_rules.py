"""What is taken over goes through rules and detectors, and the graph is compared with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

import keepset as ks
from keepset.errors import PolicyError, SchemaError
from keepset.langgraph import KeepsetSaver
from tests.adapters.landed import held
from tests.adapters.langgraph.binding.stores import CONFIG, found
from tests.adapters.langgraph.graph.deploys import approve, in_a_row, review
from tests.scan.credentials import KINDS, Maker

KEY = KINDS["openai-project"](Maker(11))
PLAIN = "control-" + "".join(str(n) for n in range(40))
DOCS = [{"id": "a", "text": "the-whole-text-of-a-document"}]
CALLS: list[Any] = []


def load(ids: list[str]) -> list[dict[str, str]]:
    CALLS.append(ids)
    return [{"id": one, "text": DOCS[0]["text"]} for one in ids]


class Before(TypedDict, total=False):
    ids: list[str]
    docs: list[dict[str, str]]
    answer: Any
    key: str
    said: str


class After(TypedDict, total=False):
    ids: Annotated[list[str], ks.Keep()]
    docs: Annotated[list[dict[str, str]], ks.Refetch(load, using="ids", pin="refuse")]
    answer: Annotated[Any, ks.Extract("choices[0].text")]
    key: str
    said: str


def graph_of(state: Any, seen: list[Any]) -> Any:
    given = {
        "ids": ["a"],
        "docs": DOCS,
        "answer": {"choices": [{"text": "forty-two"}], "usage": "marked-as-left-out"},
        "key": KEY,
        "said": PLAIN,
    }

    def ask(state: Any) -> Any:
        seen.append(dict(state))
        return {"said": interrupt("?")}

    builder: Any = StateGraph(state)
    builder.add_node("first", lambda _: given)
    builder.add_node("ask", ask)
    builder.add_edge(START, "first")
    builder.add_edge("first", "ask")
    return builder


def everywhere(text: str, folder: Path) -> bool:
    """Tell whether a text is in the old database."""
    return any(text.encode() in path.read_bytes() for path in folder.glob("old.db*"))


def test_rules_and_detectors_apply_to_the_whole_history_and_to_who_resumes_it(
    tmp_path: Path,
) -> None:
    secret = {"configurable": {**CONFIG["configurable"], "openai_api_key": KEY, "user": "jane-d"}}
    seen: list[Any] = []
    with SqliteSaver.from_conn_string(str(tmp_path / "old.db")) as old:
        graph_of(Before, []).compile(checkpointer=old).invoke({}, secret)
        for text in (KEY, PLAIN, "marked-as-left-out", DOCS[0]["text"], "jane-d"):
            assert everywhere(text, tmp_path)
        with ks.open(f"sqlite:///{tmp_path / 'graph.db'}", compression=False) as store:
            keeper = KeepsetSaver(store, fallback=old)
            graph = keeper.bind(graph_of(After, seen).compile())
            CALLS.clear()
            state = graph.get_state(CONFIG).values
            assert (state["answer"], "docs" in state, CALLS) == ("forty-two", False, [])
            graph.invoke(Command(resume="yes"), CONFIG)
            assert CALLS == [["a"]]
        assert seen[0]["docs"] == DOCS
        assert seen[0]["answer"] == "forty-two"
    for text in (KEY, "marked-as-left-out", DOCS[0]["text"], "jane-d"):
        assert not found(text, tmp_path)
    assert found(PLAIN, tmp_path)
    with KeepsetSaver(f"sqlite:///{tmp_path / 'graph.db'}") as alone:
        history = list(alone.list(CONFIG))
    assert KEY not in repr(history)
    assert PLAIN in repr(history)
    assert {key for one in history for key in one.metadata} <= {"source", "step", "parents"}


def test_keys_of_metadata_that_were_asked_for_are_taken_over() -> None:
    old = InMemorySaver()
    config = {"configurable": {**CONFIG["configurable"], "user": PLAIN, "other": "x"}}
    graph_of(Before, []).compile(checkpointer=old).invoke({}, config)
    with KeepsetSaver("memory:", fallback=old, metadata_keys=["user"]) as keeper:
        graph: Any = keeper.bind(graph_of(After, []).compile())
        graph.update_state(CONFIG, {"said": "x"}, as_node="first")
        taken = list(keeper.list(CONFIG, filter={"user": PLAIN}))
        assert len(taken) == len(list(old.list(CONFIG)))
        assert "other" not in taken[0].metadata


def test_a_strict_store_refuses_what_does_not_belong_and_takes_nothing_over() -> None:
    old = InMemorySaver()
    graph_of(Before, []).compile(checkpointer=old).invoke({}, CONFIG)
    with ks.open("memory:", mode="strict") as store:
        graph = graph_of(Before, []).compile(checkpointer=KeepsetSaver(store, fallback=old))
        with pytest.raises(PolicyError, match="thread one: what does not belong"):
            graph.update_state(CONFIG, {"said": "x"}, as_node="first")
        assert held(store) == []


def test_a_graph_that_lost_the_paused_node_is_refused_and_takes_it_where_it_is_renamed(
    tmp_path: Path,
) -> None:
    old = InMemorySaver()
    in_a_row("approve", approve).compile(checkpointer=old).invoke({}, CONFIG)
    with KeepsetSaver(f"sqlite:///{tmp_path / 'graph.db'}", fallback=old) as keeper:
        compiled = in_a_row("review", review).compile()
        graph = keeper.bind(compiled)
        checker: Any = graph.checkpointer
        assert [one.code for one in checker.can_resume(CONFIG).reasons] == ["langgraph.node-gone"]
        with pytest.raises(SchemaError) as refused:
            graph.invoke(Command(resume="yes"), CONFIG)
        assert refused.value.code == "langgraph.node-gone"
        assert keeper.bind(in_a_row("approve", approve).compile()).get_state(CONFIG).next
        renamed = keeper.bind(compiled, renamed={"approve": "review"})
        assert renamed.invoke(Command(resume="yes"), CONFIG)["approved"] == "yes"
