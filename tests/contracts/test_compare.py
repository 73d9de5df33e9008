"""Whether a run that an older contract wrote can go on, said field by field."""

import dataclasses
import json
from typing import Annotated, Any, NotRequired

import pytest

from keepset.contracts import (
    Differences,
    Drop,
    Extract,
    Keep,
    Refetch,
    Reopen,
    Scratch,
    Secret,
    compare,
    contract_of,
)
from keepset.errors import DecodeError, SchemaError
from tests.contracts.making import state


def load(*used: object) -> object:
    return used


def connect() -> object:
    return object()


def differences(old: dict[str, Any], new: Any) -> Differences:
    made = state(**new) if isinstance(new, dict) else new
    return compare(contract_of(state(**old)).structure, contract_of(made))


K = Annotated[str, Keep()]
OLD = {"a": K, "b": Annotated[str, Reopen(connect)]}


def test_the_same_contract_has_no_differences() -> None:
    found = differences(OLD, OLD)
    assert found == Differences((), (), ())
    assert found.compatible
    assert found.sentences == ()


@pytest.mark.parametrize(
    ("field", "compatible"),
    [
        (K, False),
        (NotRequired[K], True),
        (Annotated[str, Extract("a")], False),
        (Annotated[str, Reopen(connect)], True),
        (Annotated[str, Scratch(connect)], True),
        (Annotated[str, Secret("env:K")], True),
        (Annotated[str, Drop()], False),
        (Annotated[str, Drop(default="")], True),
        (NotRequired[Annotated[str, Drop()]], True),
        (Annotated[str, Refetch(load, using="a")], True),
        (Annotated[str, Refetch(load, using=("a", "b"))], True),
        (Annotated[str, Refetch(load, using="gone")], False),
    ],
)
def test_a_new_field_needs_a_value_from_somewhere(field: Any, *, compatible: bool) -> None:
    found = differences(OLD, {**OLD, "new": field})
    assert [difference.name for difference in found.added] == ["new"]
    assert found.compatible is compatible
    assert found.removed == found.changed == ()


def test_a_new_field_with_a_default_of_the_state_is_compatible() -> None:
    @dataclasses.dataclass
    class New:
        a: Annotated[str, Keep()]
        b: Annotated[str, Reopen(connect)]
        more: list[str] = dataclasses.field(default_factory=list)

    assert differences(OLD, New).compatible


def test_a_refetch_from_a_field_that_is_new_itself_is_not() -> None:
    new = {**OLD, "ids": NotRequired[K], "docs": Annotated[str, Refetch(load, using="ids")]}
    found = differences(OLD, new)
    assert {d.name: d.compatible for d in found.added} == {"ids": True, "docs": False}


def test_a_field_that_is_gone_matters_where_it_was_stored() -> None:
    assert not differences(OLD, {"b": OLD["b"]}).compatible
    found = differences(OLD, {"a": K})
    assert found.compatible
    assert [difference.name for difference in found.removed] == ["b"]


@dataclasses.dataclass
class Item:
    text: str


@dataclasses.dataclass
class Longer:
    text: str
    size: int


Longer.__qualname__ = "Item"


@pytest.mark.parametrize(
    ("old", "new", "compatible"),
    [
        (str, int, False),
        (str, str | None, True),
        (str | None, str, False),
        (list[str], list[str | None], False),
        (Item, Longer, False),
        (list[Item], list[Longer], False),
        (Item, Item | str, True),
        (Item, Longer | str, False),
    ],
)
def test_the_type_of_a_kept_field_may_only_become_wider(
    old: Any, new: Any, *, compatible: bool
) -> None:
    found = differences({"a": Annotated[old, Keep()]}, {"a": Annotated[new, Keep()]})
    assert found.compatible is compatible
    assert [difference.name for difference in found.changed] == ["a"]
    assert ("wider" in found.sentences[0]) is compatible


