"""A graph of LangGraph as something that can be proven."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from langgraph.graph import END, START, StateGraph
from langgraph.pregel import Pregel

from keepset.adapters.langgraph.binding import Altered, GraphBinding, before, require_graph
from keepset.adapters.langgraph.options import named_types
from keepset.adapters.langgraph.proving_fields import Graph, GraphFields, LifeRules, graphs_of
from keepset.adapters.langgraph.proving_points import Points
from keepset.adapters.langgraph.proving_saver import Carried, ProvingSaver
from keepset.adapters.langgraph.proving_script import Act, Acts, Course, Look, Play, look_at
from keepset.adapters.langgraph.threads import registry
from keepset.adapters.langgraph.types import host_types
from keepset.codec import Codec
from keepset.contracts import Contract, Field
from keepset.prove.ports import Life
from keepset.prove.watch import Watch

THREAD: Final = "proof"
_WITHOUT_NAME: Final = "langgraph"
_AT_ONCE: Final = 512
"""Threads that a graph may use: those whose turn has not come wait in one each."""


def is_graph(given: object) -> bool:
    """Tell whether something is a graph of LangGraph's: a builder, or a compiled one."""
    return isinstance(given, StateGraph | Pregel)


class GraphTarget:
    """Proves a graph: each life has one that was made for it."""

    def __init__(
        self, make: Callable[[], Any], *, types: Collection[type] | Mapping[str, type] = ()
    ) -> None:
        """Take what makes the graph; it is made once to look at it.

        Args:
            make: Gives a builder or a compiled graph, a fresh one each time.
            types: See `KeepsetSaver`.

        Raises:
            UsageError: ``langgraph.not-a-graph``, ``langgraph.types``.
            SchemaError: Its schemas are unsound; see `KeepsetSaver.bind`.
        """
        self._make = make
        self._types = types
        graph = self._made()
        self._fields = GraphFields(graph)
        self._name = self._fields.contracts[""].name
        if self._name == _WITHOUT_NAME:
            # A workflow of the functional API is its one node; else it has a name of its own.
            nodes = [name for name in graph.nodes if name != START]
            self._name = nodes[0] if len(nodes) == 1 else graph.get_name()
        self._outputs = frozenset(_outputs(graph)) & self._fields.fields.keys()
        known = registry(host_types(), named_types(types))
        for contract in self._fields.contracts.values():
            known = known.with_classes(contract.classes)
        self.codec = Codec(known)

    @property
    def name(self) -> str:
        """The name of its state."""
        return self._name

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields of its state, and those of graphs inside."""
        return self._fields.fields

    @property
    def outputs(self) -> frozenset[str]:
        """The fields of its output schema, where it was given one."""
        return self._outputs

    @property
    def contract(self) -> Contract:
        """The rules of the outer graph's channels."""
        return self._fields.contracts[""]

    @property
    def carries(self) -> bool:
        """It does: what is not stored is there when a checkpoint lands."""
        return True

    def _made(self) -> Graph:
        made = self._make()
        graph = made.compile() if isinstance(made, StateGraph) else made
        require_graph(graph)
        plain: Graph = before(graph)
        return plain

    def live(self, life: Life, watch: Watch) -> Mapping[str, Any]:
        """See `keepset.prove.ports.Target`; the points are those between two supersteps.

        They are told as ``after node``, ``after node.inner`` in a graph inside, ``after input``
        before the first node, and ``at question in node``.
        """
        graph = self._made()
        graphs = graphs_of(graph)
        carried = Carried(self._fields)
        points = Points(watch, Course(life), carried.live)
        saver = ProvingSaver(life.store, types=self._types)
        saver.points, saver.carried = points, carried
        rules = LifeRules(self._fields, graph, life.rules)
        binding = GraphBinding(
            graph,
            saver.types,
            on_changed_interrupt="accept",
            altered=Altered(rules.of, points.around),
        )
        points.structure = binding.graphs.structure
        bound = saver.bound(graph, binding)
        play = Play(points, pauses=any(map(_pauses, graphs.values())))
        # What a workflow of the functional API returns is no field, and part of how it ends.
        names = [*self._fields.contracts[""].fields, *({END} & graph.channels.keys())]
        stage = _Stage(bound, names)
        try:
            if any(map(_is_async, graphs.values())):
                state = asyncio.run(stage.aplayed(play.acts()))
            else:
                state = stage.played(play.acts())
        finally:
            watch.changed.update(self._fields.id_of(*one) for one in binding.changed)
        return state


