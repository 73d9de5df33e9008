"""What the nodes of a graph need of its state, and where a run can get from a node."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import CodeType
from typing import Any, Final

from langgraph.channels.base import BaseChannel
from langgraph.pregel import Pregel

from keepset.contracts.fields import STATES, Field, read_fields
from keepset.contracts.records import kind_of

_START: Final = "__start__"
_END: Final = "__end__"


class Needs:
    """What one graph's nodes need; nothing of it is run."""

    def __init__(self, graph: Pregel[Any, Any, Any, Any]) -> None:
        """Take a compiled graph, its channels not yet bound."""
        self._graph = graph
        self._builder = getattr(graph, "builder", None)
        self._fields: dict[Any, Mapping[str, Field]] = {}

    def reached(self, nodes: Iterable[str]) -> frozenset[str]:
        """Give the nodes that a run can get to from some nodes, these included.

        A node that says with a ``Command`` where to go, and does not declare it, hides an edge.
        """
        found: set[str] = set()
        todo = [node for node in nodes if node in self._graph.nodes]
        while todo:
            node = todo.pop()
            if node not in found:
                found.add(node)
                todo += self._after(node)
        return frozenset(found)

    def after(self, nodes: Iterable[str]) -> frozenset[str]:
        """Give the nodes that come after some nodes."""
        return frozenset(name for node in nodes for name in self._after(node))

    def _after(self, node: str) -> Iterable[str]:
        builder = self._builder
        everything = [name for name in self._graph.nodes if name != _START]
        if builder is None:
            return everything
        after = {end for start, end in builder.edges if start == node}
        after |= {end for starts, end in builder.waiting_edges if node in starts}
        for branch in builder.branches.get(node, {}).values():
            after |= set(everything if branch.ends is None else branch.ends.values())
        spec = builder.nodes.get(node)
        after |= set(getattr(spec, "ends", None) or ())
        after.add(getattr(spec, "error_handler_node", None) or _END)
        return [name for name in everything if name in after]

    def is_graph(self, node: str) -> bool:
        """Tell whether a node is a graph, and not a function that may call one."""
        return isinstance(self._graph.nodes[node].bound, Pregel)

    def requires(self, node: str) -> Mapping[str, str]:
        """Give the fields that a node cannot do without, each with the schema that says so.

        These are the fields that its input schema, and that of a branch behind it, requires, and
        that have no value of their own before anything is written (as a list with a reducer has).
        """
        found: dict[str, str] = {}
        for schema in self._schemas(node):
            for name, field in self._read(schema).items():
                channel = self._graph.channels.get(name)
                empty = isinstance(channel, BaseChannel) and not channel.is_available()
                if field.required and empty:
                    found.setdefault(name, getattr(schema, "__qualname__", str(schema)))
        return found

    def reads(self, node: str) -> frozenset[str]:
        """Give the channels that a node, or a branch behind it, is handed."""
        process = self._graph.nodes[node]
        names = [process.channels] if isinstance(process.channels, str) else process.channels
        return frozenset(names) | {n for s in self._schemas(node) for n in self._read(s)}

    def _schemas(self, node: str) -> Iterator[Any]:
        builder = self._builder
        if builder is None or node not in builder.nodes:
            return
        own = builder.nodes[node].input_schema
        yield own
        for branch in builder.branches.get(node, {}).values():
            yield branch.input_schema or own

    def _read(self, schema: Any) -> Mapping[str, Field]:
        if schema not in self._fields:
            cls = getattr(schema, "__origin__", schema)
            self._fields[schema] = read_fields(schema)[0] if kind_of(cls) in STATES else {}
        return self._fields[schema]

    def looks_up(self, node: str) -> frozenset[str]:
        """Give the names that a node's own code, and that of branches behind it, reads of a state.

        That is ``state["name"]`` and ``state.name`` of its first argument; what a function reads
        that it calls is not seen.
        """
        process = self._graph.nodes[node]
        functions = [function_of(process.bound)]
        if self._builder is not None:
            branches = self._builder.branches.get(node, {}).values()
            functions += [function_of(branch.path) for branch in branches]
        return frozenset(name for f in functions if f is not None for name in _looked_up(f))


def function_of(runnable: Any) -> Callable[..., Any] | None:
    """Give the function behind a runnable, as a user wrote it; None where there is none."""
    function = getattr(runnable, "func", None) or getattr(runnable, "afunc", None)
    while isinstance(function, partial):
        function = function.func
    return function if callable(function) else None


def code_of(function: Any) -> CodeType | None:
    """Give the code of a function, method or callable object; None for what is not Python."""
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is None:
        code = getattr(inspect.getattr_static(type(function), "__call__", None), "__code__", None)
    return code if isinstance(code, CodeType) else None


def _looked_up(function: Callable[..., Any]) -> Iterator[str]:
    code = code_of(function)
    if code is None:
        return
    bound = not hasattr(function, "__code__") or hasattr(function, "__self__")
    places = code.co_varnames[: code.co_argcount][1 if bound else 0 :]
    if places:
        yield from _looked_up_in(code, places[0])


def _looked_up_in(code: CodeType, name: str) -> Iterator[str]:
    """Find what is read of a variable; bytecode is read, since a source may not be there."""
    before: list[dis.Instruction] = []
    for now in dis.get_instructions(code):
        if now.opname in ("LOAD_ATTR", "LOAD_METHOD") and _is_load(before[-1:], name):
            yield str(now.argval)
        if (now.opname == "BINARY_SUBSCR" or now.argrepr == "[]") and len(before) > 1:
            key = before[-1].argval
            if isinstance(key, str) and _is_load(before[-2:-1], name):
                yield key
        if now.opname not in ("CACHE", "NOP", "EXTENDED_ARG"):
            before = [*before[-1:], now]
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and name in constant.co_freevars:
            yield from _looked_up_in(constant, name)


def _is_load(instructions: list[dis.Instruction], name: str) -> bool:
    return any(i.opname.startswith("LOAD_") and i.argval == name for i in instructions)
