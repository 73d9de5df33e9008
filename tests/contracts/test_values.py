"""A state taken apart and put together again equals itself, and no constructor runs."""

import dataclasses
from typing import Annotated, Any, Generic, NotRequired, TypedDict, TypeVar

import msgspec
import pytest
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator

from keepset.contracts import Drop, Keep, contract_of
from keepset.errors import SchemaError, UsageError

T = TypeVar("T")


class AsDict(TypedDict):
    name: Annotated[str, Keep()]
    tags: Annotated[list[str], Keep()]
    note: NotRequired[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    name: str
    tags: list[str]
    count: int = dataclasses.field(default=0, init=False)

    def __post_init__(self) -> None:
        raise RuntimeError


@dataclasses.dataclass
class Base:
    name: str


@dataclasses.dataclass
class Child(Base, Generic[T]):
    item: T
    made: list[int] = dataclasses.field(default_factory=list)


class Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str = Field(alias="NAME")
    tags: list[str] = []
    _seen: list[int] = PrivateAttr(default_factory=list)
    _late: int = PrivateAttr()

    @field_validator("name")
    @classmethod
    def upper(cls, name: str) -> str:
        return name.upper()


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class Struct(msgspec.Struct, frozen=True):
    name: str
    tags: list[str] = []
    size: int = msgspec.field(default=0, name="SIZE")

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "size", self.size + 1)


def frozen(**values: Any) -> Frozen:
    state = object.__new__(Frozen)
    for name, value in {"count": 0, **values}.items():
        object.__setattr__(state, name, value)
    return state


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        (AsDict, {"name": "a", "tags": ["b"]}),
        (Frozen, frozen(name="a", tags=["b"], count=7)),
        (Child[int], Child("a", 3, [4])),
        (Model, Model(NAME="a", tags=["b"])),
        (Struct, Struct("a", ["b"], 4)),
        (Open, Open(name="a")),
    ],
)
def test_what_is_taken_apart_is_put_together_again_equal(kind: Any, state: Any) -> None:
    contract = contract_of(kind)
    again = contract.build(contract.values(state))
    assert again == state
    assert type(again) is type(state)
    assert again is not state


def test_a_model_is_built_without_validators_and_with_its_private_attributes() -> None:
    model = contract_of(Model).build({"name": "lower"})
    assert (model.name, model.tags, model._seen) == ("lower", [], [])
    assert model.model_fields_set == {"name"}
    assert model.model_dump() == {"name": "lower", "tags": []}
    assert contract_of(Model).build({"name": "x"}).tags is not model.tags


def test_absent_fields_get_their_defaults_and_stay_absent_in_a_typeddict() -> None:
    child = contract_of(Child[int]).build({"name": "a", "item": 1})
    assert child == Child("a", 1, [])
    assert contract_of(AsDict).build({"name": "a"}) == {"name": "a"}
    assert contract_of(Struct).build({"name": "a"}).tags == []


def test_a_dropped_field_has_the_default_of_its_rule() -> None:
    class State(TypedDict):
        cache: Annotated[dict[str, int], Drop(default={"a": 1})]

    contract = contract_of(State)
    first = contract.build({})
    assert first == {"cache": {"a": 1}}
    first["cache"]["b"] = 2
    assert contract.build({}) == {"cache": {"a": 1}}


def test_a_required_field_without_a_value_is_an_error_that_names_it() -> None:
    with pytest.raises(SchemaError) as caught:
        contract_of(Child[int]).build({"name": "a"})
    assert caught.value.code == "state.missing-field"
    assert "Child.item" in caught.value.message


def test_a_field_that_the_contract_does_not_have_is_refused_by_name() -> None:
    contract = contract_of(AsDict)
    for act in (contract.values, contract.build, contract.admit):
        with pytest.raises(UsageError) as caught:
            act({"name": "a", "zeta": "planted", "alpha": 1})
        assert caught.value.code == "state.unknown-field"
        assert "alpha, zeta" in caught.value.message
        assert "planted" not in str(caught.value)


def test_extra_fields_of_an_open_model_are_refused_and_not_lost() -> None:
    with pytest.raises(UsageError) as caught:
        contract_of(Open).values(Open(name="a", more=1))  # type: ignore[call-arg]  # extra is allowed
    assert caught.value.code == "state.unknown-field"


class Sub(Base):
    pass


@pytest.mark.parametrize(
    ("kind", "state", "shown"),
    [
        (AsDict, ["name"], "list"),
        (Base, {"name": "a"}, "dict"),
        (Base, Sub("a"), "Sub"),
        (Model, None, "NoneType"),
    ],
)
def test_a_state_of_another_kind_is_refused_with_its_type(
    kind: Any, state: object, shown: str
) -> None:
    with pytest.raises(UsageError) as caught:
        contract_of(kind).values(state)
    assert caught.value.code == "state.wrong-type"
    assert f"this is a {shown}" in caught.value.message


def test_values_keep_the_order_of_the_contract() -> None:
    assert list(contract_of(AsDict).values({"tags": [], "name": "a"})) == ["name", "tags"]


def test_an_attribute_that_was_never_set_is_absent() -> None:
    half = object.__new__(Frozen)
    object.__setattr__(half, "name", "a")
    assert contract_of(Frozen).values(half) == {"name": "a"}
