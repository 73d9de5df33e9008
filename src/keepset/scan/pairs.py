"""Credentials in a text that stand behind their name: ``API_KEY=…``, ``"password": "…"``.

They occur in text as environment files, JSON arguments of tools, query strings, headers and
connection strings. The bar is higher than for a value under a key: text is full of names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from keepset.scan.finding import Span
from keepset.scan.names import Promise, credential
from keepset.scan.reasons import SECRET_NAME
from keepset.scan.values import looks_random, plausible

WORDS: Final = (
    *("key", "token", "secret", "password", "passwd", "pwd"),
    *("passphrase", "credential", "credentials"),
)
"""What the name of a credential ends with."""

_STEM: Final = re.compile(rb"key|token|secret|pass|pwd|credential")
"""One of these is in each of the words."""
_NEAR: Final = 24
"""The longest word and what may stand between it and its sign have fewer characters."""
_SIGN: Final = re.compile(r"\\{0,3}[\"']?\s{0,3}[=:]\s{0,3}", re.ASCII)
_QUOTED: Final = re.compile(r"(\\{0,3})([\"'])(?P<s>[^\s\"'\\\x00]{6,512})\1\2")
_BARE: Final = re.compile(r"(?P<s>[^\s\"'`&,;<>(){}\[\]|\\\x00]{6,512})")
_NAME_BACKWARDS: Final = re.compile(r"[\w.\-]{1,64}", re.ASCII)
_SHORTEST_BARE: Final = 12
_FAR_ENOUGH: Final = 128


def named(data: bytes) -> bool:
    """Tell whether a text has a name before a sign, as all that `paired` finds.

    Args:
        data: The text in UTF-8.
    """
    return _STEM.search(_before_signs(data)) is not None


def words_named(data: bytes) -> tuple[str, ...]:
    """Give the words that stand shortly before a sign; no other one ends a name; see `named`."""
    near = _before_signs(data)
    return tuple([word for word in WORDS if word.encode() in near])


def _before_signs(data: bytes) -> bytes:
    """Give what stands shortly before each sign, in lower case."""
    pieces = data.replace(b"=", b":").split(b":")
    pieces.pop()
    return b"\n".join([piece[-_NEAR:] for piece in pieces]).lower()


def paired(
    text: str,
    folded: str,
    first: int = 0,
    until: int | None = None,
    words: tuple[str, ...] = WORDS,
) -> Iterator[Span]:
    """Yield the credentials in a text that stand behind a name that says so.

    Args:
        text: The text.
        folded: The same text in lower case, of the same length.
        first: Where to begin; what stands before it is seen as well.
        until: Where the last word of such a name begins, at the latest; None for anywhere.
        words: The words that a name may end with, as far as they need to be looked for.
    """
    for end, begin in _named(folded, first, len(text) if until is None else until, words):
        promise = credential(_name(text, end))
        if promise is Promise.NOTHING:
            continue
        value = _QUOTED.match(text, begin)
        quoted = value is not None
        value = value or _BARE.match(text, begin)
        if value is None or text.startswith("(", value.end()):
            continue
        if _real(promise, value["s"], quoted=quoted):
            yield Span(
                value.start("s"), value.end("s"), SECRET_NAME, f"pair.{promise.name.lower()}"
            )


def _named(
    folded: str, first: int, until: int, words: tuple[str, ...]
) -> Iterator[tuple[int, int]]:
    """Yield where a name ends and where its value begins.

    A search for each word takes less time than one expression for all of them.
    """
    for word in words:
        at = folded.find(word, first)
        while 0 <= at < until:
            end = at + len(word)
            sign = _SIGN.match(folded, end)
            if sign is not None:
                yield end, sign.end()
            at = folded.find(word, end)


def _name(text: str, end: int) -> str:
    backwards = _NAME_BACKWARDS.match(text[max(0, end - 64) : end][::-1])
    return backwards.group()[::-1] if backwards else ""


def _real(promise: Promise, value: str, *, quoted: bool) -> bool:
    # The cheap half comes first: a hostile text can be nothing but names.
    if promise is Promise.PASSWORD:
        likely = any(map(str.isdigit, value[:_FAR_ENOUGH])) and not value.isdigit()
        return likely and not _code(value) and plausible(promise, value)
    long_enough = quoted or len(value) >= _SHORTEST_BARE
    return long_enough and looks_random(value) and plausible(promise, value)


def _code(value: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w*(?:\.\w+)+|[a-z]+(?:_[a-z0-9]+)+", value) is not None
