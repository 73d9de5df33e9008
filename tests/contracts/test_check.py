"""`check` finds what is unsound, where it is, and nothing in what is sound."""

import abc
import collections
import dataclasses
import sqlite3
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NotRequired, Protocol, TypedDict

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from pydantic import BaseModel, SecretStr

from keepset.contracts import (
    Drop,
    Extract,
    Keep,
    Refetch,
    Reopen,
    Scratch,
    Secret,
    check,
    contract_of,
    serialisable,
)
from keepset.errors import SchemaError
from tests.contracts.making import state


def load(*used: object) -> object:
    return used


def connect() -> sqlite3.Connection:
    return sqlite3.connect(":memory:")


def found(**fields: Any) -> list[tuple[str, str, str]]:
    return [(p.severity, p.code, p.path) for p in check(state(**fields))]


def kept(annotation: Any) -> list[tuple[str, str, str]]:
    return found(field=Annotated[annotation, Keep(max_bytes=1000)])


def function() -> int:
    return 1


class Maker:
    def __call__(self) -> int:
        return 1


@pytest.mark.parametrize(
    "annotation",
    [function, Maker(), Maker().__call__, partial(function), len, np.array],
)
def test_a_function_in_place_of_a_type_is_an_error_with_its_path(annotation: Any) -> None:
    assert kept(annotation) == [("error", "codec.unknown-type", "field")]
    assert kept(list[annotation]) == [("error", "codec.unknown-type", "field[*]")]
    assert found(field=Annotated[annotation, Reopen(function)]) == []


@pytest.mark.parametrize("lock", [threading.Lock, threading.RLock])
def test_a_lock_is_an_error_whether_it_is_a_class_or_a_function(lock: Any) -> None:
    """Both are functions in Python 3.11; a class since 3.13."""
    (problem,) = check(state(lock=Annotated[lock, Keep()]))
    assert (problem.code, problem.severity, problem.path) == ("codec.unknown-type", "error", "lock")
    assert "Reopen" in problem.hint


@pytest.mark.parametrize("name", ["", "docs#pin", "#"])
def test_a_name_that_keepset_cannot_store_a_field_under_is_an_error(name: str) -> None:
    made = state(**{name: Annotated[int, Keep()]})
    assert [(p.code, p.severity) for p in check(made)] == [("field.name", "error")]
    with pytest.raises(SchemaError, match=r"field\.name"):
        contract_of(made)


@dataclasses.dataclass
class Document:
    text: str
    when: datetime
    path: Path | None


class Client:
    pass


@dataclasses.dataclass
class Holder:
    name: str
    clients: dict[str, list[Client]]
    again: "list[Holder]"


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self) -> float: ...


class Quacks(Protocol):
    def quack(self) -> None: ...


class Sound(TypedDict):
    question: Annotated[str, Keep(personal=True, subject="user_id")]
    user_id: Annotated[str, Keep()]
    doc_ids: Annotated[list[str], Keep(append_only=True)]
    docs: Annotated[list[Document], Refetch(load, using=("doc_ids", "db"))]
    db: Annotated[sqlite3.Connection, Reopen(connect)]
    api_key: Annotated[str, Secret("env:OPENAI_API_KEY")]
    more: Annotated[list[Document], Refetch(load, using="docs")]
    workdir: Annotated[Path, Scratch(Path.cwd)]
    answer: Annotated[str, Extract("choices[0].message.content")]
    cache: Annotated[NotRequired[dict[str, object]], Drop()]
    hint: Annotated[str, Drop(default="")]
    messages: Annotated[list[dict[str, Any]], Keep(max_bytes=9, without="*.response_metadata")]


def test_nothing_is_found_in_a_sound_contract() -> None:
    assert check(Sound) == []
    assert check(contract_of(Sound), strict=True) == []


def test_every_problem_has_a_sentence_and_a_way_out() -> None:
    problems = check(
        state(
            a=Annotated[list[Client], Keep()],
            b=Annotated[str, Refetch(lambda x: x, using="gone")],
            password=str,
            d=Annotated[int, Drop()],
        )
    )
    assert {p.path.split("[")[0] for p in problems} == {"a", "b", "password", "d"}
    assert all(p.message and p.hint for p in problems)


