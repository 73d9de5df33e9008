"""Bind a saver to a graph: its rules, its classes, exact checkpoints, and restoring.

The graph that a binding gives is a copy: the one that was compiled stays as it is, also those
inside it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from langchain_core.runnables import Runnable
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel
from langgraph.pregel._read import PregelNode

from keepset.adapters.langgraph.address import Address
from keepset.adapters.langgraph.admitting import Admission, updating
from keepset.adapters.langgraph.continuing import Graphs, configurable_of, without_tasks
from keepset.adapters.langgraph.executing import Execution, auntil_end, execution_of, until_end
from keepset.adapters.langgraph.freezing import Keeper, bound_channels
from keepset.adapters.langgraph.handing import Handing, handed_over
from keepset.adapters.langgraph.interrupts import SAVER, Questions
from keepset.adapters.langgraph.nesting import related
from keepset.adapters.langgraph.restoring import START, WHOLE, left_out, outgoing
from keepset.adapters.langgraph.resuming import Resumes
from keepset.adapters.langgraph.schemas import contracts_of
from keepset.codec import Codec, TypeRegistry
from keepset.contracts import Contract
from keepset.errors import UsageError
from keepset.plan.requests import Flow
from keepset.run.hosted import Stored, Surface

G = TypeVar("G", bound=Pregel[Any, Any, Any, Any])

_log = logging.getLogger("keepset")


@dataclass(frozen=True, slots=True)
class Altered:
    """What somebody who watches a graph puts in place of its parts while it is bound.

    Attributes:
        contract: Gives the contract that holds in place of that of a namespace.
        node: Gives what runs in place of a node's runnable, by ``node`` or ``node|inner``.
    """

    contract: Callable[[str, Contract], Contract]
    node: Callable[[str, Runnable[Any, Any]], Runnable[Any, Any]]


class GraphBinding:
    """What a saver asks about the graph that it is bound to.

    Attributes:
        graphs: The graph and those inside it, and how they go on with threads.
        questions: What their nodes have asked.
    """

    def __init__(
        self,
        graph: Pregel[Any, Any, Any, Any],
        types: TypeRegistry,
        *,
        renamed: Mapping[str, str] | None = None,
        on_changed_interrupt: str = "refuse",
        altered: Altered | None = None,
    ) -> None:
        """Read the rules of a graph and of all graphs inside it.

        Args:
            graph: A compiled graph.
            types: Knows the classes of the host, and those that the saver was given.
            renamed: The present name of each node that had another, by the one that it had.
            on_changed_interrupt: What becomes of an answer whose question has another value.
            altered: What is put in place of contracts and nodes.

        Raises:
            SchemaError: The schemas are unsound; see `contracts_of`.
            UsageError: ``langgraph.renamed`` or ``langgraph.on-changed-interrupt``.
        """
        read = contracts_of(before(graph))
        if altered is not None:
            read = related({name: altered.contract(name, own) for name, own in read.items()})
        self._contracts = read
        self.graphs = Graphs(before(graph), self._contracts, renamed or {})
        self.questions = Questions(on_changed_interrupt, self.graphs.renames.is_new)
        self._types = types
        self._altered = altered
        self._resumes = Resumes()

    @property
    def changed(self) -> frozenset[tuple[str, str]]:
        """The fields that were restored with another content, each with its namespace's name."""
        return frozenset(self._resumes.changed)

    @property
    def contracts(self) -> Mapping[str, Contract]:
        """The rules of the graph and of those inside it, by ``node|inner``."""
        return self._contracts

    def contract(self, namespace: str) -> Contract | None:
        """Give the rules of a namespace's channels; None for a graph that was not found."""
        if not namespace:
            return self._contracts[""]
        return self._contracts.get(without_tasks(self.graphs.renames.namespace(namespace)))

    def left_out(self, namespace: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Give the channels in which fields of a state lie, without what is not stored of these."""
        contract = self.contract(namespace)
        names = [] if contract is None else [name for name in WHOLE if name in values]
        return {name: left_out(contract, name, values[name]) for name in names if contract}

    def outgoing(
        self, namespace: str, writes: Sequence[tuple[str, Any]]
    ) -> Sequence[tuple[str, Any]]:
        """Give what a task writes without what is not stored."""
        contract = self.contract(namespace)
        return writes if contract is None else outgoing(contract, writes)

    def resumed(
        self, config: Mapping[str, Any], to: Address, stored: Stored, surface: Surface
    ) -> Flow[Stored]:
        """Restore a checkpoint for a run of the graph, once for each run and checkpoint."""
        contract = self.contract(to.namespace)
        if contract is None:
            return stored
        return (yield from self._resumes.resumed(contract, config, to, stored, surface))

    def graph(self, graph: G, namespace: str = "") -> G:
        """Give a copy of a graph whose channels, nodes and inner graphs are bound."""
        contract, own = self._contracts[namespace], before(graph)
        admission = Admission(contract, own.channels)
        codec = Codec(self._types.with_classes(contract.classes))
        bound = _copy(graph, own, {"admission": admission, "graphs": self.graphs})
        bound.channels = bound_channels(own.channels, Keeper(contract, codec, admission))
        bound.nodes = {
            name: self._node(name, node, namespace, admission) for name, node in own.nodes.items()
        }
        return bound

    def _node(
        self, name: str, node: PregelNode, namespace: str, admission: Admission
    ) -> PregelNode:
        changed: dict[str, Any] = {}
        if name == START:
            beginning = {"writers": admission.beginning(node.writers, name)}
            return node.copy(beginning) if admission else node
        writers = list(node.writers)
        if admission:
            writers = [admission.writer(one, name) for one in writers]
        if not isinstance(node.bound, Pregel):
            changed["bound"] = self.questions.watched(name, node.bound)
        below = f"{namespace}|{name}" if namespace else name
        inner = node.subgraphs[0] if node.subgraphs else None
        if isinstance(inner, Pregel):
            if node.bound is inner:
                changed["bound"] = self.graph(inner, below)
                changed["subgraphs"] = [changed["bound"]]
            elif not is_bound(inner) and self._altered is None:
                _log.warning(
                    "the graph inside node %s is called by a function and cannot be bound from "
                    "outside: bind it as well, or what it holds may change while it is saved",
                    below,
                )
        if self._altered is not None:
            changed["bound"] = self._altered.node(below, changed.get("bound", node.bound))
        changed["writers"] = [*writers, Handing(name, admission)]
        return node.copy(changed)


def is_bound(graph: Any) -> bool:
    """Tell whether a graph was made by `GraphBinding.graph`."""
    return isinstance(graph, _Calls)


class _Calls:
    """A bound graph: what calls it brings in a `Command` is admitted as what a node gives is."""

    __slots__ = ()

    admission: Admission
    graphs: Graphs
    unbound: Any

    def _given(self, input: Any, config: Any) -> Any:  # noqa: A002 - LangGraph's name
        calling = self.graphs.calling(self.admission.command(input), config)
        return handed_over(self.admission, *calling)

    def stream(self, input: Any, config: Any = None, *args: Any, **kwargs: Any) -> Any:  # noqa: A002 - LangGraph's name
        _require_ours(self, config)
        given, own = self._given(input, config)
        parts = super().stream(given, own, *args, **kwargs)  # type: ignore[misc] # the graph's class
        return until_end(parts, _begun(config, own))

    def astream(self, input: Any, config: Any = None, *args: Any, **kwargs: Any) -> Any:  # noqa: A002 - LangGraph's name
        _require_ours(self, config)
        given, own = self._given(input, config)
        parts = super().astream(given, own, *args, **kwargs)  # type: ignore[misc] # the same
        return auntil_end(parts, _begun(config, own))

    def bulk_update_state(self, *args: Any, **kwargs: Any) -> Any:
        with updating():
            return super().bulk_update_state(*args, **kwargs)  # type: ignore[misc] # the same

    async def abulk_update_state(self, *args: Any, **kwargs: Any) -> Any:
        with updating():
            return await super().abulk_update_state(*args, **kwargs)  # type: ignore[misc] # the same


def before(graph: Any) -> Any:
    """Give the graph that a bound one was made of; any other is given back."""
    return graph.unbound if isinstance(graph, _Calls) else graph


def _begun(config: Mapping[str, Any] | None, own: Mapping[str, Any] | None) -> Execution | None:
    """Give the call that begins here; None where it belongs to one around it."""
    execution = execution_of(own)
    around = execution_of({"configurable": configurable_of(config)})
    return None if execution is around else execution


def _require_ours(graph: Any, config: Mapping[str, Any] | None) -> None:
    """Refuse to run with another saver: it could not store the pictures that channels give.

    Raises:
        UsageError: ``langgraph.checkpointer``.
    """
    saver = configurable_of(config).get(SAVER) or graph.checkpointer
    if isinstance(saver, BaseCheckpointSaver) and not hasattr(saver, "binding"):
        raise UsageError(
            f"a graph that is bound to keepset is run with a {type(saver).__qualname__}",
            code="langgraph.checkpointer",
            hint="Give the graph around it a KeepsetSaver as well, or put the graph that was "
            "compiled into it, not what bind gave.",
        )


def _copy(graph: G, unbound: Any, members: Mapping[str, Any]) -> G:
    """Give a copy of a graph that is of a class made for it."""
    host = type(unbound)
    cls: Any = type(host.__name__, (_Calls, host), {**members, "unbound": unbound})
    made: G = object.__new__(cls)
    vars(made).update(vars(graph))
    return made


def require_graph(graph: object) -> None:
    """Refuse what is no compiled graph.

    Raises:
        UsageError: ``langgraph.not-a-graph``.
    """
    if not isinstance(graph, Pregel):
        raise UsageError(
            f"a {type(graph).__qualname__} is no compiled graph",
            code="langgraph.not-a-graph",
            hint="Pass what builder.compile() or create_agent(…) gives; for a builder there is "
            "keepset.langgraph.compile(builder, url).",
        )
