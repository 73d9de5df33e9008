"""A graph with a DeltaChannel; older releases of LangGraph have none."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START, StateGraph

from tests.adapters.langgraph.saver.graphs import THREAD, history, seen


def extend(old: list[Any] | None, new: list[list[Any]]) -> list[Any]:
    return [*(old or []), *(item for part in new for item in part)]


class Growing(TypedDict, total=False):
    log: Annotated[list[Any], DeltaChannel(extend, snapshot_frequency=3)]
    count: int


def graph(saver: Any) -> Any:
    builder: Any = StateGraph(Growing)
    builder.add_node("a", lambda s: {"log": [len(s["log"])], "count": s.get("count", 0) + 1})
    builder.add_conditional_edges("a", lambda s: "a" if s["count"] % 7 else END)
    builder.add_edge(START, "a")
    return builder.compile(checkpointer=saver)


def delta(saver: Any, durability: Any) -> list[Any]:
    """A DeltaChannel, whose values LangGraph rebuilds from pending writes."""
    grown, told = graph(saver), []
    for given in ("i", "j"):
        told.append(grown.invoke({"log": [given]}, THREAD, durability=durability))
        told.append(history(grown))
    old = list(grown.get_state_history(THREAD))[-1 if durability == "exit" else 4]
    told.append(grown.invoke(None, old.config, durability=durability))
    told.append(seen(grown.get_state(THREAD)))
    grown.update_state(THREAD, {"log": ["u"], "count": 3}, as_node="a")
    told.append(seen(grown.get_state(THREAD)))
    told.append(grown.invoke(None, THREAD, durability=durability))
    return told
