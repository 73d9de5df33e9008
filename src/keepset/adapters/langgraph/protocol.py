"""The seam between the saver and what knows the graph."""

from __future__ import annotations

from typing import Protocol

from keepset.contracts import Contract


class Binding(Protocol):
    """What a saver asks about the graph that it was bound to."""

    def contract(self, namespace: str) -> Contract | None:
        """Give the rules of a namespace's channels; None where nothing is known of it.

        Args:
            namespace: Empty for the graph itself, else that of a subgraph (``node:task``).
        """
        ...
