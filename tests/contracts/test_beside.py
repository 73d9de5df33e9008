"""What an instance of a state holds beside its fields is refused by name, and not lost."""

import dataclasses
import functools
import threading
from typing import Any, Generic, TypeVar

import msgspec
import pytest
from pydantic import BaseModel, ConfigDict, PrivateAttr

from keepset.contracts import contract_of
from keepset.errors import UsageError

T = TypeVar("T")
CALLS: list[str] = []


def connect() -> object:
    CALLS.append("connect")
    return object()


class Model(BaseModel):
    model_config = ConfigDict(ignored_types=(functools.cached_property,))
    name: str
    tags: list[str] = []
    _seen: list[int] = PrivateAttr(default_factory=list)
    _count: int = 0
    _late: int = PrivateAttr()
    _lock: Any = PrivateAttr(default_factory=threading.Lock)
    _client: Any = PrivateAttr(default_factory=connect)
    _mark: Any = PrivateAttr(default=object())

    @functools.cached_property
    def upper(self) -> str:
        return self.name.upper()


@dataclasses.dataclass
class Data(Generic[T]):
    name: T

    @functools.cached_property
    def twice(self) -> tuple[T, T]:
        return self.name, self.name


class Slotted:
    __slots__ = ("_cache",)


@dataclasses.dataclass(slots=True)
class InSlots(Slotted):
    name: str


class Struct(msgspec.Struct, dict=True):
    name: str


def changed(state: Any, **attributes: Any) -> Any:
    for name, value in attributes.items():
        put = setattr if isinstance(state, msgspec.Struct) else object.__setattr__
        put(state, name, value)
    return state


def private(**attributes: Any) -> Model:
    model = Model(name="a")
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


@pytest.mark.parametrize(
    ("state", "names"),
    [
        (private(_count=1), "_count"),
        (private(_count=True), "_count"),
        (private(_seen=[1]), "_seen"),
        (private(_late=0), "_late"),
        (private(_mark="planted"), "_mark"),
        (private(_client="planted"), "_client"),
        (private(_count=2, _seen=[3]), "_seen, _count"),
        (changed(Model(name="a"), note="planted"), "note"),
        (changed(Data("a"), note="planted", other=1), "note, other"),
        (changed(InSlots("a"), _cache="planted"), "_cache"),
        (changed(Struct("a"), note="planted"), "note"),
    ],
)
def test_what_is_no_field_and_not_as_in_a_fresh_state_is_refused_by_name(
    state: Any, names: str
) -> None:
    with pytest.raises(UsageError) as caught:
        contract_of(type(state)).values(state)
    assert caught.value.code == "state.undeclared-attribute"
    assert caught.value.message.endswith(f": {names}")
    assert "planted" not in str(caught.value)


def test_what_a_fresh_state_has_as_well_passes() -> None:
    for state in (Model(name="a"), Data[str]("a"), InSlots("a"), Struct("a")):
        assert contract_of(type(state)).values(state)["name"] == "a"
    cached, data = Model(name="a"), Data("a")
    assert (cached.upper, data.twice) == ("A", ("a", "a"))
    assert contract_of(Model).values(cached) == {"name": "a", "tags": []}
    assert contract_of(Data).values(data) == {"name": "a"}


def test_a_function_that_makes_a_private_attribute_is_not_called_to_take_a_state_apart() -> None:
    model = Model(name="a")
    CALLS.clear()
    contract_of(Model).values(model)
    assert CALLS == []


def test_a_built_model_says_that_the_fields_with_values_were_set() -> None:
    contract = contract_of(Model)
    model = Model(name="a", tags=["b"])
    assert contract.build(contract.values(model)).model_fields_set == model.model_fields_set
    assert contract.build({"name": "a"}).model_fields_set == {"name"}
