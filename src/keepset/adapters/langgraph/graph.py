"""What a graph is, as far as a thread that was written by it depends on it.

The structure of a graph is small JSON of which there is one text for one graph::

    {"format": 1,
     "nodes": {"approve": null, "join": ["branch:to:join", "join:a+b:join"]},
     "channels": {"total": ["BinaryOperatorAggregate", "add"], "text": ["LastValue"]},
     "state": {"fields": …, "classes": …}}

``nodes`` says what triggers each node, null for its own channel alone, since ids of tasks are made
of it. ``channels`` gives the kind of each, with the name of its reducer or of those it waits for;
a channel ``branch:to:…`` of the usual kind is left out. ``state`` is the structure of the graph's
contract (see `keepset.contracts.structure`), in which a class of LangChain or LangGraph is a name
alone: a new release of theirs is no other graph.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from langgraph.channels.base import BaseChannel
from langgraph.pregel import Pregel

from keepset.adapters.langgraph.types import host_types
from keepset.contracts import Contract
from keepset.contracts.structure import canonical, shape_of
from keepset.errors import DecodeError, SchemaError

FORMAT: Final = 1
BRANCH: Final = "branch:to:"
"""What the name of a node's own channel begins with."""
USUAL: Final = "EphemeralValue"
"""The kind of channel that a node usually has of its own."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a channel is.

    Attributes:
        name: Name of its class.
        reducer: Name of its reducer; empty where it has none, or one without a name of its own.
        names: Whom it waits for, in order; empty where it waits for nobody.
    """

    name: str
    reducer: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Structure:
    """What a graph is.

    Attributes:
        nodes: What triggers each node, in order.
        channels: The kind of each channel; without a node's own ones of the usual kind.
        state: The structure of its contract, as JSON.
        text: All of it, as canonical JSON.
    """

    nodes: Mapping[str, tuple[str, ...]]
    channels: Mapping[str, Kind]
    state: str
    text: str

    @property
    def digest(self) -> str:
        """Digest of the text, 32 hexadecimal digits."""
        return shape_of(self.text)

    def kind(self, channel: str) -> Kind | None:
        """Give what a channel is; None for one that the graph does not have."""
        usual = channel.startswith(BRANCH) and channel.removeprefix(BRANCH) in self.nodes
        return self.channels.get(channel) or (Kind(USUAL) if usual else None)


def structure_of_graph(graph: Pregel[Any, Any, Any, Any], contract: Contract) -> Structure:
    """Describe a compiled graph.

    Args:
        graph: The graph as it was compiled, its channels not yet bound.
        contract: Its contract.
    """
    nodes = {name: tuple(sorted(node.triggers)) for name, node in graph.nodes.items()}
    channels = {
        name: kind_of_channel(channel)
        for name, channel in graph.channels.items()
        if isinstance(channel, BaseChannel)
    }
    return _made(nodes, channels, own_structure(contract))


def _made(
    nodes: Mapping[str, tuple[str, ...]], channels: Mapping[str, Kind], state: str
) -> Structure:
    channels = {
        name: kind
        for name, kind in channels.items()
        if not (name.startswith(BRANCH) and kind == Kind(USUAL))
    }
    written = {
        name: [kind.name, kind.reducer, *kind.names] if kind.reducer or kind.names else [kind.name]
        for name, kind in channels.items()
    }
    text = canonical(
        {
            "format": FORMAT,
            "nodes": {n: None if t == (BRANCH + n,) else list(t) for n, t in nodes.items()},
            "channels": written,
            "state": json.loads(state),
        }
    )
    return Structure(MappingProxyType(dict(nodes)), MappingProxyType(channels), state, text)


def read_structure(text: object) -> Structure:
    """Read the structure of a graph as it was stored.

    Raises:
        DecodeError: ``langgraph.structure``: it is none.
        SchemaError: ``langgraph.structure-format``: a newer release wrote it.
    """
    try:
        read: Any = json.loads(text) if isinstance(text, str) else None
        version = read["format"]
        nodes = {n: (BRANCH + n,) if t is None else tuple(t) for n, t in read["nodes"].items()}
        channels = {n: _read_kind(*parts) for n, parts in read["channels"].items()}
        state = canonical(read["state"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DecodeError(
            "the stored structure of the graph cannot be read",
            code="langgraph.structure",
            hint="Run `keepset verify` on the store.",
        ) from error
    if version != FORMAT:
        raise SchemaError(
            f"the graph was stored in format {version}, and this release reads {FORMAT}",
            code="langgraph.structure-format",
            hint="Use the release of keepset that wrote the thread, or a newer one.",
        )
    return _made(nodes, channels, state)


def _read_kind(name: str, reducer: str = "", *names: str) -> Kind:
    return Kind(name, reducer, names)


def kind_of_channel(channel: BaseChannel[Any, Any, Any]) -> Kind:
    """Say what a channel is."""
    reducer = getattr(channel, "operator", None) or getattr(channel, "reducer", None)
    names: Sequence[str] = sorted(map(str, getattr(channel, "names", ())))
    return Kind(type(channel).__name__, reducer_name(reducer), tuple(names))


def reducer_name(reducer: Any) -> str:
    """Give a reducer's qualified name without its module; empty where it has no name of its own.

    A lambda has none: it looks new whenever a process starts.
    """
    while isinstance(reducer, partial):
        reducer = reducer.func
    name = getattr(reducer, "__qualname__", None) or ""
    if not isinstance(name, str) or name.endswith("<lambda>"):
        return ""
    return name


def own_structure(contract: Contract) -> str:
    """Give a contract's structure in which the host's classes are names."""
    types = host_types()
    hosts = {
        name.removeprefix(f"{contract.name}/")
        for name, cls in contract.classes.items()
        if types.of_class(cls) is not None
    }
    read = json.loads(contract.structure)
    described, todo = {}, [read["fields"]]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            name = part.get("class")
            if isinstance(name, str) and name not in hosts and name not in described:
                described[name] = read["classes"].get(name)
                todo.append(described[name])
            todo += part.values()
        elif isinstance(part, list):
            todo += part
    return canonical({**read, "classes": described})
