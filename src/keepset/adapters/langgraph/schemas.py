"""From a compiled graph to contracts: one for the graph, and one for each graph inside it.

A contract has a field for each channel that a schema of the graph declares: its state, its input
and output, what single nodes and branches take. The context is no state. LangGraph's own channels
(``branch:to:…``, ``join:…``, ``__start__``) are no fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import FunctionType, MappingProxyType
from typing import Any, get_type_hints

from langgraph.channels import UntrackedValue
from langgraph.channels.base import BaseChannel
from langgraph.pregel import Pregel

from keepset.adapters.langgraph.nesting import GraphContract, related
from keepset.adapters.langgraph.structured import answers_of
from keepset.contracts import Contract, Drop, Field, Keep, Rule
from keepset.contracts.classes import Named, named_classes, same_name
from keepset.contracts.contract import name_and_epoch
from keepset.contracts.fields import STATES, read_fields
from keepset.contracts.hints import Hint, hints_of, missing_name, unwrap
from keepset.contracts.markers import misread, nested
from keepset.contracts.order import cycles
from keepset.contracts.problems import Problem
from keepset.contracts.questions import unknown_subject, useless_globs, wrong_refetch
from keepset.contracts.records import kind_of
from keepset.contracts.structure import shape_of, structure_of
from keepset.errors import SchemaError

ROOT = "__root__"
"""The channel of a graph whose state is one value and no record."""
_WITHOUT_STATE = "langgraph"
"""Name of the contract of a graph that declares no state: one of the functional API."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One channel as one schema declares it."""

    schema: str
    field: Field


def contracts_of(graph: Pregel[Any, Any, Any, Any]) -> Mapping[str, Contract]:
    """Read the contracts of a graph and of all graphs inside it.

    Args:
        graph: A compiled graph.

    Returns:
        The contracts by namespace, without the ids of tasks: ``""`` for the graph itself,
        ``node`` for a graph that is a node of it, ``node|inner`` for one inside that.

    Raises:
        SchemaError: ``rule.conflict`` where two schemas say different rules for one channel;
            ``state.unresolved-name`` where an annotation names what cannot be found; and what else
            makes a rule mean another thing than it says, such as ``marker.order`` for one that
            hides a reducer.
    """
    found: dict[str, Contract] = {"": contract_of_graph(graph)}
    for namespace, inner in graph.get_subgraphs(recurse=True):
        if isinstance(inner, Pregel):
            found[namespace] = contract_of_graph(inner)
    return related(found)


def contract_of_graph(graph: Pregel[Any, Any, Any, Any]) -> GraphContract:
    """Read the contract of one graph; see `contracts_of`."""
    builder = getattr(graph, "builder", None)
    schemas = list(builder.schemas) if builder is not None else []
    state = builder.state_schema if builder is not None else None
    name, epoch = name_and_epoch(state) if kind_of(state) in STATES else (_WITHOUT_STATE, 0)
    declared = [one for schema in schemas for one in _declared(schema)]
    fields = {
        key: _untracked(field, channel)
        for key, field in _merged(declared, name).items()
        if isinstance(channel := graph.channels.get(key), BaseChannel)
    }
    for problem in _unsound(declared, fields):
        if problem.severity == "error":
            raise problem.as_error(name)
    structure = structure_of(fields.values())
    known = _known(graph, declared, schemas)
    for problem in same_name(known):
        raise problem.as_error(name)
    return GraphContract(
        name=name,
        epoch=epoch,
        state=state,
        fields=MappingProxyType(fields),
        structure=structure,
        shape=shape_of(structure),
        _named=known,
        given=_given(graph),
    )


def _given(graph: Pregel[Any, Any, Any, Any]) -> tuple[str, ...]:
    """Give the keys that the input of a graph has; none where it is one value."""
    builder = getattr(graph, "builder", None)
    keys = [] if builder is None else builder.schemas[builder.input_schema]
    return tuple(k for k in keys if k != ROOT and isinstance(graph.channels.get(k), BaseChannel))


