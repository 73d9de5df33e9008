"""A quick look never says that there is nothing where a slow one finds something."""

from __future__ import annotations

import re._parser as parser  # type: ignore[import-not-found] # tells the widths of expressions
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.scan import KnownValues
from keepset.scan.finding import Finding, Span
from keepset.scan.formats import PREFIXED
from keepset.scan.known import SHORTEST
from keepset.scan.labels import labelled
from keepset.scan.leaves import Leaves
from keepset.scan.opening import folded, opened
from keepset.scan.pairs import paired
from keepset.scan.places import Places
from keepset.scan.plain import Plain
from keepset.scan.prefilter import LONG_RUN, prefixed
from keepset.scan.responses import response
from keepset.scan.scanner import is_bare
from keepset.scan.structures import STRUCTURES, structured
from keepset.scan.texts import matches
from tests.scan.credentials import CARRIED, KINDS, NAMED, Maker
from tests.scan.harmless import harmless

KNOWN = KnownValues({"known": "a-known-value"})
PLACES = Places(("/scratch", "C:\\Temp"))
MAKER = Maker(7)
SECRETS = [
    *(make(MAKER) for make in KINDS.values()),
    *("".join(make(MAKER)) for make in CARRIED.values()),
    *(f"{n}{sign}{MAKER.of(letters, size)}" for n, letters, size in NAMED for sign in "=:"),
    *("YS1rbm93bi12YWx1ZQ", "a-known-value", "/scratch/x", "file:///scratch/x", "C:\\Temp\\x"),
]
HARMLESS = [text for _, text in islice(harmless(3), 60) if isinstance(text, str)]
BETWEEN = [*("", " ", "\n", "\t", "\x00", "\u2003", "é", "“", "İ", "K", "\ud800", "\\n", "%20")]
PIECES = st.sampled_from(SECRETS) | st.sampled_from(HARMLESS) | st.sampled_from(BETWEEN)
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=5).map("".join)
KEYS = st.sampled_from(
    [
        *("content", "id", "usage", "usage_metadata", "response_metadata", "choices", "output"),
        *("api_key", "value", "name", "key", "token", "text", "model", "type", "prod"),
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    TEXTS | st.none() | st.integers() | st.just(b"bytes") | st.sampled_from(["token", "assistant"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYS | TEXTS, inner, max_size=4)
        | st.tuples(inner)
    ),
    max_leaves=8,
)


def everything(text: str) -> set[Span]:
    """What each detector of texts finds, with nothing ruled out before."""
    clear = opened(text)
    small = folded(clear)
    return {
        *KNOWN.spans(text),
        *prefixed(clear),
        *structured(clear, small, STRUCTURES),
        *paired(clear, small),
    }


@given(TEXTS)
def test_what_is_ruled_out_in_a_text_is_not_there(text: str) -> None:
    assert set(matches(text, KNOWN)) == everything(text)


@pytest.mark.parametrize("case", range(3))
@pytest.mark.parametrize("text", SECRETS, ids=range(len(SECRETS)))
def test_a_credential_is_not_ruled_out_whatever_stands_around_it(text: str, case: int) -> None:
    around = [("", ""), ("an “introduction” before it: ", " and after"), ("\n\0\n", "\n\0\n")][case]
    told = text.join(around)
    assert set(matches(told, KNOWN)) == everything(told)


@given(st.from_regex(r"[^\W\d]\w{0,12}", fullmatch=True))
def test_one_short_word_is_ruled_out_unless_it_is_a_known_value(word: str) -> None:
    assert set(matches(word, KNOWN)) == everything(word)
    if len(word) >= SHORTEST:
        (span,) = matches(word, KnownValues({"word": word}))
        assert (span.start, span.end) == (0, len(word))


def walked(value: Any, name: str) -> list[Finding]:
    """What the walk through every leaf finds."""
    walk = Leaves(lambda _: None, KNOWN, PLACES)
    walk.run(value, (name,), name)
    return walk.found()


@given(VALUES)
def test_a_quick_look_finds_what_a_walk_finds_or_leaves_it_to_the_walk(value: Any) -> None:
    plain = Plain(KNOWN, PLACES)
    for _ in range(2):  # the second time it knows the keys
        found = plain.look(value, ("field",))
        assert found is None or found == walked(value, "field")


@given(VALUES)
def test_a_container_that_is_bare_at_a_glance_is_no_pair_no_entry_and_no_response(
    value: Any,
) -> None:
    def parts(_: Any) -> None:
        return None

    said = (labelled(value, ("field",), parts), response(value, ("field",)))
    assert not is_bare(value) or said == (None, None)


def test_a_quick_look_is_enough_for_messages() -> None:
    message = {"id": "m-1", "content": "It rains.", "usage_metadata": {"input_tokens": 7}}
    plain = Plain(KNOWN, PLACES)
    found = plain.look([message, {"id": "m-2", "content": "It pours."}, message], ("messages",))
    assert [finding.path for finding in found or ()] == [("messages", 0), ("messages", 2)]
    assert found == walked([message, {"id": "m-2"}, message], "messages")


def test_keys_are_looked_at_again_once_one_of_them_is_a_known_secret() -> None:
    known = KnownValues()
    plain = Plain(known, PLACES)
    value = {"correct horse": "battery", "id": "m-1"}
    assert plain.look(value, ("field",)) == []
    known.add("correct horse", "env:KEY")
    assert plain.look(value, ("field",)) is None


def test_keys_that_are_texts_of_another_type_are_left_to_the_walk() -> None:
    class Key(str):
        __slots__ = ()

    plain = Plain(KNOWN, PLACES)
    assert plain.look({"content": "It rains."}, ("field",)) == []
    assert plain.look({Key("content"): "It rains."}, ("field",)) is None


def test_only_keys_of_mappings_that_hold_nothing_are_remembered_and_only_some() -> None:
    plain = Plain(KNOWN, PLACES)
    assert plain.look({"a-known-value": 1}, ("field",)) is None
    assert plain.look({"api_key": 1}, ("field",)) is None
    for number in range(2000):
        plain.look({f"key-{number}": 1}, ("field",))
    kept = list(plain._shapes)
    assert 0 < len(kept) < 1000
    assert all(keys[0].startswith("key-") for keys in kept)


def test_a_value_that_holds_itself_is_left_to_the_walk() -> None:
    value: list[Any] = []
    value.append({"in": value})
    assert Plain(KNOWN, PLACES).look(value, ("field",)) is None


@pytest.mark.parametrize("rule", PREFIXED, ids=lambda rule: f"{rule.id} {rule.prefixes[0]}")
def test_no_format_with_a_prefix_is_shorter_than_a_long_run(rule: Any) -> None:
    body, _ = parser.parse(rule.pattern.pattern, rule.pattern.flags).getwidth()
    assert min(map(len, rule.prefixes)) + body >= LONG_RUN


@pytest.mark.parametrize("rule", STRUCTURES, ids=lambda rule: rule.id)
def test_a_structure_is_looked_for_everywhere_unless_it_is_long_and_in_one_piece(rule: Any) -> None:
    shortest, _ = parser.parse(rule.pattern.pattern, rule.pattern.flags).getwidth()
    assert rule.spaced or (shortest >= LONG_RUN and r"\s" not in rule.pattern.pattern)