def test_a_refetch_needs_fields_that_are_there_and_kept() -> None:
    docs = Annotated[str, Refetch(load, using="x")]
    assert found(docs=docs) == [("error", "refetch.unknown-field", "docs")]
    lost = [("error", "refetch.not-kept", "docs")]
    assert found(docs=docs, x=Annotated[str, Drop(default="")]) == lost
    assert found(docs=docs, x=Annotated[str, Scratch(connect)]) == lost
    assert found(docs=docs, x=Annotated[str, Reopen(connect)]) == lost
    assert found(docs=docs, x=Annotated[str, Secret("env:X")]) == lost
    assert found(docs=docs, x=Annotated[str, Keep()]) == []
    assert found(docs=docs, x=Annotated[str, Extract("a")]) == []


def test_a_refetch_may_use_what_is_restored_before_it_when_something_kept_is_behind() -> None:
    chain = {
        "a": Annotated[str, Refetch(load, using="b")],
        "b": Annotated[str, Refetch(load, using=("c", "d"))],
        "c": Annotated[str, Reopen(connect)],
    }
    assert found(**chain, d=Annotated[str, Keep()]) == []
    assert found(**chain, d=Annotated[str, Scratch(connect)]) == [
        ("error", "refetch.not-kept", "a"),
        ("error", "refetch.not-kept", "b"),
    ]


def test_a_cycle_of_rules_is_found_once_with_its_members() -> None:
    problems = check(
        state(
            a=Annotated[str, Refetch(load, using="b")],
            b=Annotated[str, Refetch(load, using="c")],
            c=Annotated[str, Refetch(load, using="a")],
            d=Annotated[str, Refetch(load, using="d")],
        )
    )
    assert [(p.code, p.path) for p in problems] == [("rule.cycle", "a"), ("rule.cycle", "d")]
    assert "a uses b uses c uses a" in problems[0].message


@pytest.mark.parametrize(
    ("annotation", "path"),
    [
        (sqlite3.Connection, "field"),
        (list[sqlite3.Connection | None], "field[*]"),
        (list[Holder], "field[*].clients[*][*]"),
        (dict[str, threading.Event | int], "field[*]"),
        (dict[str, Callable[[int], int]], "field[*]"),
        (tuple[int, Iterator[int]], "field[1]"),
        (dict[Client, int], "field[key]"),
        (type[int], "field"),
        (NDArray[np.object_], "field"),
    ],
)
def test_what_cannot_be_serialised_is_found_with_its_path_inside_the_type(
    annotation: Any, path: str
) -> None:
    assert kept(annotation) == [("error", "codec.unknown-type", path)]


@pytest.mark.parametrize(
    "annotation",
    [
        list[Document],
        dict[str, tuple[int, ...]] | None,
        collections.deque[bytes],
        collections.Counter[str],
        collections.defaultdict[str, list[int]],
        frozenset[complex],
        Any,
        object,
        NDArray[np.float64],
        np.float32,
        pd.DataFrame,
        ValueError,
        collections.abc.Mapping[str, collections.abc.Sequence[int]],
    ],
)
def test_what_the_codec_knows_is_not_found(annotation: Any) -> None:
    assert kept(annotation) == []
    assert serialisable(annotation) == []


def test_a_class_that_hides_a_secret_is_found_inside_a_model() -> None:
    class Settings(BaseModel):
        key: SecretStr | None

    assert kept(list[Settings]) == [("error", "codec.secret-type", "field[*].key")]


@pytest.mark.parametrize("annotation", [Shape, Quacks])
def test_an_abstract_class_is_a_warning_since_only_its_subclasses_can_tell(annotation: Any) -> None:
    assert kept(annotation) == [("warning", "type.abstract", "field")]


def test_a_type_counts_only_where_it_is_stored_or_pinned() -> None:
    ids = Annotated[str, Keep()]
    assert found(ids=ids, a=Annotated[Client, Refetch(load, using="ids")]) == []
    assert found(ids=ids, a=Annotated[Client, Refetch(load, using="ids", pin="report")]) == [
        ("error", "codec.unknown-type", "a")
    ]
    assert found(a=Annotated[Client, Extract("a")]) == [("error", "codec.unknown-type", "a")]


@pytest.mark.parametrize("name", ["api_key", "password", "access_token", "openaiApiKey"])
@pytest.mark.parametrize("annotation", [str, str | None, list[str], dict[str, str]])
def test_a_text_called_like_a_credential_is_found(name: str, annotation: Any) -> None:
    rule = Keep(max_bytes=9)
    ((severity, code, path),) = found(**{name: Annotated[annotation, rule]})
    assert (severity, code, path.split("[")[0]) == ("error", "secret.name", name)
    for allowed in (Keep(max_bytes=9, allow="secret.name"), Keep(max_bytes=9, secrets="allow")):
        assert found(**{name: Annotated[annotation, allowed]}) == []
    assert found(**{name: Annotated[annotation, Secret("env:KEY")]}) == []
    assert found(**{name: Annotated[annotation, Drop(default=None)]}) == []


