"""Personal data in texts: e-mail addresses, numbers of phones, cards and accounts, and so on.

A text is first searched for what every find must have (an at sign, a row of digits); only what lies
around such places is analysed, each kind where it can be. What is left is held to rules of our own:
the state of agents is full of ids, versions, timestamps and counts that look like a number of
something.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from ipaddress import ip_interface
from typing import Final, NamedTuple

from keepset.audit.eyes import Sight, words
from keepset.audit.presidio import PASSPORT_WORDS, PHONE_WORDS, Hit, Presidio

PERSONAL: Final = "personal."
"""Prefix of the codes of personal data."""

KINDS: Final = {
    "EMAIL_ADDRESS": "email",
    "PHONE_NUMBER": "phone",
    "CREDIT_CARD": "card",
    "IBAN_CODE": "iban",
    "IP_ADDRESS": "ip",
    "US_SSN": "ssn",
    "US_PASSPORT": "passport",
    "CRYPTO": "wallet",
}
"""What is looked for: Presidio's name, and the end of our code."""

SAID: Final = {
    "email": "e-mail addresses",
    "phone": "phone numbers",
    "card": "numbers of payment cards",
    "iban": "numbers of bank accounts (IBAN)",
    "ip": "IP addresses of others",
    "ssn": "US social security numbers",
    "passport": "numbers of US passports",
    "wallet": "addresses of crypto wallets",
}
"""What each kind is called."""

_NEAR: Final = 100
"""Characters around a place that are analysed: the words before it say what it is."""
_LONGEST: Final = 2_000
"""Characters of a part; what is longer is cut, since some patterns take their square in time."""
_WITH_CONTEXT: Final = 0.7
_WEAK: Final = 0.4
"""The score of a number that only a word before it speaks for."""
_MEDIUM: Final = 0.5
_DASHED_PHONE: Final = re.compile(r"\d{3}[-.]\d{3}[-.]\d{4}")
_DASHED_SSN: Final = re.compile(r"\d{3}-\d\d-\d{4}")
_NO_PEOPLE: Final = frozenset(
    {"git", "noreply", "no-reply", "donotreply", "do-not-reply", "mailer-daemon", "postmaster"}
)
_CARD_WORDS: Final = frozenset(
    {"card", "cards", "credit", "debit", "visa", "mastercard", "amex", "payment", "pan", "cc"}
)
_VERSION: Final = re.compile(r"(?:versions?|release|\bv|==|>=|<=|~=)[ :=]*\Z", re.IGNORECASE)
_SMALL: Final = 32
"""A number of an address below which it may be one of a version; two others are asked for."""
_SHORTEST_PHONE: Final = 9


class _Sign(NamedTuple):
    """What a place must look like where a kind can be believed.

    Attributes:
        entity: The kind, by Presidio's name.
        pattern: The place.
        words: Of which one must be in the text or in the names; None where none has to.
    """

    entity: str
    pattern: re.Pattern[str]
    words: re.Pattern[str] | None = None


def _any_of(known: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(known)})(?![^\W_])", re.IGNORECASE)


_DIGITS: Final = re.compile(r"(?<![\w.])[+(]?\d(?:[ ().\-/]{0,3}\d){6,}(?!\w)")
_ADDRESS: Final = r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)"
_ANY: Final = re.compile(r"\d.*\d|@|bc1", re.DOTALL)
"""What every place has in it."""
_SIGNS: Final = (
    _Sign("EMAIL_ADDRESS", re.compile(r"[\w.+'-]@\w")),
    _Sign(
        "PHONE_NUMBER",
        re.compile(r"(?<![\w.])(?:[+(]\d(?:[ ().\-/]{0,3}\d){6,}|\d{3}([-.])\d{3}\1\d{4})(?!\w)"),
    ),
    _Sign("PHONE_NUMBER", _DIGITS, _any_of(PHONE_WORDS)),
    _Sign("CREDIT_CARD", re.compile(r"(?<![\w.-])[2-6]\d(?:[ -]?\d){11,17}(?![\w-])")),
    _Sign("US_SSN", re.compile(r"(?<![\w-])\d{3}-\d\d-\d{4}(?![\w-])")),
    _Sign("US_SSN", _DIGITS, _any_of(("social", "security", "ssn", "ssns"))),
    _Sign(
        "US_PASSPORT",
        re.compile(r"(?<!\w)[A-Za-z]?\d{8,9}(?!\w)"),
        _any_of(PASSPORT_WORDS),
    ),
    _Sign("IBAN_CODE", re.compile(r"(?<!\w)[A-Z]{2}\d\d(?: ?[A-Z0-9]){11,30}(?!\w)")),
    _Sign(
        "IP_ADDRESS",
        re.compile(rf"{_ADDRESS}|(?<![\w:])[23][0-9A-Fa-f]{{3}}:[0-9A-Fa-f:.]{{4,}}"),
    ),
    _Sign(
        "CRYPTO",
        re.compile(r"(?<!\w)(?:bc1[a-z0-9]{20,80}|[13][1-9A-HJ-NP-Za-km-z]{25,34})(?!\w)"),
    ),
)