class _Stage:
    """Does what a play says with a graph."""

    def __init__(self, graph: Graph, names: list[str]) -> None:
        self._graph = graph
        self._names = names
        self._saver: Any = graph.checkpointer
        self._config: Any = {"configurable": {"thread_id": THREAD}, "max_concurrency": _AT_ONCE}
        self._options: dict[str, Any] = {"stream_mode": "values", "durability": "sync"}
        if names:
            self._options["output_keys"] = names

    def played(self, acts: Acts) -> dict[str, Any]:
        """Play in this thread; gives the final state."""
        answer: Any = None
        while True:
            try:
                act = acts.send(answer)
            except StopIteration as end:
                state = end.value
                break
            answer = self._done(act)
        return self._ended(self._done(Look("")) if state is None else state)

    def _done(self, act: Act) -> Any:
        if isinstance(act, Look):
            return self._saver.get_tuple(look_at(act.namespace, self._config))
        state: Any = {}
        for chunk in self._graph.stream(act.given, self._config, **self._options):
            state = chunk
        return state

    async def aplayed(self, acts: Acts) -> dict[str, Any]:
        """Play on the loop that runs; see `played`."""
        answer: Any = None
        while True:
            try:
                act = acts.send(answer)
            except StopIteration as end:
                state = end.value
                break
            answer = await self._adone(act)
        return self._ended(await self._adone(Look("")) if state is None else state)

    async def _adone(self, act: Act) -> Any:
        if isinstance(act, Look):
            return await self._saver.aget_tuple(look_at(act.namespace, self._config))
        state: Any = {}
        async for chunk in self._graph.astream(act.given, self._config, **self._options):
            state = chunk
        return state

    def _ended(self, state: Any) -> dict[str, Any]:
        """Give the fields of a state; where nothing ran it is the one that is stored."""
        values = state.checkpoint["channel_values"] if hasattr(state, "checkpoint") else state
        if not self._names or not isinstance(values, Mapping):
            return {}
        return {name: values[name] for name in self._names if name in values}


def _outputs(graph: Graph) -> Iterator[str]:
    """Give what the output schema has, where it is not that of the state."""
    builder = getattr(graph, "builder", None)
    output = getattr(builder, "output_schema", None)
    if builder is not None and output is not None and output is not builder.state_schema:
        yield from builder.schemas.get(output, ())


def _pauses(graph: Any) -> bool:
    names = ("interrupt_before_nodes", "interrupt_after_nodes")
    return any(getattr(graph, name, None) for name in names)


def _is_async(graph: Graph) -> bool:
    """Tell whether a graph has a node or a branch that only a loop can run."""
    return any(map(_needs_loop, _runnables(graph)))


def _runnables(graph: Graph) -> Iterator[Any]:
    """Give what runs in a graph: its nodes, and the branches behind them."""
    for node in graph.nodes.values():
        yield node.bound
        yield from node.writers
    builder = getattr(graph, "builder", None)
    for branches in getattr(builder, "branches", {}).values():
        yield from (branch.path for branch in branches.values())


def _needs_loop(runnable: Any) -> bool:
    """Tell whether only a loop can run something."""
    steps = getattr(runnable, "steps", None)
    if isinstance(steps, list):
        return any(map(_needs_loop, steps))
    tools = getattr(runnable, "tools_by_name", None)
    parts = [runnable, *(tools.values() if isinstance(tools, dict) else ())]
    return any(_is_coroutine(part) for part in parts)


def _is_coroutine(part: Any) -> bool:
    """Tell whether something has an asynchronous function and no other."""
    later = getattr(part, "afunc", None) or getattr(part, "coroutine", None)
    return later is not None and getattr(part, "func", None) is None
