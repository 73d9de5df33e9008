"""keepset for LangGraph: ``pip install "keepset[langgraph]"``."""

from keepset.adapters.langgraph.saver import KeepsetSaver

__all__ = ["KeepsetSaver"]
