"""How a value is walked: types of secrets, cycles, depth, keys, paths, exceptions."""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import Any

import pytest
from pydantic import BaseModel, SecretBytes, SecretStr

from keepset.codec import Codec, Withheld
from keepset.contracts import Keep
from keepset.errors import PolicyError
from keepset.scan import REASONS, Finding, Scanner, oversize
from keepset.scan.reasons import below_field
from tests.scan.credentials import KINDS, Maker

KEY = KINDS["anthropic"](Maker(1))
CODEC = Codec()


def look(scanner: Scanner, value: object, path: tuple[str | int, ...] = ("f",)) -> list[Finding]:
    return scanner.leaves(value, path, name=str(path[0]), parts=CODEC.parts)


class Password(SecretStr):
    """A secret type of a user's own."""


class VaultSecret:
    """A look-alike; reading it must never happen here."""

    def get_secret_value(self) -> str:
        raise AssertionError


@pytest.mark.parametrize(
    "secret", [SecretStr(KEY), SecretBytes(b"x"), Password("p"), VaultSecret()]
)
def test_an_object_of_a_secret_type_is_found_without_reading_it(
    scanner: Scanner, secret: object
) -> None:
    (finding,) = look(scanner, {"a": [secret]})
    assert (finding.kind, finding.path) == ("secret.type", ("f", "a", 0))
    assert finding.whole
    assert finding.detail.endswith(type(secret).__name__)


def test_what_was_withheld_before_is_passed_over(scanner: Scanner) -> None:
    assert not look(scanner, {"api_key": Withheld("secret.name", "f.api_key")})


def test_a_cycle_does_not_keep_the_walk_going(scanner: Scanner) -> None:
    value: list[Any] = [KEY]
    value += [value, {"again": value}, value]
    assert [finding.path for finding in look(scanner, value)] == [("f", 0)]


def test_one_object_in_two_places_is_found_in_both(scanner: Scanner) -> None:
    shared = [KEY]
    found = look(scanner, {"a": shared, "b": shared})
    assert [finding.path for finding in found] == [("f", "a", 0), ("f", "b", 0)]


def _nested(levels: int) -> object:
    value: object = KEY
    for _ in range(levels):
        value = [value]
    return value


def test_every_level_that_can_be_stored_is_walked_and_deeper_ones_do_no_harm(
    scanner: Scanner,
) -> None:
    CODEC.pack(_nested(256))
    (finding,) = look(scanner, _nested(256))
    assert len(finding.path) == 257
    assert look(scanner, _nested(100_000)) == []
    with pytest.raises(PolicyError, match=r"codec\.too-deep"):
        CODEC.pack(_nested(257))


def test_the_message_of_an_exception_is_a_leaf(scanner: Scanner) -> None:
    (finding,) = look(scanner, {"error": ValueError(f"401 for {KEY} at once")})
    assert finding.path == ("f", "error", "message")
    assert finding.span == (8, 8 + len(KEY))


class BrokenError(Exception):
    def __str__(self) -> str:
        raise LoudError


class LoudError(Exception):
    """An Exception and no more."""


class EndlessError(Exception):
    def __str__(self) -> str:
        return str(self)


@pytest.mark.parametrize("error", [BrokenError(), EndlessError()])
def test_an_exception_whose_text_cannot_be_made_stops_no_scan(
    scanner: Scanner, error: Exception
) -> None:
    assert [finding.path for finding in look(scanner, [error, KEY])] == [("f", 1)]


def test_a_key_that_is_a_secret_is_found_and_stands_in_no_path(scanner: Scanner) -> None:
    found = look(scanner, {"a": 1, KEY: {"b": KEY}, "c": 3})
    assert {(finding.path, finding.in_key) for finding in found} == {
        (("f", 1), True),
        (("f", 1, "b"), False),
    }
    assert KEY not in repr(found)


def test_a_secret_among_keys_of_other_types_is_found(scanner: Scanner) -> None:
    for value in ({KEY: 1, 7: 2}, {("a", KEY): 1}, {KEY.encode(): 1}, {frozenset({KEY}): 1}):
        found = look(scanner, value)
        assert found, value
        assert KEY not in repr(found)


