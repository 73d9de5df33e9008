"""A class that a channel holds gains and loses fields while a thread waits."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from keepset import Resume
from keepset.errors import DecodeError
from tests.adapters.langgraph.graph.deploys import CONFIG, Deploys
from tests.contracts.making import state


class Order(BaseModel):
    name: str


class Longer(Order):
    note: str = "none"


class Required(Order):
    note: str


Longer.__qualname__ = Required.__qualname__ = "Order"


def graph_of(order: Any) -> Any:
    kept = state(order=order, said=str)

    def ask(given: Any) -> dict[str, Any]:
        said = interrupt("send?")
        return {"said": f"{said} {given['order'].model_dump()}"}

    builder: Any = StateGraph(kept)
    builder.add_node("draft", lambda _: {"order": order(name="chair")})
    builder.add_node("ask", ask)
    builder.add_edge(START, "draft")
    builder.add_edge("draft", "ask")
    return builder


def waits(deploys: Deploys, order: Any) -> None:
    deploys.call(deploys.deploy(graph_of(order)), {"said": ""})


def test_a_thread_goes_on_with_a_class_that_has_gained_a_field_with_a_default(
    deploys: Deploys,
) -> None:
    waits(deploys, Order)
    graph = deploys.deploy(graph_of(Longer))
    assert graph.get_state(CONFIG).values["order"] == Longer(name="chair")
    assert graph.checkpointer.can_resume(CONFIG).verdict is Resume.AS_IS
    out = deploys.call(graph, Command(resume="yes"))
    assert out["said"] == "yes {'name': 'chair', 'note': 'none'}"


@pytest.mark.parametrize(
    ("old", "new", "way_out"),
    [
        (Order, Required, "Give the new fields"),
        (Longer, Order, "Keep the removed"),
    ],
)
def test_a_class_that_cannot_read_what_is_stored_is_refused_with_its_field_and_the_way_out(
    on_disk: Deploys, old: Any, new: Any, way_out: str
) -> None:
    waits(on_disk, old)
    graph = on_disk.deploy(graph_of(new))
    given: Any
    for given in (None, Command(resume="yes")):
        with pytest.raises(DecodeError, match=r"Order.*: note") as refused:
            _ = graph.get_state(CONFIG) if given is None else on_disk.call(graph, given)
        assert way_out in refused.value.hint
        assert "keepset show" in refused.value.hint
