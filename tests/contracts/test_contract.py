"""A contract has a name and an epoch, and is the same each time."""

from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypedDict, TypeVar

import pytest
from pydantic import BaseModel

from keepset.contracts import Keep, contract, contract_of
from keepset.errors import UsageError

T = TypeVar("T")


@contract(name="ticket", epoch=2)
class Ticket(TypedDict):
    question: Annotated[str, Keep()]


class Bare(TypedDict):
    question: Annotated[str, Keep()]


@contract(name="model", epoch=1)
class Model(BaseModel, Generic[T]):
    item: Annotated[T, Keep()]


class Around:
    @dataclass
    class Inner:
        question: Annotated[str, Keep()]


def test_a_declared_contract_has_its_name_and_epoch() -> None:
    found = contract_of(Ticket)
    assert (found.name, found.epoch) == ("ticket", 2)
    assert found.state is Ticket


def test_an_undeclared_one_has_the_name_of_its_class_and_epoch_0() -> None:
    assert (contract_of(Bare).name, contract_of(Bare).epoch) == ("Bare", 0)
    assert contract_of(Around.Inner).name == "Around.Inner"


def test_a_name_alone_does_not_begin_an_epoch_and_an_epoch_alone_keeps_the_name() -> None:
    @contract(name="named")
    class Named(TypedDict):
        x: int

    @contract(epoch=3)
    class Numbered(TypedDict):
        x: int

    assert (contract_of(Named).name, contract_of(Named).epoch) == ("named", 0)
    assert contract_of(Numbered).name.endswith("Numbered")
    assert contract_of(Numbered).epoch == 3


def test_a_subclass_does_not_inherit_the_declaration() -> None:
    @contract(name="base", epoch=4)
    @dataclass
    class Base:
        x: int

    @dataclass
    class Child(Base):
        y: int

    assert contract_of(Base).epoch == 4
    assert contract_of(Child).epoch == 0


def test_a_generic_state_has_one_name_and_a_shape_per_argument() -> None:
    ints, texts = contract_of(Model[int]), contract_of(Model[str])
    assert ints.name == texts.name == "model"
    assert ints.epoch == 1
    assert ints.shape != texts.shape


def test_the_contract_is_the_same_each_time_and_given_back_as_it_is() -> None:
    assert contract_of(Ticket) is contract_of(Ticket)
    assert contract_of(contract_of(Ticket)) is contract_of(Ticket)
    assert contract_of(Model[int]) is contract_of(Model[int])


@pytest.mark.parametrize("name", ["", " ", "a b", "-a", "a-", "a//b", "a..b", "ä", "x" * 101, 3])
def test_a_name_that_could_not_stand_in_a_key_is_refused(name: Any) -> None:
    with pytest.raises(UsageError) as caught:
        contract(name=name, epoch=1)
    assert caught.value.code == "contract.name"


@pytest.mark.parametrize("name", ["ticket", "shop/ticket", "a-b_c.d", "Ticket2"])
def test_a_plain_name_is_accepted(name: str) -> None:
    @contract(name=name, epoch=1)
    class State(TypedDict):
        x: int

    assert contract_of(State).name == name


@pytest.mark.parametrize("epoch", [0, -1, True, 1.0, "1"])
def test_an_epoch_counts_from_1(epoch: Any) -> None:
    with pytest.raises(UsageError) as caught:
        contract(name="ticket", epoch=epoch)
    assert caught.value.code == "contract.epoch"


def test_a_contract_below_the_dataclass_decorator_is_refused_with_the_right_order() -> None:
    class Plain:
        x: int

    with pytest.raises(UsageError) as caught:
        contract(name="ticket", epoch=1)(Plain)
    assert caught.value.code == "contract.not-a-state"
    assert "above @dataclass" in caught.value.hint
