"""The graph and the classes that the options of a command line name."""

from __future__ import annotations

import importlib
from typing import Any

from keepset.errors import UsageError
from keepset.testing.references import load


def graph_named(reference: str) -> Any:
    """Give the compiled graph that a name stands for: it, its builder, or what makes one.

    Args:
        reference: ``MODULE:NAME``.

    Raises:
        UsageError: ``langgraph.not-a-graph``: it is none; or it cannot be imported.
    """
    named: Any = load(reference)
    is_graph = importlib.import_module("keepset.adapters.langgraph.proving").is_graph
    if not is_graph(named) and callable(named):
        try:
            named = named()
        except Exception as error:
            raise _no_graph(reference, f"it raised {type(error).__qualname__}") from error
    if not is_graph(named):
        raise _no_graph(reference, f"it is a {type(named).__qualname__}")
    if hasattr(named, "compile"):
        return named.compile()
    return importlib.import_module("keepset.adapters.langgraph.binding").before(named)


def _no_graph(reference: str, why: str) -> UsageError:
    return UsageError(
        f"{reference} gives no graph: {why}",
        code="langgraph.not-a-graph",
        hint="Name a builder, a compiled graph, or a function without arguments that gives one.",
    )


def classes_named(references: tuple[str, ...]) -> dict[str, type]:
    """Import classes, each by the name that it is stored under.

    Args:
        references: Each ``MODULE:CLASS``, or ``NAME=MODULE:CLASS``.

    Raises:
        UsageError: ``langgraph.types``: one is none; or it cannot be imported.
    """
    found: dict[str, type] = {}
    for reference in references:
        name, equals, place = reference.partition("=")
        cls = load(place if equals else reference)
        if not isinstance(cls, type):
            raise UsageError(
                f"{reference} is no class",
                code="langgraph.types",
                hint="Name a class: --types app.models:Order, or order/1=app.models:Order.",
            )
        found[name if equals else cls.__qualname__] = cls
    return found
