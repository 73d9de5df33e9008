"""A rule says at once what is wrong with it, and never repeats what may be a secret."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from keepset.contracts import Drop, Extract, Keep, Refetch, Reopen, Rule, Scratch, Secret
from keepset.contracts.rules import RULES, callable_name
from keepset.errors import UsageError


def load(ids: list[str]) -> list[str]:
    return ids


def connect() -> object:
    return object()


keep: Any = Keep
refetch: Any = Refetch
reopen: Any = Reopen
scratch: Any = Scratch
extract: Any = Extract


@pytest.mark.parametrize(
    "make",
    [
        lambda: keep(personal="yes"),
        lambda: keep(append_only=1),
        lambda: keep(subject=""),
        lambda: keep(subject=3),
        lambda: keep(retain=30),
        lambda: keep(retain=timedelta(0)),
        lambda: keep(max_bytes=0),
        lambda: keep(max_bytes=True),
        lambda: keep(secrets="hide"),
        lambda: keep(without=3),
        lambda: keep(without=("a", "")),
        lambda: keep(allow=(1,)),
        lambda: keep(without="[0]"),
        lambda: keep(without="*.parts[-1]"),
        lambda: refetch("load", using="ids"),
        lambda: refetch(load, using=()),
        lambda: refetch(load, using=3),
        lambda: refetch(load, using=("ids", "more")),
        lambda: refetch(load, using="ids", pin="maybe"),
        lambda: refetch(load, using="ids", name=""),
        lambda: reopen(connect()),
        lambda: reopen(load),
        lambda: scratch("folder"),
        lambda: scratch(load),
        lambda: extract(3),
        lambda: extract(connect),
    ],
)
def test_an_argument_of_a_wrong_kind_is_refused_with_a_hint(make: Callable[[], Rule]) -> None:
    with pytest.raises(UsageError) as caught:
        make()
    assert caught.value.code == "rule.argument"
    assert caught.value.hint


@pytest.mark.parametrize("path", ["", ".a", "a..b", "a[", "a[x]", "a]", "[*]", "*.b", "a[0]b"])
def test_a_path_that_leads_to_no_single_value_is_refused(path: str) -> None:
    with pytest.raises(UsageError) as caught:
        Extract(path)
    assert caught.value.code == "path.syntax"


@pytest.mark.parametrize("glob", [".a", "a..b", "a[", "a[x]", "a b]"])
def test_a_glob_that_cannot_be_read_is_refused(glob: str) -> None:
    with pytest.raises(UsageError) as caught:
        Keep(without=glob)
    assert caught.value.code == "path.syntax"


def test_a_secret_given_in_place_of_a_reference_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        Secret("sk-live-0123456789abcdef")
    assert caught.value.code == "rule.argument"
    assert "0123456789" not in str(caught.value)


@pytest.mark.parametrize("reference", ["env:KEY", "file:/run/key", "keyring:a/b", "vault://a/b"])
def test_a_reference_with_a_scheme_is_accepted(reference: str) -> None:
    assert Secret(reference).reference == reference


def test_one_text_is_the_same_as_a_tuple_of_one() -> None:
    assert Keep(without="*.raw", allow="handle") == Keep(without=("*.raw",), allow=("handle",))
    assert Refetch(load, using="ids") == Refetch(load, using=("ids",))
    assert Refetch(load, using="ids").using == ("ids",)


def test_no_rule_can_be_called_so_that_no_host_takes_it_for_its_own() -> None:
    rules = [
        Keep(),
        Refetch(load, using="ids"),
        Reopen(connect),
        Secret("env:KEY"),
        Scratch(connect),
        Extract("a.b"),
        Drop(),
    ]
    assert {type(rule) for rule in rules} == set(RULES)
    assert not [rule for rule in rules if callable(rule)]


def test_a_rule_with_an_unhashable_default_can_stand_in_an_optional_annotation() -> None:
    assert hash(Drop(default=[1])) == hash(Drop(default=[1]))
    assert Drop(default=[1]) != Drop(default=[2])


def test_a_function_that_needs_more_than_it_is_given_is_refused_and_one_with_defaults_is_not() -> (
    None
):
    def with_default(ids: list[str], limit: int = 3) -> list[str]:
        return ids[:limit]

    assert Refetch(with_default, using="ids").load is with_default
    assert Scratch(dict).factory is dict


@pytest.mark.parametrize(
    ("function", "name", "known"),
    [
        (load, None, "load"),
        (load, "loader", "loader"),
        (lambda: None, None, None),
        (lambda: None, "maker", "maker"),
        (partial(load, []), None, None),
        (partial(load, []), "loader", "loader"),
        (dict, None, "dict"),
        ([].copy, None, "copy"),
    ],
)
def test_a_function_is_known_by_the_name_given_or_its_own(
    function: Callable[..., object], name: str | None, known: str | None
) -> None:
    assert callable_name(function, name) == known
