"""A class in a state changes between the process that wrote a run and the one that goes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest

import keepset as ks
from keepset.errors import SchemaError
from tests.contracts.making import state


@dataclass
class Order:
    name: str


@dataclass
class Longer(Order):
    note: str = "none"


@dataclass
class Required(Order):
    note: str


Longer.__qualname__ = Required.__qualname__ = "Order"


def contract_with(order: type) -> Any:
    return state(order=Annotated[order, ks.Keep()], n=Annotated[int, ks.Keep()])


@pytest.fixture
def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/runs.db"
    with ks.open(url) as store:
        store.run(contract_with(Order), "r").save("step", {"order": Order("chair"), "n": 1})
    return url


def test_a_run_goes_on_with_a_class_that_has_gained_a_member_with_a_default(url: str) -> None:
    with ks.open(url) as store:
        assert store.can_resume("r", contract_with(Longer)).verdict is ks.Resume.AS_IS
        run = store.run(contract_with(Longer), "r")
        assert run.state["order"] == Longer("chair", "none")
        run.save("step", {**run.state, "n": 2})
    with ks.open(url) as store:
        again = store.run(contract_with(Longer), "r")
        assert again.state == {"order": Longer("chair", "none"), "n": 2}


def test_a_run_does_not_go_on_with_one_that_has_gained_a_member_without_a_default(url: str) -> None:
    with ks.open(url) as store:
        reason = store.can_resume("r", contract_with(Required)).reasons[0]
        assert reason.verdict is ks.Resume.INCOMPATIBLE
        assert reason.message == "order: class Order has gained note, which has no default"
        assert "Give note of Order a default" in reason.hint
        with pytest.raises(SchemaError, match="class Order has gained note"):
            _ = store.run(contract_with(Required), "r").state
