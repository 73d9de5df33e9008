"""Rules reach a state that is an instance where it is stored whole: as input, sent, handed in."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, make_dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

import keepset as ks
from keepset import Drop, Extract, Keep, Refetch, Reopen, Scratch, Secret
from keepset.adapters.langgraph.host import DeltaChannel
from keepset.adapters.langgraph.saver import KeepsetSaver
from keepset.errors import PolicyError
from tests.adapters.langgraph.binding.stores import CONFIG, DURABILITIES, found, saver

KEY = "marked-as-a-secret-of-the-environment"
KEPT = "marked-by-a-control"
HIDDEN = (KEY, "marked-as-fetched", "marked-as-temporary", "marked-as-draft", "marked-as-left-out")
Ids = Annotated[list[str], Keep()]


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPSET_TEST_KEY", KEY)


def load(ids: list[str]) -> list[str]:
    return [f"marked-as-fetched {one}" for one in ids]


Docs = Annotated[Any, Refetch(load, using="ids")]
Db = Annotated[Any, Reopen(threading.Lock)]
Key = Annotated[Any, Secret("env:KEEPSET_TEST_KEY")]
Place = Annotated[Any, Scratch(lambda: "a fresh place")]
Draft = Annotated[Any, Drop(default="none")]
Reply = Annotated[Any, Extract("choices[0].text")]


class AsMapping(TypedDict, total=False):
    ids: Ids
    docs: Docs
    db: Db
    key: Key
    place: Place
    draft: Draft
    reply: Reply


@dataclass
class AsDataclass:
    ids: Ids = field(default_factory=list)
    docs: Docs = None
    db: Db = None
    key: Key = None
    place: Place = None
    draft: Draft = None
    reply: Reply = None


@dataclass(frozen=True, slots=True)
class AsFrozen:
    ids: Ids = field(default_factory=list)
    docs: Docs = None
    db: Db = None
    key: Key = None
    place: Place = None
    draft: Draft = None
    reply: Reply = None


class AsModel(BaseModel):
    model_config = ConfigDict(frozen=True)
    ids: Ids = []
    docs: Docs = None
    db: Db = None
    key: Key = None
    place: Place = None
    draft: Draft = None
    reply: Reply = None


STATES: list[Any] = [AsMapping, AsDataclass, AsFrozen, AsModel]


def given() -> dict[str, Any]:
    return {
        "ids": [KEPT],
        "docs": load([KEPT]),
        "db": threading.Lock(),
        "key": KEY,
        "place": "marked-as-temporary",
        "draft": "marked-as-draft",
        "reply": {"choices": [{"text": "forty-two"}], "usage": "marked-as-left-out"},
    }


def shown(state: Any) -> dict[str, Any]:
    """What a node was given, with a handle as what it is."""
    read = state.get if isinstance(state, dict) else partial(getattr, state)
    values = {name: read(name) for name in AsMapping.__annotations__}
    return {**values, "db": type(values["db"])}


RESTORED = {
    **given(),
    "db": type(threading.Lock()),
    "place": "a fresh place",
    "draft": "none",
    "reply": "forty-two",
}


def graph_of(state: Any, node: Any) -> Any:
    builder: Any = StateGraph(state)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    return builder.compile()


def nothing_is_found(folder: Path) -> bool:
    return found(KEPT, folder) and not any(found(text, folder) for text in HIDDEN)


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize("state", STATES)
def test_the_rules_of_a_graph_reach_an_input_that_is_an_instance(
    state: Any, durability: Any, tmp_path: Path
) -> None:
    seen: list[Any] = []

    def node(now: Any) -> None:
        seen.append(now)
        interrupt("?")

    with saver(tmp_path) as keeper:
        graph = keeper.bind(graph_of(state, node))
        graph.invoke(state(**given()), CONFIG, durability=durability)
        graph.invoke(Command(resume="yes"), CONFIG, durability=durability)
    assert nothing_is_found(tmp_path)
    first, resumed = seen
    assert type(first) is type(resumed)
    assert shown(first) == {**RESTORED, "place": "marked-as-temporary"}
    assert shown(resumed) == RESTORED


@pytest.mark.parametrize("state", STATES)
def test_a_run_that_begins_again_from_its_input_has_all_fields_of_the_instance(state: Any) -> None:
    seen: list[Any] = []
    with KeepsetSaver("memory:") as keeper:
        graph: Any = keeper.bind(graph_of(state, seen.append))
        graph.invoke(state(**given()), CONFIG)
        first = [s for s in graph.get_state_history(CONFIG) if s.metadata["source"] == "input"]
        graph.invoke(None, first[-1].config)
    assert shown(seen[1]) == RESTORED


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize("state", STATES)
def test_an_instance_that_is_sent_comes_back_as_one_with_its_fields_restored(
    state: Any, durability: Any, tmp_path: Path
) -> None:
    seen: list[Any] = []

    def work(now: Any) -> None:
        seen.append(now)
        interrupt("?")

    builder: Any = StateGraph(AsMapping)
    builder.add_node("plan", lambda _: None)
    builder.add_node("work", work, input_schema=state)
    builder.add_edge(START, "plan")
    sent = {**given(), "reply": "forty-two"}
    builder.add_conditional_edges("plan", lambda _: Send("work", state(**sent)), ["work"])
    with saver(tmp_path) as keeper:
        graph = keeper.bind(builder.compile())
        graph.invoke({"ids": ["a"], "place": "marked-as-temporary"}, CONFIG, durability=durability)
        graph.invoke(Command(resume="yes"), CONFIG, durability=durability)
    assert nothing_is_found(tmp_path)
    first, resumed = seen
    assert type(first) is type(resumed)
    assert shown(first)["place"] == "marked-as-temporary"
    assert shown(resumed) == RESTORED


@dataclass
class Sent:
    ids: Ids
    place: Annotated[Any, Scratch(dict)]
    other: Annotated[Any, Drop()]


class Narrow(TypedDict, total=False):
    ids: Ids


def test_a_field_of_a_sent_instance_that_nothing_restores_says_so_when_it_is_used() -> None:
    seen: list[Any] = []

    def work(now: Sent) -> None:
        seen.append(now)
        if interrupt("?"):
            str(now.other)

    builder: Any = StateGraph(Narrow)
    builder.add_node("plan", lambda _: None)
    builder.add_node("work", work, input_schema=Sent)
    builder.add_edge(START, "plan")
    sent = Sent(["a"], {}, "not stored")
    builder.add_conditional_edges("plan", lambda _: Send("work", sent), ["work"])
    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(builder.compile())
        graph.invoke({"ids": ["a"]}, CONFIG)
        with pytest.raises(PolicyError) as error:
            graph.invoke(Command(resume="yes"), CONFIG)
    assert error.value.code == "restore.not-stored"
    assert type(seen[1]) is Sent
    assert seen[0].other == "not stored"


def asks(now: Any) -> dict[str, Any]:
    return {"ids": [*now["ids"], interrupt("?")]}


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize("how", ["given", "written"])
@pytest.mark.parametrize("state", STATES)
def test_what_a_state_around_does_not_store_lies_in_no_graph_inside_it(
    state: Any, how: str, durability: Any, tmp_path: Path
) -> None:
    builder: Any = StateGraph(state)
    builder.add_node("first", lambda _: given() if how == "written" else None)
    builder.add_node("inner", graph_of(Narrow, asks))
    builder.add_edge(START, "first")
    builder.add_edge("first", "inner")
    with saver(tmp_path) as keeper:
        graph = keeper.bind(builder.compile())
        entering = state(**given()) if how == "given" else state(ids=["a"])
        graph.invoke(entering, CONFIG, durability=durability)
        out = graph.invoke(Command(resume="yes"), CONFIG, durability=durability)
    assert out["ids"] == [KEPT, "yes"]
    assert nothing_is_found(tmp_path)


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize("state", STATES)
def test_nor_in_a_graph_that_was_bound_by_itself_and_is_called_with_all_of_the_state(
    state: Any, durability: Any, tmp_path: Path
) -> None:
    with saver(tmp_path) as keeper:
        inner = keeper.bind(graph_of(Narrow, asks))

        def calls(now: Any) -> Any:
            if isinstance(now, dict):  # a handle that nothing there leaves out is refused
                now = {name: value for name, value in now.items() if name != "db"}
            return inner.invoke(now)

        graph = keeper.bind(graph_of(state, calls))
        graph.invoke(state(**given()), CONFIG, durability=durability)
        out = graph.invoke(Command(resume="yes"), CONFIG, durability=durability)
    assert out["ids"] == [KEPT, "yes"]
    assert nothing_is_found(tmp_path)


@dataclass
class Order:
    number: int


@dataclass
class Ordering:
    ids: Ids = field(default_factory=list)
    order: Order | None = None


class Anything(TypedDict, total=False):
    order: Any


def test_a_graph_inside_knows_the_classes_that_the_one_around_it_names() -> None:
    seen: list[Any] = []

    def inside(now: Any) -> None:
        seen.append(now["order"])
        interrupt("?")

    with KeepsetSaver("memory:") as keeper:
        graph = keeper.bind(graph_of(Ordering, graph_of(Anything, inside)))
        graph.invoke(Ordering(order=Order(7)), CONFIG)
        graph.invoke(Command(resume="yes"), CONFIG)
    assert seen == [Order(7), Order(7)]


class Usual(BaseModel):
    ids: list[str] | None = None
    note: str | None = "usual"
    other: str | None = None


@pytest.mark.parametrize(
    "entering", [Usual(), Usual(ids=None, note=None), Usual(ids=["a"]), Usual(other="x")]
)
def test_an_instance_updates_the_state_as_it_does_with_another_saver(entering: Any) -> None:
    told: list[Any] = []

    def node(now: Any) -> None:
        told.append(now)

    with KeepsetSaver("memory:") as keeper:
        graphs = [keeper.bind(graph_of(Usual, node)), graph_of(Usual, node)]
        graphs[1].checkpointer = InMemorySaver()
        values = []
        for graph in graphs:
            graph.invoke({"ids": ["before"], "note": "before", "other": "before"}, CONFIG)
            graph.invoke(entering, CONFIG)
            values.append(graph.get_state(CONFIG).values)
    assert values[0] == values[1]
    assert told[:2] == told[2:]


@pytest.mark.skipif(DeltaChannel.__name__ == "_Absent", reason="this release has none")
def test_what_an_instance_gives_to_a_channel_that_is_rebuilt_is_stored_as_it_was_given() -> None:
    def joined(before: Any, new: Any) -> Any:
        return [*(before or []), *(item for items in new for item in items)]

    rebuilt = Annotated[list[Any], DeltaChannel(joined)]
    logged = make_dataclass("Logged", [("log", rebuilt, None)])

    def node(now: Any) -> None:
        now.log[0]["n"] = 99

    for durability in DURABILITIES:
        with KeepsetSaver("memory:") as keeper:
            graph: Any = keeper.bind(graph_of(logged, node))
            graph.invoke(logged([{"n": 1}]), CONFIG, durability=durability)
            assert graph.get_state(CONFIG).values["log"] == [{"n": 1}]


@pytest.mark.parametrize("state", STATES)
def test_an_input_that_another_saver_has_stored_is_taken_over_by_the_rules(
    state: Any, tmp_path: Path
) -> None:
    before: Any = InMemorySaver()
    kept = {name: value for name, value in given().items() if name != "db"}
    plain: Any = graph_of(state, lambda _: None)
    plain.checkpointer = before
    plain.invoke(state(**kept), CONFIG)
    with ks.open(f"sqlite:///{tmp_path / 'graph.db'}", compression=False) as store:
        keeper = KeepsetSaver(store, fallback=before)
        graph: Any = keeper.bind(graph_of(state, lambda _: None))
        graph.update_state(CONFIG, {"ids": [KEPT]})
    assert nothing_is_found(tmp_path)
