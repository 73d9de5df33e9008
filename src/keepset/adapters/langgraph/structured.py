"""The classes that an agent answers with: ``create_agent(…, response_format=…)``.

LangChain types the channel of the answer by a variable, so that no schema of the graph names them.
The strategy that names them lies in what the agent's nodes enclose.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Any, Final

from langgraph.pregel import Pregel

from keepset.contracts import Field, Keep

_STRATEGIES: Final = "langchain.agents.structured_output"
"""The module of LangChain's strategies; each has the class, or a union of them, as ``schema``."""


def answers_of(graph: Pregel[Any, Any, Any, Any]) -> Iterator[Field]:
    """Give a field for each answer with a schema of its own that a node of an agent makes.

    An agent inside hands its answer to the graph around it.
    """
    inner = (one for _, one in graph.get_subgraphs(recurse=True) if isinstance(one, Pregel))
    for node in [node for one in (graph, *inner) for node in one.nodes.values()]:
        for given in _enclosed(node.bound):
            schema = getattr(given, "schema", None)
            ours = type(given).__module__ == _STRATEGIES
            if ours and schema is not None and not isinstance(schema, dict):
                yield Field("structured_response", schema, Keep(), declared=False, required=False)


def _enclosed(bound: Any) -> Iterator[object]:
    """Give what a node's function encloses."""
    for name in ("func", "afunc"):
        function = getattr(bound, name, None)
        if not isinstance(function, FunctionType):
            continue
        for cell in function.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:  # a name that was not given a value yet
                continue
