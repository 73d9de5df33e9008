"""Channels that are edges of a graph: LangGraph before 0.3 called them as the node that they leave.

A node and a field of the state never have the same name there, so that what is called as a node
that has run is an edge.
"""

from __future__ import annotations

from collections.abc import Collection

_EDGE = "branch:"
_HOSTS = "__"  # no nodes: the beginning, and what stops a graph


def field_of(channel: str, nodes: Collection[str]) -> str:
    """Give the name of a channel as it is told: that of an edge says that it is one.

    Args:
        channel: Its name.
        nodes: The nodes that have run.
    """
    return f"{_EDGE}{channel}" if channel in nodes else channel


def nodes_of(versions_seen: object) -> frozenset[str]:
    """Name the nodes that have run, by what a checkpoint says that they have seen."""
    names = map(str, versions_seen) if isinstance(versions_seen, dict) else ()
    return frozenset(name for name in names if not name.startswith(_HOSTS))
