"""The one line that a user of LangGraph changes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from keepset.adapters.langgraph.saver import KeepsetSaver
from keepset.errors import UsageError
from keepset.store import AsyncStore, Store
from keepset.store.places import Place


def compile_graph(
    builder: StateGraph[Any, Any, Any, Any],
    store: Place | Store | AsyncStore | KeepsetSaver,
    *,
    renamed: Mapping[str, str] | None = None,
    on_changed_interrupt: str = "refuse",
    fallback: BaseCheckpointSaver[Any] | None = None,
    **options: Any,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Compile a graph that is checkpointed by keepset, by the rules of its schemas.

    Args:
        builder: The graph's builder.
        store: ``sqlite:///runs.db`` or ``runs.db``, an open store, or a saver. What is opened here
            is closed by ``graph.checkpointer.close()``.
        renamed: See `KeepsetSaver.bind`.
        on_changed_interrupt: See `KeepsetSaver.bind`.
        fallback: See `KeepsetSaver`; for a store, since a saver has been given its own.
        options: What ``builder.compile`` takes, but for ``checkpointer``.

    Raises:
        UsageError: ``langgraph.not-a-builder``; ``langgraph.checkpointer`` where another
            checkpointer is given as well, or a saver with a fallback; and what the store's URL may
            be refused for.
        SchemaError: The graph's schemas are unsound; see `KeepsetSaver.bind`.
        StoreError: The place refuses.
    """
    if "checkpointer" in options:
        raise UsageError(
            "a graph has one checkpointer",
            code="langgraph.checkpointer",
            hint="Leave checkpointer= out: the store that you name takes its place.",
        )
    if fallback is not None and isinstance(store, KeepsetSaver):
        raise UsageError(
            "a saver has its fallback already, or has none",
            code="langgraph.checkpointer",
            hint="Give it to the saver: KeepsetSaver(url, fallback=…).",
        )
    if not isinstance(builder, StateGraph):
        raise UsageError(
            f"{type(builder).__name__} is no builder of a graph",
            code="langgraph.not-a-builder",
            hint="What others compiled is bound instead: graph = KeepsetSaver(url).bind(graph).",
        )
    graph = builder.compile(**options)
    saver = store if isinstance(store, KeepsetSaver) else KeepsetSaver(store, fallback=fallback)
    with ExitStack() as opened:
        if saver is not store:
            opened.callback(saver.close)
        bound = saver.bind(graph, renamed=renamed, on_changed_interrupt=on_changed_interrupt)
        opened.pop_all()  # it is bound: its user closes it
    return bound
