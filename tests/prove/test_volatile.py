"""What differs between runs of which nothing was changed is left out, and nothing else."""

from __future__ import annotations

import random
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.codec import Codec
from keepset.prove.compare import Difference, Reference, differences, reference_of
from keepset.prove.leaves import leaves_of
from keepset.prove.trials import Outcome
from keepset.prove.volatile import words

ANOTHER = (Difference("state", "another field"),)


def outcome(value: object) -> Outcome:
    return Outcome(state=leaves_of(value, ("field",), Codec()))


def learned(*controls: object) -> Reference:
    return reference_of([outcome(value) for value in controls])


MADE_UP = [
    ("ids", "3fa85f64-5717-4562-b3fc-2c963f66afa6", "9c858901-8a57-4791-81fe-4c455b099bc9"),
    ("hexadecimal ids", "3fa85f6457174562b3fc", "9c8589018a57479181fe"),
    ("moments", "2031-05-17T09:30:01.25+00:00", "2031-05-17T09:30:02.5+00:00"),
    ("moments of another length", "2031-05-17 09:30:01.5", "2031-05-17 09:30:02"),
    ("numbers", 0.123, 0.45),
    ("temporary names", "/x/tmpab_xyzqq/x.txt", "/x/tmpqwertyui/x.txt"),
    ("UUIDs", uuid.UUID(int=1), uuid.UUID(int=2)),
    ("bytes that are no text", b"\xff\x01", b"\xfe\x02"),
    ("long texts with ids", "word " * 2_000 + "id 12f", "word " * 2_000 + "id 77a3"),
]


@pytest.mark.parametrize(
    ("one", "other"), [case[1:] for case in MADE_UP], ids=[case[0] for case in MADE_UP]
)
def test_ids_and_times_that_differ_are_volatile(one: object, other: object) -> None:
    found = learned(one, other)
    assert (found.volatile, found.unlike) == (("field",), ())


WORDS = [
    ("words", "the sun shines", "the rain falls"),
    ("long texts", "sunny " * 2_000, "rainy " * 2_000),
    ("texts as bytes", b"the sun shines", b"the rain falls"),
    ("lengths of a list", ["a"], ["a", "b"]),
    ("types", 1, "1"),
    ("what is there", {"a": 1}, {"b": 1}),
    ("names of people", "Bob", "Alice"),
]


@pytest.mark.parametrize(
    ("one", "other"), [case[1:] for case in WORDS], ids=[case[0] for case in WORDS]
)
def test_words_that_differ_are_not_volatile_and_nothing_can_be_compared(
    one: object, other: object
) -> None:
    assert learned(one, other).unlike


def test_what_stands_beside_an_id_is_still_compared() -> None:
    right = learned("order 4f1a9 for Bob", "order 77c02 for Bob")
    assert differences(outcome("order 9d9d1 for Bob"), right) == ()
    assert differences(outcome("order 9d9d1 for Ann"), right) == ANOTHER


def test_a_clock_that_goes_on_by_an_hour_is_still_a_clock() -> None:
    """All of a time is volatile, also the parts that did not change between two controls."""
    right = learned("at 2031-05-17T09:59:58 done", "at 2031-05-17T09:59:59 done")
    assert differences(outcome("at 2031-05-18T10:00:00 done"), right) == ()
    seconds = learned(1_937_000_000.25, 1_937_000_000.5)
    assert differences(outcome(1_937_000_001.0), seconds) == ()


def test_a_long_text_is_compared_but_for_its_ids() -> None:
    text = "a long text " * 1_000
    right = learned(f"{text} by 12f0", f"{text} by 9ac1")
    assert differences(outcome(f"{text} by 77d3"), right) == ()
    assert differences(outcome(f"{text.upper()} by 77d3"), right) == ANOTHER


def ids(*pattern: str) -> dict[str, str]:
    """A value whose texts have the same id where the pattern has the same letter."""
    made = {letter: uuid.UUID(int=random.getrandbits(128)).hex for letter in pattern}
    return {f"place {number}": f"id {made[letter]}" for number, letter in enumerate(pattern)}


@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=6))
def test_ids_that_are_made_anew_everywhere_are_the_same(pattern: list[str]) -> None:
    right = learned(ids(*pattern), ids(*pattern))
    assert differences(outcome(ids(*pattern)), right) == ()


@given(
    st.lists(st.sampled_from("abc"), min_size=2, max_size=6),
    st.lists(st.sampled_from("abc"), min_size=2, max_size=6),
)
def test_a_second_id_where_the_first_one_belongs_is_noticed(
    pattern: list[str], other: list[str]
) -> None:
    size = min(len(pattern), len(other))
    pattern, other = pattern[:size], other[:size]
    right = learned(ids(*pattern), ids(*pattern))
    is_same = [pattern.index(x) for x in pattern] == [other.index(x) for x in other]
    found = differences(outcome(ids(*other)), right)
    expected = Difference("state", "ids or times that were the same are no longer")
    assert found == (() if is_same else (expected,))


def test_small_numbers_that_are_equal_by_chance_are_no_id_that_was_put_in_place_of_another() -> (
    None
):
    right = learned({"one": 4, "other": 2}, {"one": 1, "other": 3})
    assert differences(outcome({"one": 5, "other": 5}), right) == ()


@given(st.text())
def test_the_words_of_a_text_are_all_of_it(text: str) -> None:
    assert "".join(words(text)) == text


@given(st.from_regex(r"\A[0-9A-Za-z_ .:+-]*\Z"))
def test_every_text_is_cut_in_the_same_way_each_time_and_loses_nothing(text: str) -> None:
    assert "".join(words(text)) == text


@pytest.mark.parametrize(
    ("controls", "later"),
    [
        ((3.1e-06, 4.2e-06), 0.00012),
        ((3.1e-06, 4.2e-06), 3.1e-05),
        ((0.25, 1.5), -0.75),
        ((14, 15), -2),
        (("took 3.1e-06 s", "took 4.2e-06 s"), "took 5.2e-05 s"),
        (("took 3.1e-06 s", "took 4.2e-06 s"), "took 0.00012 s"),
    ],
)
def test_a_number_that_differs_may_have_another_sign_and_another_size(
    controls: tuple[object, object], later: object
) -> None:
    assert differences(outcome(later), learned(*controls)) == ()
