"""What is found on the way to the store is told once, by the keys of the state, with a way out."""

from __future__ import annotations

import logging
import threading
from typing import Annotated, Any, TypedDict

import pytest

pytest.importorskip("langgraph")

from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send

import keepset as ks
from keepset.errors import PolicyError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.binding.stores import CONFIG, DURABILITIES
from tests.scan.credentials import KINDS, Maker

KEY = KINDS["openai-project"](Maker(7))
BIND = "saver.bind(graph)"


class State(TypedDict, total=False):
    user: Annotated[Any, ks.Keep()]
    open: Annotated[Any, ks.Keep(secrets="allow")]
    never: Annotated[Any, ks.Keep(secrets="refuse")]


def graph_of(saver: KeepsetSaver, node: Any = lambda _: {}, *, bound: bool = True) -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("first", node)
    builder.add_node("second", lambda _: {})
    builder.add_edge(START, "first")
    graph = builder.compile(checkpointer=None if bound else saver)
    return saver.bind(graph) if bound else graph


def told(caplog: pytest.LogCaptureFixture, kind: str = "secret.") -> list[str]:
    return [r.getMessage() for r in caplog.records if f": {kind}" in r.getMessage()]


@pytest.mark.parametrize("bound", [True, False])
@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_secret_in_the_input_is_told_once_by_its_key(
    caplog: pytest.LogCaptureFixture, durability: Any, *, bound: bool
) -> None:
    with KeepsetSaver("memory:") as saver, caplog.at_level(logging.WARNING, "keepset"):
        graph = graph_of(saver, bound=bound)
        graph.invoke({"user": {"api_key": KEY}}, CONFIG, durability=durability)
        (line,) = told(caplog)
        assert " at user.api_key " in line
        assert 'Keep(without="api_key")' in line
        assert "__start__" not in line
        assert (BIND in line) is not bound


def test_what_is_sent_is_told_once_and_advised_on_by_its_key(
    caplog: pytest.LogCaptureFixture,
) -> None:
    sent = Send("second", {"item": {"api_key": KEY}})
    with KeepsetSaver("memory:") as saver, caplog.at_level(logging.WARNING, "keepset"):
        graph_of(saver, lambda _: Command(goto=[sent, sent])).invoke({"user": "x"}, CONFIG)
        (line,) = told(caplog)
    assert "item.api_key" in line
    assert "Keep it out of item and" in line


@pytest.mark.parametrize("bound", [True, False])
def test_a_refusal_of_the_input_names_its_key_and_bind_where_rules_are_not_read(
    *, bound: bool
) -> None:
    with KeepsetSaver("memory:", mode="strict") as saver:
        graph = graph_of(saver, bound=bound)
        with pytest.raises(PolicyError, match=r": user\.api_key: secret\.format") as refused:
            graph.invoke({"user": {"api_key": KEY}}, CONFIG)
    assert "Keep it out of user" in refused.value.hint
    assert "__start__" not in str(refused.value)
    assert (BIND in refused.value.hint) is not bound


@pytest.mark.parametrize("bound", [True, False])
@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_handle_in_the_input_is_refused_by_its_key(durability: Any, *, bound: bool) -> None:
    with KeepsetSaver("memory:") as saver:
        graph = graph_of(saver, bound=bound)
        with pytest.raises(PolicyError, match=r"user\[1\]\.lock: _thread\.lock") as refused:
            graph.invoke({"user": [1, {"lock": threading.Lock()}]}, CONFIG, durability=durability)
    assert "__start__" not in str(refused.value)


def test_the_rule_of_a_key_holds_for_what_the_input_has_in_it() -> None:
    with KeepsetSaver("memory:") as saver:
        graph = graph_of(saver)
        graph.invoke({"open": {"token": KEY}}, CONFIG, durability="sync")
        entered = [*graph.checkpointer.list(CONFIG)][-1].checkpoint["channel_values"]
        assert entered["__start__"]["open"] == {"token": KEY}
        with pytest.raises(PolicyError, match=r"never\.token"):
            graph.invoke({"never": {"token": KEY}}, {"configurable": {"thread_id": "other"}})


def test_the_marker_in_the_input_says_where_the_state_has_the_secret() -> None:
    with KeepsetSaver("memory:") as saver:
        graph = graph_of(saver)
        graph.invoke({"user": {"api_key": KEY}}, CONFIG, durability="sync")
        entered = [*graph.checkpointer.list(CONFIG)][-1].checkpoint["channel_values"]["__start__"]
        with pytest.raises(PolicyError, match=r"^user\.api_key: the value was withheld"):
            str(entered["user"]["api_key"])


def test_a_key_of_the_input_that_is_itself_a_secret_is_told_without_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with KeepsetSaver("memory:") as saver, caplog.at_level(logging.WARNING, "keepset"):
        graph_of(saver).invoke({"user": {KEY: 1}}, CONFIG)
    assert told(caplog)
    assert KEY not in caplog.text