class Personal:
    """Looks for personal data in texts."""

    name = "pii"

    def __init__(self) -> None:
        """Load the recognisers.

        Raises:
            UsageError: ``audit.no-pii``: Presidio is not installed.
        """
        self._presidio = Presidio()

    def see(self, text: str, names: Sequence[str]) -> Iterable[Sight]:
        """Give each piece of personal data in a text by its kind."""
        if _ANY.search(text) is None:
            return
        around = words(names)
        seen: set[tuple[str, int]] = set()
        for part in parts(text, " ".join(around)):
            inside = text[part.start : part.end]
            for hit in self._presidio.analyse(inside, (part.entity,), around):
                key = hit.entity, part.start + hit.start
                if key not in seen and believed(hit, inside, around):
                    seen.add(key)
                    yield Sight(f"{PERSONAL}{KINDS[hit.entity]}", "")


class Part(NamedTuple):
    """A part of a text in which something can be.

    Attributes:
        entity: The kind to look for.
        start: Position of its first character.
        end: Position after its last.
    """

    entity: str
    start: int
    end: int


def parts(text: str, names: str) -> Iterator[Part]:
    """Give the parts of a text in which something can be.

    Args:
        text: The text.
        names: Words of the names that it stands under.
    """
    for sign in _SIGNS:
        first = sign.pattern.search(text)
        if first is None:
            continue
        if sign.words and not (sign.words.search(names) or sign.words.search(text)):
            continue
        start, end = _around(text, first)
        for place in sign.pattern.finditer(text, first.end()):
            if place.start() - _NEAR <= end and end - start < _LONGEST:
                end = _around(text, place)[1]
            else:
                yield Part(sign.entity, start, end)
                start, end = _around(text, place)
        yield Part(sign.entity, start, end)


def _around(text: str, place: re.Match[str]) -> tuple[int, int]:
    """Give the ends of what lies around a place; no word is cut in two where it can be helped."""
    start, end = max(0, place.start() - _NEAR), min(len(text), place.end() + _NEAR)
    blank = text.find(" ", start, place.start())
    start = blank + 1 if start and blank >= 0 else start
    blank = text.rfind(" ", place.end(), end)
    return start, blank if end < len(text) and blank >= 0 else end


def believed(hit: Hit, text: str, around: Sequence[str]) -> bool:
    """Tell whether a find is believed.

    Args:
        hit: The find.
        text: The text that it was found in.
        around: Words of the names that the text stands under.
    """
    found = text[hit.start : hit.end]
    if hit.entity == "CREDIT_CARD":
        is_alone = found == text.strip() and found.isdigit()
        return hit.score >= 1 and (not is_alone or not _CARD_WORDS.isdisjoint(around))
    if hit.entity == "IP_ADDRESS":
        return not _VERSION.search(text, 0, hit.start) and _ip(hit, found)
    return _BELIEVED[hit.entity](hit, found)


def _mail(hit: Hit, found: str) -> bool:
    return hit.score >= 1 and found.partition("@")[0].lower() not in _NO_PEOPLE


def _checked(hit: Hit, found: str) -> bool:
    """Believe what has a checksum that is right."""
    del found
    return hit.score >= 1


def _phone(hit: Hit, found: str) -> bool:
    """Believe a number that is written as one of a phone; a bare one where it is said to be."""
    if hit.score >= _WITH_CONTEXT or _DASHED_PHONE.fullmatch(found):
        return True
    return found.startswith(("+", "(")) and sum(map(str.isdigit, found)) >= _SHORTEST_PHONE


def _ip(hit: Hit, found: str) -> bool:
    """Believe an address that others have; one of small numbers may as well be a version."""
    try:
        address = ip_interface(found).ip
    except ValueError:
        return False
    if not address.is_global:
        return False
    large = [one for one in str(address).split(".") if one.isdigit() and int(one) >= _SMALL]
    return hit.score >= _WITH_CONTEXT or ":" in found or len(large) > 1


def _ssn(hit: Hit, found: str) -> bool:
    if _WEAK <= hit.score < _MEDIUM or hit.score >= _WITH_CONTEXT:
        return True
    return hit.score >= _MEDIUM and _DASHED_SSN.fullmatch(found) is not None


def _said(hit: Hit, found: str) -> bool:
    """Believe what is said to be it by a word before."""
    del found
    return hit.score >= _WEAK


_BELIEVED: Final[dict[str, Callable[[Hit, str], bool]]] = {
    "EMAIL_ADDRESS": _mail,
    "PHONE_NUMBER": _phone,
    "IBAN_CODE": _checked,
    "US_SSN": _ssn,
    "US_PASSPORT": _said,
    "CRYPTO": _checked,
}
