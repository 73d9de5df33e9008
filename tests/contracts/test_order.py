"""A field is restored after the fields that it is restored from."""

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.contracts import Keep, Refetch, Reopen, contract_of, restore_order
from keepset.errors import SchemaError
from tests.contracts.making import state


def load(*used: object) -> object:
    return used


def connect() -> object:
    return object()


def refetch(*names: str) -> Any:
    return Annotated[str, Refetch(load, using=names)]


def order(**fields: Any) -> tuple[str, ...]:
    return restore_order(contract_of(state(**fields)))


KEPT = Annotated[str, Keep()]


def test_kept_fields_come_first_and_each_refetch_after_what_it_uses() -> None:
    found = order(
        c=refetch("b", "db"), b=refetch("ids"), ids=KEPT, db=Annotated[str, Reopen(connect)], q=KEPT
    )
    assert found == ("ids", "q", "b", "db", "c")


def test_without_dependencies_the_order_is_that_of_the_declaration() -> None:
    assert order(b=KEPT, a=KEPT, c=KEPT) == ("b", "a", "c")


def test_a_name_that_is_no_field_does_not_stop_the_others() -> None:
    assert order(a=refetch("gone"), b=KEPT) == ("b", "a")


@pytest.mark.parametrize(
    "fields", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "b", "b": "c", "c": "b"}]
)
def test_a_cycle_has_no_order(fields: dict[str, str]) -> None:
    with pytest.raises(SchemaError) as caught:
        order(**{name: refetch(used) for name, used in fields.items()})
    assert caught.value.code == "rule.cycle"


@given(st.permutations("abcdef"), st.data())
def test_any_graph_without_cycles_is_ordered(names: list[str], data: st.DataObject) -> None:
    before: dict[str, Any] = {}
    for name in names:
        uses = data.draw(st.sets(st.sampled_from(sorted(before)))) if before else ()
        before[name] = refetch(*sorted(uses)) if uses else KEPT
    shuffled = data.draw(st.permutations(sorted(before)))
    fields = {name: before[name] for name in shuffled}
    found = order(**fields)
    assert sorted(found) == sorted(fields)
    for name, field in contract_of(state(**fields)).fields.items():
        for used in field.rule.using if isinstance(field.rule, Refetch) else ():
            assert found.index(used) < found.index(name)
