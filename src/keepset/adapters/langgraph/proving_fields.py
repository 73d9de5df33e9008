"""The fields of a graph and of those inside it, each under one id, and the rules of a life."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from langgraph.channels import UntrackedValue
from langgraph.pregel import Pregel

from keepset.adapters.langgraph.schemas import contracts_of
from keepset.contracts import Contract, Field, Keep, Refetch, Rule

PREVIOUS: Final = "__previous__"
"""The channel in which a workflow of the functional API hands on what it saves."""

Graph = Pregel[Any, Any, Any, Any]


class GraphFields:
    """What the states of a graph and of those inside it hold.

    A field that a graph inside shares with the one around it is one field. Any other of its own has
    the names of the nodes before it: ``node.name``.

    Attributes:
        contracts: The contracts by namespace, without the ids of tasks.
        fields: The fields by id.
    """

    def __init__(self, graph: Graph) -> None:
        """Read the contracts of a compiled graph; see `contracts_of`."""
        graphs = graphs_of(graph)
        read = contracts_of(graph)
        self.contracts = {name: whole(one, graphs.get(name)) for name, one in read.items()}
        self.fields: dict[str, Field] = {}
        for namespace, contract in sorted(self.contracts.items()):
            for name, field in contract.fields.items():
                called = self.id_of(namespace, name)
                known = self.fields.setdefault(called, field)
                if field.declared and not known.declared:
                    self.fields[called] = replace(known, rule=field.rule, declared=True)

    def id_of(self, namespace: str, name: str) -> str:
        """Give the id of a field of one of the graphs."""
        if not namespace:
            return name
        around = namespace.rpartition("|")[0]
        if around in self.contracts and name in self.contracts[around].fields:
            return self.id_of(around, name)
        return f"{dotted(namespace)}.{name}"


def graphs_of(graph: Graph) -> dict[str, Graph]:
    """Give a graph and those inside it, by namespace without the ids of tasks."""
    inner = {n: one for n, one in graph.get_subgraphs(recurse=True) if isinstance(one, Pregel)}
    return {**inner, "": graph}


def whole(contract: Contract, graph: Graph | None) -> Contract:
    """Give a contract in which what a workflow of the functional API hands on is a field, too."""
    if graph is None or contract.fields or PREVIOUS not in graph.channels:
        return contract
    handed_on = Field(PREVIOUS, object, Keep(), declared=False, required=False)
    return replace(contract, fields=MappingProxyType({PREVIOUS: handed_on}))


def dotted(namespace: str) -> str:
    """Give a namespace as a person calls it."""
    return namespace.replace("|", ".")


class LifeRules:
    """Puts the rules of a life in place of the declared ones."""

    def __init__(
        self,
        fields: GraphFields,
        graph: Graph,
        rules: Mapping[str, Rule],
    ) -> None:
        """Take the rules, by the ids of fields, and the graph that was made for the life."""
        self._graphs = graphs_of(graph)
        self._fields = fields
        self._rules = rules

    def of(self, namespace: str, contract: Contract) -> Contract:
        """Give the contract of one graph with the rules of the life."""
        contract = whole(contract, self._graphs.get(namespace))
        rules = {}
        for name, field in contract.fields.items():
            rule = self._rules.get(self._fields.id_of(namespace, name))
            if rule is not None and self._fits(rule, namespace, field, contract):
                rules[name] = rule
        return contract.with_rules(rules)

    def _fits(self, rule: Rule, namespace: str, field: Field, contract: Contract) -> bool:
        """Tell whether a rule can hold for a field.

        What LangGraph does not track is stored by no rule. What a graph inside cannot fetch, since
        it does not have the ids, it handles by its own rule.
        """
        graph = self._graphs.get(namespace)
        if rule.stored and graph is not None:
            return not isinstance(graph.channels.get(field.name), UntrackedValue)
        return not isinstance(rule, Refetch) or set(rule.using) <= contract.fields.keys()
