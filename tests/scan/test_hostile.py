"""No text makes a detector slow: every expression takes time in proportion to the text."""

from __future__ import annotations

import re

import pytest

from keepset.scan import KnownValues, Scanner, pairs, texts, values
from keepset.scan.formats import PREFIXED
from keepset.scan.structures import STRUCTURES

EXPRESSIONS: list[re.Pattern[str]] = [
    *(rule.pattern for rule in PREFIXED),
    *(rule.tail for rule in PREFIXED if rule.tail),
    *(rule.pattern for rule in STRUCTURES),
    *(
        one
        for module in (pairs, texts)
        for one in vars(module).values()
        if isinstance(one, re.Pattern) and isinstance(one.pattern, str)
    ),
    values._PLACEHOLDER,
]
"""What is tried at many places of one text; the others are tried once on a bounded one."""

_LITERALS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")
_REPEAT = re.compile(r"(\*|\+|\{\d+(?:,(\d*))?\})(\+?)")


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda one: one.pattern[:40])
def test_each_repetition_is_bounded_or_never_given_back(expression: re.Pattern[str]) -> None:
    for sign, most, possessive in _REPEAT.findall(_LITERALS.sub("x", expression.pattern)):
        bounded = sign[0] == "{" and (not most or int(most) <= 2048)
        assert bounded or possessive, sign


def test_the_check_above_sees_an_unbounded_repetition() -> None:
    found = _REPEAT.findall(_LITERALS.sub("x", r"(?:a[+*]\+)*b{2,}c++"))
    assert found == [("*", "", ""), ("{2,}", "", ""), ("+", "", "+")]


PIECES = [
    "s" + "k-",
    "fm2_",
    "ey" + "J-",
    "ey" + "Jaaaaaaaaa.",
    "://a:",
    "bearer ",
    "authorization: ",
    "-----BEGIN PRIVATE KEY-----",
    "api_key=",
    "password='",
    "a",
    "A",
    "-",
    "_",
    "/",
    "\\n",
    "%20",
    "Q" + "~",
    "1234567890:A" + "A",
    "sig=",
    "basic YTpi ",
    "[withheld: ",
    "[withheld: a] q7w8e9r0t1y2 ",
    "q7w8",
    "0123456789abcdef",
    "\u0130",
    " ",
    "{",
    "xo" + "xb-",
    "@",
    "pat",
    'token: "a1b2c3d4e5f6',
]


@pytest.mark.parametrize("piece", PIECES)
def test_a_long_hostile_text_is_looked_at_to_its_end(piece: str) -> None:
    scanner = Scanner(KnownValues({"k": "q7w8e9r0t1y2"}), ("/scratch",))
    text = (piece * (300_000 // len(piece))) + " q7w8e9r0t1y2"
    assert "q7w8e9r0t1y2" not in scanner.text(text)
