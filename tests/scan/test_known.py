"""Registered values are found wherever they stand, plain or encoded."""

from __future__ import annotations

import base64
import json
from threading import Thread
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.scan import Finding, KnownValues, Scanner
from tests.scan.credentials import ALNUM, Maker

PLAIN = "correct horse battery"
ODD = 'p@ss/w"rd\\ é 100%'


def look(known: KnownValues, value: object) -> list[Finding]:
    return Scanner(known, ()).leaves(value, ("f",), name="f", parts=lambda _: None)


def test_a_registered_value_without_any_format_is_found_and_named() -> None:
    known = KnownValues({"env:API_KEY": PLAIN})
    (whole,) = look(known, PLAIN)
    (part,) = look(known, f"they said {PLAIN}, twice")
    assert (whole.kind, whole.detail, whole.whole) == ("secret.value", "env:API_KEY", True)
    assert (part.whole, part.span) == (False, (10, 31))


@pytest.mark.parametrize("value", [PLAIN, ODD, "12345678", "abcdefgh"])
@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_a_registered_value_is_found_encoded(value: str, before: str) -> None:
    known = KnownValues({"k": value})
    data = (before + value + "tail").encode()
    for text in (
        quote(before + value, safe=""),
        json.dumps({"x": before + value}),
        base64.b64encode(data).decode(),
        base64.urlsafe_b64encode(data).decode(),
        "x " + base64.b64encode(data).decode() + " y",
    ):
        assert look(known, text), text
        assert look(known, text.encode())
    assert look(known, data)


@pytest.mark.parametrize("value", [PLAIN, PLAIN + "s", PLAIN + "s!", "12345678"])
def test_a_registered_value_in_base64_is_masked_to_its_last_character(value: str) -> None:
    scanner = Scanner(KnownValues({"k": value}), ())
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(value.encode()).decode()
        assert scanner.text(f"({text})") == "([withheld: secret.value])"
        (finding,) = look(KnownValues({"k": value}), text)
        assert finding.whole


@given(st.binary(min_size=9, max_size=40), st.binary(max_size=5), st.binary(max_size=5))
def test_any_bytes_are_found_in_base64_of_a_longer_text(
    value: bytes, before: bytes, after: bytes
) -> None:
    known = KnownValues({"k": value})
    if not known.ignored:
        assert look(known, base64.b64encode(before + value + after).decode())
        assert look(known, before + value + after)


def test_a_value_of_fewer_than_eight_characters_is_ignored_and_named() -> None:
    known = KnownValues({"env:PIN": "1234567"})
    known.add("  short \n", "env:SHORT")
    known.add("12345678", "env:LONG")
    assert known.ignored == ("env:PIN", "env:SHORT")
    assert not look(known, "1234567 and short")
    assert look(known, "12345678")


def test_whitespace_around_a_registered_value_does_not_hide_it() -> None:
    assert look(KnownValues({"file:/run/key": f"{PLAIN}\n"}), f"<{PLAIN}>")


@given(st.integers(), st.text(max_size=30), st.text(max_size=30))
def test_each_of_two_hundred_values_is_found(seed: int, before: str, after: str) -> None:
    maker = Maker(seed)
    values = [maker.of(ALNUM, maker.random.randint(8, 40)) for _ in range(199)]
    values.append("only-small-letters")
    known = KnownValues({f"k{i}": value for i, value in enumerate(values)})
    for value in maker.random.sample(values, 10):
        found = look(known, {"text": before + value + after})
        assert any(one.kind == "secret.value" for one in found)


def test_values_may_be_added_while_other_threads_search() -> None:
    known = KnownValues()
    maker = Maker(1)
    values = [maker.of(ALNUM, 24) for _ in range(120)]
    scanner = Scanner(known, ())
    missed: list[str] = []

    def add_and_find(some: list[str]) -> None:
        for value in some:
            known.add(value, "k")
            if value in scanner.text(f"x {value} y"):
                missed.append(value)

    threads = [Thread(target=add_and_find, args=(values[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not missed
    assert all(value not in scanner.text(value) for value in values)


def test_secrets_side_by_side_are_masked_as_one() -> None:
    known = KnownValues({"a": PLAIN, "b": ODD, "c": "secret.value][withheld: secret.f"})
    assert Scanner(known, ()).text(f"<{PLAIN}{ODD}>") == "<[withheld: secret.value]>"


def test_a_registered_value_is_found_where_a_text_pretends_that_it_was_withheld() -> None:
    known = KnownValues({"a": "only-small-letters"})
    assert "small" not in Scanner(known, ()).text("[withheld: only-small-letters]")


def test_a_registered_value_that_is_part_of_a_marker_is_ignored_and_named() -> None:
    assert KnownValues({"env:WORD": "withheld"}).ignored == ("env:WORD",)


def test_registered_values_are_not_shown() -> None:
    known = KnownValues({"env:API_KEY": PLAIN})
    assert PLAIN not in repr(known)
    assert PLAIN not in repr(look(known, [PLAIN]))