def _known(
    graph: Pregel[Any, Any, Any, Any], declared: list[Declared], schemas: list[Any]
) -> tuple[Named, ...]:
    """Give the classes that schemas name, and those of an agent's answers whose names are free."""
    whole = [Field(ROOT, schema, Keep(), declared=True, required=False) for schema in schemas]
    known = named_classes([*(one.field for one in declared), *whole, *_typed(graph)])
    free: dict[str, Named] = {}
    for named in named_classes(answers_of(graph)):
        free.setdefault(named.name, named)
    for named in known:
        free.pop(named.name, None)
    return (*known, *free.values())


def _unsound(declared: list[Declared], fields: Mapping[str, Field]) -> Iterator[Problem]:
    """Find what makes the rules mean something else than they say.

    What detectors look for, such as a field with a secret's name, is left to them: they withhold
    it when it comes.
    """
    for one in declared:
        yield from (*nested(one.field, fields), *misread(one.field, fields))
    for field in fields.values():
        yield from wrong_refetch(field, fields)
        yield from unknown_subject(field, fields)
        yield from useless_globs(field, fields)
    yield from cycles(fields)


def _declared(schema: Any) -> Iterator[Declared]:
    """Give the channels that a schema declares."""
    name = _name(schema)
    cls = getattr(schema, "__origin__", schema)
    if kind_of(cls) in STATES:
        fields, problems = read_fields(schema)
        for problem in problems:
            raise problem.as_error(name)
        yield from (Declared(name, field) for field in fields.values())
    elif hasattr(schema, "__annotations__"):
        hints = hints_of(schema)
        yield from (Declared(name, _field(key, hint)) for key, hint in hints.items())
    else:
        yield Declared(name, _field(ROOT, unwrap(schema)))


def _field(name: str, hint: Hint) -> Field:
    rules = [item for item in hint.metadata if isinstance(item, Rule)]
    return Field(
        name,
        hint.annotation,
        rules[0] if rules else Keep(),
        declared=bool(rules),
        required=False,
        metadata=hint.metadata,
    )


def _merged(declared: list[Declared], contract: str) -> dict[str, Field]:
    """Make one field of each channel; the first schema says its type, any schema its rule."""
    first: dict[str, Declared] = {}
    for one in declared:
        channel = one.field.name
        before = first.setdefault(channel, one)
        if before is one or not one.field.declared:
            continue
        if not before.field.declared:
            field = replace(before.field, rule=one.field.rule, declared=True)
            first[channel] = Declared(one.schema, field)
        elif before.field.rule != one.field.rule:
            raise SchemaError(
                f"{contract}.{channel}: {before.schema} and {one.schema} say different rules for "
                f"it, {before.field.rule.kind} and {one.field.rule.kind}",
                code="rule.conflict",
                hint="A channel has one rule: write the same in both schemas, or in one of them.",
            )
    return {channel: one.field for channel, one in first.items()}


def _untracked(field: Field, channel: BaseChannel[Any, Any, Any]) -> Field:
    """Take a channel that LangGraph does not track for one that is not stored."""
    if field.declared or not isinstance(channel, UntrackedValue):
        return field
    return replace(field, rule=Drop(), declared=True)


def _typed(graph: Pregel[Any, Any, Any, Any]) -> Iterator[Field]:
    """Give what a workflow of the functional API takes and gives, by its function's annotations."""
    if getattr(graph, "builder", None) is not None:
        return
    for name, node in graph.nodes.items():
        function = getattr(node.bound, "func", None) or getattr(node.bound, "afunc", None)
        if not isinstance(function, FunctionType):
            continue
        try:
            hints = get_type_hints(function)
        except NameError as error:
            raise missing_name(name, str(error.name)) from error
        for key, hint in hints.items():
            yield Field(key, hint, Keep(), declared=False, required=False)


def _name(schema: Any) -> str:
    return getattr(schema, "__qualname__", None) or str(schema)
