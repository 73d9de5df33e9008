"""A class that a channel holds gains and loses fields while a thread waits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from keepset import Resume
from keepset.errors import DecodeError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.graph.deploys import CONFIG, Deploys
from tests.adapters.langgraph.saver.steps import config, put
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
        (Order, Required, "Give note of class Order a default"),
        (Longer, Order, "Put note back into class Order"),
    ],
)
def test_a_class_that_cannot_read_what_is_stored_is_refused_with_its_field_and_the_way_out(
    on_disk: Deploys, old: Any, new: Any, way_out: str
) -> None:
    waits(on_disk, old)
    graph = on_disk.deploy(graph_of(new))
    calls: list[Callable[[], Any]] = [
        lambda: graph.get_state(CONFIG),
        lambda: list(graph.get_state_history(CONFIG)),
        lambda: graph.update_state(CONFIG, {"said": "no"}),
        lambda: on_disk.call(graph, Command(resume="yes")),
    ]
    for call in calls:
        with pytest.raises(DecodeError, match=r"thread order-7: .*Order.*: note") as refused:
            call()
        assert_says(way_out, refused.value.hint)
    report = graph.checkpointer.can_resume(CONFIG)
    assert report.verdict is Resume.INCOMPATIBLE
    assert_says(way_out, report.reasons[0].hint)


def assert_says(way_out: str, hint: str) -> None:
    assert way_out in hint
    assert "finish the thread with the code that wrote it" in hint
    assert "keepset show" in hint


def test_the_same_is_said_by_a_saver_that_is_not_bound(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/runs.db"
    with KeepsetSaver(url, types={"order/1": Order}) as saver:
        put(saver, config("t"), 0, order=[Order(name="chair")])
    with (
        KeepsetSaver(url, types={"order/1": Required}) as saver,
        pytest.raises(DecodeError, match=r"thread t: order/1: .*note") as refused,
    ):
        saver.get_tuple(config("t"))
    assert_says("Give note of class Order a default", refused.value.hint)
