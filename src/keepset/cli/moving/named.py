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
        cls = _class_at(place if equals else reference)
        found[name if equals else cls.__qualname__] = cls
    return found


def classes_moved(references: tuple[str, ...]) -> dict[str, type]:
    """Import classes that lay elsewhere before, each by the whole name that it had there.

    Args:
        references: Each ``OLD.MODULE.CLASS=MODULE:CLASS``; a colon before the class is one as well.

    Raises:
        UsageError: ``langgraph.moved``: one says nothing of the kind; ``langgraph.types``: it is no
            class; or it cannot be imported.
    """
    found: dict[str, type] = {}
    for reference in references:
        name, _, place = reference.partition("=")
        before = name.replace(":", ".")
        if not place or "." not in before.strip("."):
            raise UsageError(
                f"{reference} does not say where a class was and where it is",
                code="langgraph.moved",
                hint="Write --moved app.old.Order=app.models:Order, the first as it is reported.",
            )
        found[before] = _class_at(place)
    return found


def _class_at(reference: str) -> type:
    cls = load(reference)
    if not isinstance(cls, type):
        raise UsageError(
            f"{reference} is no class",
            code="langgraph.types",
            hint="Name a class: --types app.models:Order, or order/1=app.models:Order.",
        )
    return cls
