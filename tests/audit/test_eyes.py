"""What is shown to those that look closer, how often, and what never is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from keepset.audit import eyes
from keepset.audit.detectors import detectors
from keepset.audit.eyes import Sight, words
from keepset.audit.report import Audit, audited
from keepset.audit.surveying import Around, survey
from keepset.readers.ports import Item
from tests.audit import naive
from tests.audit.test_survey import Rows, state


class Reader:
    """An eye that knows one word, and remembers all that it was shown."""

    name = "deep"

    def __init__(self) -> None:
        self.shown: list[tuple[str, tuple[str, ...]]] = []

    def see(self, text: str, names: Sequence[str]) -> Iterable[Sight]:
        self.shown.append((text, tuple(names)))
        return [Sight("secret.deep", "word")] * text.count("sesame")


def audit(eye: Reader, *items: Item) -> Audit:
    return audited(survey(Rows(*items), "a store", detectors(), around=Around(eyes=(eye,))))


def places(found: Audit) -> dict[str, int]:
    return {one.place: one.copies for one in found.findings if one.code == "secret.deep"}


def test_a_text_that_is_stored_again_and_again_is_looked_at_once_and_counted_each_time() -> None:
    eye = Reader()
    text = "open sesame"
    rows = [state(run, step, "log", [text] * (step + 1)) for run in "ab" for step in range(5)]
    assert places(audit(eye, *rows)) == {"log[*]": 2 * (1 + 2 + 3 + 4 + 5)}
    assert [shown for shown, _ in eye.shown] == ["a", text, "b"]  # and the ids of the runs


def test_what_was_forgotten_is_looked_at_again_and_nothing_else_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [
        state("a", step, f"field-{number}", f"sesame {number}")
        for step in range(3)
        for number in range(40)
    ]
    plenty = places(audit(Reader(), *rows))
    monkeypatch.setattr(eyes, "MOST_TEXTS", 8)
    assert places(audit(Reader(), *rows)) == plenty == dict.fromkeys(plenty, 3)
    assert len(plenty) == 40


def test_every_text_is_shown_with_the_names_that_it_stands_under() -> None:
    eye = Reader()
    value = {"user": {"homePhone": "1", "tags": ("t1", b"t2", b"\xff\xfe"), "2 words": {"x": "3"}}}
    audit(eye, state("a", 0, "people", value))
    assert set(eye.shown) == {
        ("a", ("run",)),
        ("1", ("people", "user", "homePhone")),
        ("t1", ("people", "user", "tags")),
        ("t2", ("people", "user", "tags")),
        ("2 words", ("people", "user")),
        ("3", ("user", "2 words", "x")),
    }
    assert words(["homePhone", "IBAN_code2"]) == ["home", "phone", "iban", "code", "2"]


def test_no_secret_that_our_own_detectors_know_is_shown() -> None:
    eye = Reader()
    value = {"api_key": naive.KEY, "note": f"use {naive.KEY} or sesame", "plain": "sesame"}
    assert places(audit(eye, state("a", 0, "config", value))) == {
        "config.note": 1,
        "config.plain": 1,
    }
    assert not any(naive.KEY in shown for shown, _ in eye.shown)


def test_a_key_in_which_something_was_seen_is_a_star_in_every_place() -> None:
    value = {"a sesame": {"note": "sesame"}, "other key": {"note": "sesame"}}
    assert places(audit(Reader(), state("a", 0, "config", value))) == {
        "config.*": 1,
        "config.*.note": 1,
        "config.other key.note": 1,
    }
