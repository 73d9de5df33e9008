"""The epoch of a state's contract, on the saver of a bound graph."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

import keepset as ks
from keepset.adapters.langgraph.saver import KeepsetSaver
from keepset.errors import ConflictError
from tests.adapters.langgraph.binding.stores import CONFIG


class State(TypedDict, total=False):
    answer: Annotated[str, ks.Keep()]


def graph_of(store: Any, epoch: int, ran: list[int]) -> Any:
    def ask(_: State) -> Any:
        ran.append(epoch)
        return {"answer": interrupt("?")}

    builder: Any = StateGraph(ks.contract(name="ticket", epoch=epoch)(State))
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    return KeepsetSaver(store).bind(builder.compile())


def test_what_a_higher_epoch_has_written_is_said_to_be_refused_and_is_before_a_node_runs() -> None:
    ran: list[int] = []
    with ks.open("memory:") as store:
        graph_of(store, 2, ran).invoke({}, CONFIG)
        old = graph_of(store, 1, ran)
        report = old.checkpointer.can_resume(CONFIG)
        assert report.verdict is ks.Resume.INCOMPATIBLE
        assert [reason.code for reason in report.reasons] == ["conflict.epoch"]
        with pytest.raises(ConflictError, match="epoch 2 has written"):
            old.invoke(Command(resume="yes"), CONFIG)
        assert ran == [2]


def test_what_a_lower_epoch_has_written_goes_on() -> None:
    ran: list[int] = []
    with ks.open("memory:") as store:
        graph_of(store, 1, ran).invoke({}, CONFIG)
        new = graph_of(store, 2, ran)
        assert new.checkpointer.can_resume(CONFIG).verdict is ks.Resume.AS_IS
        assert new.invoke(Command(resume="yes"), CONFIG) == {"answer": "yes"}