@pytest.mark.parametrize("name", ["next_page_token", "max_tokens", "key", "passed"])
def test_a_text_that_only_sounds_like_one_is_not_found(name: str) -> None:
    assert found(**{name: Annotated[str, Keep()]}) == []


def test_a_number_called_like_a_credential_is_not_found() -> None:
    assert found(token=Annotated[int, Keep()]) == []


def test_a_credential_inside_a_nested_class_is_found_by_its_path() -> None:
    @dataclasses.dataclass
    class Config:
        host: str
        db_password: str

    assert kept(list[Config]) == [("error", "secret.name", "field[*].db_password")]


def test_a_required_field_under_drop_needs_a_default() -> None:
    assert found(a=Annotated[int, Drop()]) == [("error", "drop.no-default", "a")]
    assert found(a=Annotated[int, Drop(default=None)]) == []
    assert found(a=NotRequired[Annotated[int, Drop()]]) == []

    @dataclasses.dataclass
    class State:
        a: Annotated[int, Drop()]
        b: Annotated[int, Drop()] = 3

    assert [(p.code, p.path) for p in check(State)] == [("drop.no-default", "a")]


def test_a_rule_inside_a_type_is_found_where_it_stands() -> None:
    @dataclasses.dataclass
    class Inner:
        key: Annotated[str, Secret("env:K")]

    assert kept(list[Annotated[int, Secret("env:K")]]) == [("error", "rule.nested", "field[*]")]
    assert kept(Annotated[int, Keep()] | None) == [("error", "rule.nested", "field")]
    assert kept(dict[str, Inner]) == [("error", "rule.nested", "field[*].key")]
    assert kept(list[Annotated[int, Keep]]) == [("error", "rule.nested", "field[*]")]


def test_a_subject_has_to_be_a_field() -> None:
    personal = Annotated[str, Keep(subject="user")]
    assert found(a=personal) == [("error", "subject.unknown-field", "a")]
    assert found(a=personal, user=Annotated[str, Keep()]) == []


@pytest.mark.parametrize(
    ("nameless", "named"),
    [
        (Extract(lambda x: x), Extract(lambda x: x, name="same")),
        (Scratch(partial(connect)), Scratch(partial(connect), name="connect")),
        (Reopen(lambda: None), Reopen(lambda: None, name="nothing")),
    ],
    ids=["lambda", "partial", "factory"],
)
def test_a_function_without_a_name_is_a_warning(nameless: object, named: object) -> None:
    assert found(a=Annotated[int, nameless]) == [("warning", "function.nameless", "a")]
    assert found(a=Annotated[int, named]) == []


@pytest.mark.parametrize(
    "annotation",
    [list[int], dict[str, int], set[int], collections.deque[int], list[int] | None, list],
)
def test_a_collection_without_a_bound_is_a_warning(annotation: Any) -> None:
    assert found(a=Annotated[annotation, Keep()]) == [("warning", "collection.unbounded", "a")]
    assert found(a=Annotated[annotation, Keep(max_bytes=9)]) == []
    assert found(a=Annotated[annotation, Keep(append_only=True)]) == []


def test_a_field_without_a_rule_is_a_warning_and_in_strict_an_error() -> None:
    assert found(a=int) == [("warning", "field.undeclared", "a")]
    (problem,) = check(state(a=int), strict=True)
    assert (problem.severity, problem.code) == ("error", "field.undeclared")


def test_a_declaration_from_which_no_contract_can_be_made_is_found_with_the_others() -> None:
    assert found(
        a=Annotated[int, Keep, Keep()],
        b=Annotated[int, Keep(), Drop(default=1)],
        c=Annotated[Client, Keep()],
    ) == [
        ("error", "marker.class", "a"),
        ("error", "rule.two", "b"),
        ("error", "codec.unknown-type", "c"),
    ]


def test_problems_stand_in_the_order_of_the_fields() -> None:
    problems = found(b=int, a=Annotated[int, Drop()], c=int)
    assert [path for _, _, path in problems] == ["b", "a", "c"]
