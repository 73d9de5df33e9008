"""Graphs inside graphs: what each of them knows of those around it and beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from keepset.contracts import Contract, Field
from keepset.contracts.classes import Named


@dataclass(frozen=True, eq=False)
class GraphContract(Contract):
    """The contract of one graph.

    Attributes:
        given: The keys that its input has; none where that is one value and no record.
        around: Fields of the graphs around it that it does not have. A node that is a graph is
            handed all of the state around it.
    """

    given: tuple[str, ...] = ()
    around: Mapping[str, Field] = field(default_factory=dict, repr=False)

    def knowing(self, around: Mapping[str, Field], classes: Iterable[Named]) -> GraphContract:
        """Give it with fields around it, and with classes that other graphs name."""
        return replace(self, around=around, _named=(*self._named, *classes))

    @property
    def named(self) -> tuple[Named, ...]:
        """The classes that it knows, each with its qualified name."""
        return self._named


def unstored(contract: Contract) -> dict[str, Field]:
    """Give the fields that are not stored, wherever their values lie: its own, and those around."""
    fields = with_around(contract).fields
    return {name: one for name, one in fields.items() if not one.rule.stored}


def with_around(contract: Contract) -> Contract:
    """Give a contract with the fields of the graphs around it: its input may hold those as well."""
    around = contract.around if isinstance(contract, GraphContract) else {}
    fields = MappingProxyType({**around, **contract.fields})
    return replace(contract, fields=fields) if around else contract


def related(contracts: Mapping[str, Contract]) -> Mapping[str, Contract]:
    """Give the contracts of a graph and of all inside it, each knowing what it needs of others.

    Args:
        contracts: The contracts by namespace, as `contracts_of` gives them.
    """
    ours = {name: one for name, one in contracts.items() if isinstance(one, GraphContract)}
    known = {
        name: one.knowing(_around(name, one, ours), _beside(one, ours.values()))
        for name, one in ours.items()
    }
    return MappingProxyType({**contracts, **known})


def _around(
    namespace: str, own: Contract, contracts: Mapping[str, GraphContract]
) -> Mapping[str, Field]:
    found: dict[str, Field] = {}
    while namespace:
        namespace = namespace.rpartition("|")[0]
        for name, one in contracts[namespace].fields.items() if namespace in contracts else ():
            if name not in own.fields:
                found.setdefault(name, one)
    return MappingProxyType(found)


def _beside(own: GraphContract, contracts: Iterable[GraphContract]) -> Iterator[Named]:
    """Give the classes of other graphs whose names say in this one what they are."""
    names = {one.name for one in own.named}
    others: dict[str, dict[type, Named]] = {}
    for contract in contracts:
        for one in contract.named:
            others.setdefault(one.name, {}).setdefault(one.cls, one)
    for name, classes in others.items():
        if name not in names and len(classes) == 1:
            yield from classes.values()
