"""keepset for LangGraph: ``pip install "keepset[langgraph]"``."""

from keepset.adapters.langgraph.compiling import (
    compile_graph as compile,  # noqa: A004 - so that `keepset.langgraph.compile` reads as one line
)
from keepset.adapters.langgraph.saver import KeepsetSaver

__all__ = ["KeepsetSaver", "compile"]