def test_a_secret_in_the_path_to_a_changed_part_is_reported_at_its_mapping(
    scanner: Scanner,
) -> None:
    (finding,) = look(scanner, "harmless", ("f", "tokens", KEY, "x"))
    assert finding.path == ("f", "tokens")
    assert finding.in_key


def test_the_name_that_counts_is_the_nearest_one(scanner: Scanner) -> None:
    value = "a1b2c3d4e5f6g7h8"
    assert look(scanner, value, ("config", "api_key"))
    assert look(scanner, {"api_keys": [value, value]})
    assert not look(scanner, {"api_key": {"tokenizer": {"id": value}}})


def test_what_the_codec_refuses_is_left_to_it(scanner: Scanner) -> None:
    class Unknown:
        pass

    assert not look(scanner, [Unknown(), object()])


def test_each_reason_has_a_sentence_and_each_finding_names_a_rule(scanner: Scanner) -> None:
    found = look(scanner, {"a": KEY, "b": f"use {KEY}", KEY: 1, "d": print, "e": "/scratch/x"})
    rules = ("Secret(", "Reopen(", "Scratch(")
    assert len(found) == 5
    for finding in found:
        assert REASONS[finding.kind].endswith(".")
        assert any(rule in finding.advice for rule in rules)


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        (("f", "user", "api_key"), "user.api_key"),
        (("f", 3, "api_key"), "*.api_key"),
        (("f", "x.y", 1, "z*"), '["x.y"].*["z*"]'),
        (("f", 'q"u', "api_key"), "*.api_key"),
    ],
)
def test_advice_names_a_path_that_a_rule_takes(path: tuple[str | int, ...], inside: str) -> None:
    assert below_field(path) == inside
    assert Keep(without=inside).without == (inside,)


def test_a_field_over_its_budget_is_reported_with_figures() -> None:
    assert oversize(("docs",), 1000, 1000) is None
    finding = oversize(("docs",), 1001, 1000)
    assert finding is not None
    assert (finding.kind, finding.detail) == ("size.over-budget", "1001 bytes, budget 1000 bytes")


class Provider(Enum):
    MAIN = KEY


class Written(StrEnum):
    MAIN = KEY


def test_a_member_of_an_enumeration_is_stored_by_its_name_so_its_value_is_not_looked_at(
    scanner: Scanner,
) -> None:
    assert not look(scanner, [Provider.MAIN, Written.MAIN])


class Config(BaseModel):
    api_key: str = "k"
    note: str = ""


def test_attributes_are_named_as_the_codec_names_them(scanner: Scanner) -> None:
    codec = Codec().parts

    def parts(value: object) -> Any:
        return vars(value).items() if isinstance(value, Config) else codec(value)

    value = [Config(api_key="a1b2c3d4e5f6", note=f"was {KEY}")]
    found = scanner.leaves(value, ("f",), name="f", parts=parts)
    assert {finding.path for finding in found} == {("f", 0, "api_key"), ("f", 0, "note")}


def test_advice_for_a_secret_inside_a_text_says_that_it_is_masked_and_how_to_refuse_it(
    scanner: Scanner,
) -> None:
    (finding,) = look(scanner, [{"content": f"my key is {KEY}, please"}])
    assert not finding.whole
    assert "CONTENT" not in finding.advice
    assert "masked in what is stored" in finding.advice
    assert 'Keep(secrets="refuse")' in finding.advice
    assert Keep(secrets="refuse").secrets == "refuse"


def test_advice_for_a_part_of_a_field_names_a_field_of_its_own(scanner: Scanner) -> None:
    (finding,) = look(scanner, {"headers": {"Authorization": f"Bearer {KEY}"}}, ("conf",))
    advice = finding.advice
    assert advice.startswith(
        'Keep it out of conf and declare a top-level field Secret("env:AUTHORIZATION");'
    )
    assert "is refused" in advice
    assert 'Keep(without="headers.Authorization")' in advice
    (finding,) = look(scanner, [KEY], ("keys",))
    assert "Keep it out of keys and declare a top-level field" in finding.advice
    assert "without" not in finding.advice
    (finding,) = look(scanner, {"pool": print}, ("conf",))
    assert "top-level field Reopen(factory)" in finding.advice
    (finding,) = look(scanner, KEY, ("api_key",))
    assert finding.advice.startswith('Declare the field Secret("env:API_KEY")')
