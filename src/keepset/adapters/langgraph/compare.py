"""May a graph go on with what another graph, or an older one, has left?

Compared are the graph that wrote a checkpoint, the one that is to go on, and where the thread
stands: what the run cannot reach from there does not matter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from keepset.adapters.langgraph.graph import BRANCH, Structure, own_structure
from keepset.adapters.langgraph.needs import Needs
from keepset.adapters.langgraph.renaming import Renames
from keepset.adapters.langgraph.standing import Task
from keepset.contracts import Contract, compare
from keepset.contracts.structure import canonical
from keepset.errors import SchemaError
from keepset.verdict.resume import Reason
from keepset.verdict.status import Resume

JOIN: Final = "join:"
_LIKE: Final = frozenset({("BinaryOperatorAggregate", "DeltaChannel")})
"""Kinds of which the second reads what the first has stored."""
_OLD_CODE: Final = "finish the thread with the code that wrote it"


@dataclass(frozen=True)
class Present:
    """A graph that is to go on with threads.

    Attributes:
        structure: What it is.
        contract: Its rules.
        needs: What its nodes need.
        renames: Which of its nodes had other names.
    """

    structure: Structure
    contract: Contract
    needs: Needs
    renames: Renames


@dataclass(frozen=True)
class Standing:
    """Where a thread stands.

    Attributes:
        old: The graph that wrote it; None where it was written by a saver that was not bound.
        tasks: What is next.
        values: The channels that have a value.
        given: The fields that have one, or will by what is written already.
    """

    old: Structure | None
    tasks: tuple[Task, ...]
    values: Mapping[str, Any]
    given: frozenset[str]


def reasons(at: Standing, now: Present) -> Iterator[Reason]:
    """Say what stands between a thread and a graph, and what changes on the way.

    Nothing that the thread has not begun with is missing where no task is next: then a new input
    begins a run, and only what is stored has to fit.
    """
    pulled = [now.renames.node(task.node) for task in at.tasks if task.push is None]
    sent = [now.renames.node(task.node) for task in at.tasks if task.push is not None]
    reached = now.needs.reached([*pulled, *now.needs.after(sent)])
    yield from _gone_nodes(at, now)
    yield from _changed_kinds(at, now)
    everywhere = frozenset(now.structure.nodes)
    yield from _changed_types(at, now, (reached | frozenset(sent)) if at.tasks else everywhere)
    yield from _lost(at, now, reached | (frozenset(sent) & everywhere))
    yield from _gained(at, now, reached)


def _gone_nodes(at: Standing, now: Present) -> Iterator[Reason]:
    for node in dict.fromkeys(task.node for task in at.tasks):
        called = now.renames.node(node)
        if called not in now.structure.nodes:
            yield _stops(
                SchemaError(
                    f"the thread waits at node {node}, and the graph has no node {called}",
                    code="langgraph.node-gone",
                    hint=f'If it has another name now, bind the graph with renamed={{"{node}": '
                    f'"…"}}; else {_OLD_CODE}, or send the thread elsewhere with '
                    "update_state(…, as_node=…).",
                )
            )


def _changed_kinds(at: Standing, now: Present) -> Iterator[Reason]:
    for channel in at.values:
        called = now.renames.channel(channel)
        kind = now.structure.kind(called)
        if kind is None and channel.startswith(JOIN) and at.values[channel]:
            yield _changed(
                channel, "some of the nodes that it waits for are done, and the graph has none such"
            )
        before = at.old.kind(channel) if at.old is not None else None
        if before is None or kind is None:
            continue
        if before.name != kind.name and (before.name, kind.name) not in _LIKE:
            yield _changed(channel, f"its kind was {before.name} and is {kind.name}")
        elif before.reducer != kind.reducer:
            yield Reason(
                Resume.AS_IS,
                "langgraph.reducer-changed",
                f"the reducer of channel {channel} was {before.reducer or 'one without a name'}"
                f" and is {kind.reducer or 'one without a name'}",
                "What the thread holds was put together by the old one.",
            )


def _changed(channel: str, how: str, hint: str = "") -> Reason:
    return _stops(
        SchemaError(
            f"channel {channel} is not what it was: {how}",
            code="langgraph.channel-changed",
            hint=hint or f"Give the new channel another name, or {_OLD_CODE}.",
        )
    )


def _stops(error: SchemaError) -> Reason:
    return Reason(Resume.INCOMPATIBLE, error.code, error.message, error.hint)


def _changed_types(at: Standing, now: Present, nodes: frozenset[str]) -> Iterator[Reason]:
    if at.old is None:
        return
    stored = json.loads(at.old.state)
    for field in stored["fields"].values():
        field.pop("optional", None)  # what is missing is another question
    contract = replace(now.contract, structure=own_structure(now.contract))
    read = {name for node in nodes if node in now.structure.nodes for name in now.needs.reads(node)}
    for difference in compare(canonical(stored), contract).changed:
        name = difference.name
        if not difference.compatible and name in at.values and name in read:
            yield _changed(name, difference.reason, difference.hint)


def _lost(at: Standing, now: Present, nodes: frozenset[str]) -> Iterator[Reason]:
    fields = json.loads(at.old.state)["fields"] if at.old is not None else {}
    ours = [name for name in at.values if _is_users(name)]
    for name in dict.fromkeys((*ours, *fields)):
        if now.structure.kind(name) is not None:
            continue
        readers = sorted(node for node in nodes if name in now.needs.looks_up(node))
        if readers:
            yield _stops(
                SchemaError(
                    f"node {readers[0]} reads {name} of the state, and the graph has no such "
                    "channel any more",
                    code="langgraph.field-lost",
                    hint=f"Declare {name} in the state again, or take it out of the node.",
                )
            )
        elif name in at.values:
            yield Reason(
                Resume.AS_IS,
                "langgraph.field-removed",
                f"the graph has no channel {name} any more: what the thread has in it stays in its "
                "older checkpoints, and is in none from now on",
                f"If that is not meant, declare {name} in the state again.",
            )


def _is_users(channel: str) -> bool:
    return not channel.startswith((BRANCH, JOIN, "__"))


def _gained(at: Standing, now: Present, nodes: frozenset[str]) -> Iterator[Reason]:
    if at.old is None:
        return
    had = json.loads(at.old.state)["fields"]
    told: set[str] = set()
    for node in sorted(nodes):
        for name, schema in now.needs.requires(node).items():
            known = name in had and not had[name].get("optional")
            field = now.contract.fields.get(name)
            restored = field is not None and not field.rule.stored
            if known or restored or name in at.given or name in told:
                continue
            told.add(name)
            yield _stops(
                SchemaError(
                    f"node {node} requires {name} of the state ({schema}), which is new, and the "
                    "thread has no value for it",
                    code="langgraph.field-gained",
                    hint=f"Give the thread one with update_state, let {name} be NotRequired or "
                    f"have a default, or {_OLD_CODE}.",
                )
            )