@pytest.mark.parametrize(
    ("old", "new", "compatible"),
    [
        (Keep(), Keep(personal=True), True),
        (Keep(), Extract("x"), True),
        (Keep(), Reopen(connect), True),
        (Keep(), Secret("env:K"), True),
        (Keep(), Drop(), False),
        (Keep(), Drop(default=""), True),
        (Keep(), Refetch(load, using="ids"), True),
        (Reopen(connect), Keep(), False),
        (Reopen(connect), Secret("env:K"), True),
        (Refetch(load, using="ids"), Refetch(load, using="ids", pin="report"), True),
        (Refetch(load, using="ids"), Refetch(load, using="other"), False),
        (Secret("env:A"), Secret("env:B"), True),
    ],
)
def test_another_rule_is_compatible_where_the_field_still_gets_its_value(
    old: Any, new: Any, *, compatible: bool
) -> None:
    found = differences({"a": Annotated[str, old], "ids": K}, {"a": Annotated[str, new], "ids": K})
    assert found.compatible is compatible
    assert [difference.name for difference in found.changed] == ["a"]


def test_what_may_be_absent_in_the_run_cannot_be_required_now() -> None:
    assert not differences({"a": NotRequired[K]}, {"a": K}).compatible
    assert differences({"a": K}, {"a": NotRequired[K]}).compatible


def test_rules_that_wait_for_each_other_are_not_compatible() -> None:
    new = {
        **OLD,
        "x": Annotated[str, Refetch(load, using="y")],
        "y": Annotated[str, Refetch(load, using="x")],
    }
    assert not differences(OLD, new).compatible


def test_each_difference_is_a_sentence_and_what_stops_a_run_stands_first() -> None:
    found = differences(OLD, {"b": OLD["b"], "new": NotRequired[K]})
    assert found.sentences[0].startswith("a: it is gone")
    assert found.sentences[1].startswith("new: it is new")


SOUND = contract_of(state(a=K)).structure
DEEP = "[" * 5_000 + "]" * 5_000


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", "null", '{"format": 1}', "x", "7", '"text"'),
        "[" * 100_000,
        '{"a":' * 100_000,
        DEEP,
        '{"format":1,"fields":[],"classes":{}}',
        '{"format":1,"fields":{},"classes":[]}',
        '{"format":1,"fields":{"a":7},"classes":{}}',
        '{"format":1,"fields":{"a":{"type":"str"}},"classes":{}}',
        '{"format":1,"fields":{"a":{"rule":{"kind":7},"type":"str"}},"classes":{}}',
        '{"format":1,"fields":{"a":{"rule":{"kind":"Keep"},"type":{"union":7}}},"classes":{}}',
        SOUND.replace('"classes":{}', f'"classes":{{"A":{"[" * 200}{"]" * 200}}}'),
        SOUND[:-1],
    ],
    ids=lambda text: text[:60],
)
def test_a_text_that_is_no_structure_is_an_error(text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        compare(text, contract_of(state(a=K)))
    assert caught.value.code == "contract.structure"


@pytest.mark.parametrize(
    "value", [None, 7, [], {}, "str", {"class": "A"}, {"class": []}, [[["x"]]]]
)
def test_whatever_stands_for_a_type_or_a_class_there_is_an_answer(value: object) -> None:
    rule = {"kind": "Keep", "more": value}
    field = {"rule": rule, "type": value, "optional": value}
    read = {"format": 1, "fields": {"a": field, "b": field}, "classes": {"A": value}}
    assert not compare(json.dumps(read), contract_of(state(a=K))).compatible


def test_a_structure_of_a_newer_release_is_an_error_of_its_own() -> None:
    newer = {**json.loads(contract_of(state(a=K)).structure), "format": 2}
    with pytest.raises(SchemaError) as caught:
        compare(json.dumps(newer), contract_of(state(a=K)))
    assert caught.value.code == "contract.structure-format"
