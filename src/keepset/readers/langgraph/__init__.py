"""What LangGraph's own savers and stores leave in a database."""
