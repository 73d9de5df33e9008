"""keepset: the checkpoint layer for agent and LLM workflows."""
