"""From what a user names to what can be proven: a workflow, a graph, or what makes one."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from keepset.errors import UsageError
from keepset.prove.ports import Target
from keepset.prove.workflows import WorkflowTarget
from keepset.workflow import Workflow

_GRAPHS = "keepset.adapters.langgraph.proving"


def target_of(named: object) -> Target:
    """Give what is proven.

    Args:
        named: A `keepset.Workflow`, a LangGraph graph or its builder, or a function without
            arguments that makes one; then each life of a run has one that was made for it.

    Raises:
        UsageError: ``prove.target`` for anything else, and what making it raises as
            ``prove.factory``.
    """
    make = _maker(named)
    made = make()
    if isinstance(made, Workflow):
        return WorkflowTarget(make)
    if _is_graph(made):
        target: Target = importlib.import_module(_GRAPHS).GraphTarget(make)
        return target
    raise UsageError(
        f"a {type(made).__qualname__} cannot be proven",
        code="prove.target",
        hint="Name a ks.Workflow, a LangGraph graph or builder, or a function that makes one.",
    )


def _maker(named: Any) -> Callable[[], Any]:
    if isinstance(named, Workflow) or _is_graph(named) or not callable(named):
        return lambda: named
    return lambda: _made(named)


def _made(factory: Callable[[], Any]) -> Any:
    try:
        return factory()
    except Exception as error:  # a user's function may raise anything
        raise UsageError(
            f"making the workflow failed with {type(error).__qualname__}",
            code="prove.factory",
            hint="Call it by itself to see why; it is called without arguments.",
        ) from error


def _is_graph(named: object) -> bool:
    """Say whether it is one of LangGraph's, without importing LangGraph for it."""
    if "langgraph" not in sys.modules:
        return False
    return bool(importlib.import_module(_GRAPHS).is_graph(named))
