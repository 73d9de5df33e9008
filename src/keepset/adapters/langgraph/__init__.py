"""keepset as the checkpoint layer of LangGraph."""
