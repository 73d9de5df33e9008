"""The seam between the saver and what knows the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from keepset.adapters.langgraph.address import Address
from keepset.adapters.langgraph.continuing import Graphs
from keepset.adapters.langgraph.interrupts import Questions
from keepset.contracts import Contract
from keepset.plan.requests import Flow
from keepset.run.hosted import Stored, Surface


class Binding(Protocol):
    """What a saver asks about the graph that it was bound to."""

    @property
    def graphs(self) -> Graphs:
        """The graph and those inside it, and how they go on with threads."""
        ...

    @property
    def questions(self) -> Questions:
        """What their nodes have asked."""
        ...

    def contract(self, namespace: str) -> Contract | None:
        """Give the rules of a namespace's channels; None where nothing is known of it.

        Args:
            namespace: Empty for the graph itself, else that of a subgraph (``node:task``).
        """
        ...

    def left_out(self, namespace: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Give the channels in which fields of a state lie, without what is not stored of these."""
        ...

    def outgoing(
        self, namespace: str, writes: Sequence[tuple[str, Any]]
    ) -> Sequence[tuple[str, Any]]:
        """Give what a task writes without what is not stored."""
        ...

    def resumed(
        self, config: Mapping[str, Any], to: Address, stored: Stored, surface: Surface
    ) -> Flow[Stored]:
        """Restore a checkpoint for a run of the graph, once for each run and checkpoint."""
        ...
