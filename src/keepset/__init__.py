"""keepset: the checkpoint layer for agent and LLM workflows."""

__version__ = "0.1.0"
