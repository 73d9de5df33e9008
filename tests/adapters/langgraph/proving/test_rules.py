"""Rules of a life stand in place of the declared ones, on every graph and every surface."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Annotated, Any

import pytest
from langgraph.channels import UntrackedValue
from langgraph.graph import START
from typing_extensions import TypedDict

import keepset as ks
from keepset.contracts import Rule
from keepset.prove.leaving import LeftOut
from keepset.prove.ports import Life
from keepset.prove.watch import Halted, Watch
from tests.adapters.langgraph.proving import graphs
from tests.adapters.langgraph.proving.proofs import Proof, texts

INDEX: dict[str, str] = {}


def load(ids: list[str]) -> list[str]:
    return [INDEX[name] for name in ids]


class Connection:
    """A live handle, which no store takes."""

    def __reduce__(self) -> Any:
        raise TypeError


@ks.contract(name="desk", epoch=1)
class Desk(TypedDict, total=False):
    ids: Annotated[list[str], ks.Keep(), operator.add]
    docs: Annotated[list[str], ks.Refetch(load, using="ids")]
    key: Annotated[str, ks.Secret("env:DESK_KEY")]
    db: Annotated[Connection, ks.Reopen(Connection)]
    folder: Annotated[str, ks.Scratch(lambda: "fresh folder")]
    note: Annotated[str, ks.Drop(default="no note")]
    live: Annotated[Any, UntrackedValue]
    seen: list[str]


def gather(_: Desk) -> Desk:
    docs = load(["a"])
    return {"ids": ["a"], "docs": docs, "note": "a note", "folder": "first folder", "live": "on"}


def read(state: Desk) -> Desk:
    own = [state.get("key", "none"), state.get("folder", "none"), state.get("note", "none")]
    return {"seen": [*state.get("docs", ["none"]), *own, str(state.get("live", "off"))]}


def desk() -> Any:
    builder = graphs.of(Desk, {"gather": gather, "read": read})
    builder.add_edge(START, "gather")
    builder.add_edge("gather", "read")
    return builder


@pytest.fixture
def proof(monkeypatch: pytest.MonkeyPatch) -> Proof:
    monkeypatch.setenv("DESK_KEY", "the-key-of-the-desk")
    monkeypatch.setitem(INDEX, "a", "text of a")
    return Proof(desk, {"key": "the-key-of-the-desk", "db": Connection()})


def seen(proof: Proof, point: str | None, **rules: Rule) -> tuple[list[str], set[str]]:
    """Live to a point, and on from it; gives what the last node saw, and what was told of it."""
    return seen_by(proof, point, rules, rules)


def seen_by(
    proof: Proof, point: str | None, rules: Mapping[str, Rule], later: Mapping[str, Rule]
) -> tuple[list[str], set[str]]:
    """See `seen`; the second life has rules of its own."""
    watch, ended = Watch(point), None
    given = {name: field.rule for name, field in proof.target.fields.items()} | dict(rules)
    script = proof.experiment.script
    with ks.open("memory:") as store:
        try:
            state = proof.target.live(Life(store, given, script), watch)
        except Halted:
            ended = watch.progress
        if ended is not None:
            INDEX["a"] = "another text"
            watch = Watch(None)
            life = Life(store, {**given, **later}, script, ended)
            state = proof.target.live(life, watch)
    return list(state["seen"]), watch.changed


def test_declared_rules_restore_as_they_do_in_a_run_of_its_own(proof: Proof) -> None:
    found, changed = seen(proof, "after gather")
    assert found == ["another text", "the-key-of-the-desk", "fresh folder", "no note", "off"]
    assert changed == set()


def test_what_a_pinned_refetch_brings_back_otherwise_is_told(proof: Proof) -> None:
    pinned = ks.Refetch(load, using="ids", pin="report")
    found, changed = seen(proof, "after gather", docs=pinned)
    assert found[0] == "another text"
    assert changed == {"docs"}


def test_what_is_kept_instead_is_there_as_it_was(proof: Proof) -> None:
    kept = ks.Keep(secrets="allow")
    rules = dict.fromkeys(("docs", "key", "folder", "note"), kept)
    found, changed = seen(proof, "after gather", **rules)
    assert found == ["text of a", "the-key-of-the-desk", "first folder", "a note", "off"]
    assert changed == set()


def test_what_langgraph_does_not_track_is_kept_by_no_rule(proof: Proof) -> None:
    assert seen(proof, None, live=ks.Keep())[0][-1] == "on"
    assert seen(proof, "after gather", live=ks.Keep())[0][-1] == "off"


def test_a_field_that_is_left_out_is_restored_by_nothing(proof: Proof) -> None:
    rules = dict.fromkeys(("docs", "key", "folder", "note"), LeftOut())
    assert seen(proof, None, **rules)[0][0] == "text of a"
    assert seen(proof, "after gather", **rules)[0] == ["none", "none", "none", "none", "off"]


def test_what_the_life_before_has_stored_is_left_out_as_well(proof: Proof) -> None:
    names = ("docs", "key", "folder", "note")
    kept: dict[str, Rule] = dict.fromkeys(names, ks.Keep(secrets="allow"))
    left: dict[str, Rule] = dict.fromkeys(names, LeftOut())
    assert seen_by(proof, "after gather", kept, left)[0] == [*4 * ["none"], "off"]
    assert seen_by(proof, "after gather", {}, left)[0] == [*4 * ["none"], "off"]


class Around(TypedDict, total=False):
    ids: list[str]
    docs: Annotated[list[str], ks.Refetch(load, using="ids")]
    seen: list[str]


class Reader(TypedDict, total=False):
    ids: list[str]
    docs: list[str]
    seen: list[str]


class Handed(TypedDict, total=False):
    docs: list[str]
    seen: list[str]


def reading(state: Any) -> Any:
    """Make a graph whose node is a graph that reads what the outer one has loaded."""
    nodes = {"wait": {}, "read": lambda state: {"seen": state["docs"]}}
    reader = graphs.of(state, nodes)
    reader.add_edge(START, "wait")
    reader.add_edge("wait", "read")
    builder = graphs.of(Around, {"gather": {"ids": ["a"], "docs": ["text of a"]}})
    builder.add_node("reader", reader.compile())
    builder.add_edge(START, "gather")
    builder.add_edge("gather", "reader")
    return builder


@pytest.mark.parametrize("inner", [Reader, Handed])
def test_a_graph_inside_has_the_rule_of_a_field_that_it_shares(
    inner: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(INDEX, "a", "text of a")
    proof = Proof(lambda: reading(inner), {"seen": []})
    assert list(proof.target.fields) == ["ids", "docs", "seen"]
    declared = proof.outcome("after reader.wait", by_rule=frozenset({"docs"}))
    assert texts(declared, "seen") == ["text of a"]
    missing = proof.outcome("after reader.wait", "docs").failure
    assert missing is not None
    assert (missing.kind, missing.steps) == ("KeyError", ("reader.read",))
