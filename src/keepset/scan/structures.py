"""Credentials that are known by their structure: keys in PEM, signed tokens, URLs, headers, pairs.

Each structure names a literal that every match holds; the expression runs only on a text that has
it (`suspected`). All repetitions are bounded or possessive.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from keepset.scan.finding import Span
from keepset.scan.reasons import SECRET_FORMAT
from keepset.scan.values import looks_random, placeholder, reference, stop_word


@dataclass(frozen=True, slots=True)
class Structure:
    """One structure.

    Attributes:
        id: The `detail` of a finding.
        literal: What every match holds; in lower case where `folded`.
        pattern: The expression; its group ``s`` is the secret part.
        check: What the match has to pass beside the pattern.
        carrier: Whether a text that is nothing but the match and its wrapping is a secret whole.
        folded: Whether the literal is looked for without regard to case.
        begins: Whether the literal stands at the start of every match, which its expression does
            not tell `re`; it does where `folded`.
        spaced: Whether a match may have spaces in it, or be short; else the literal is looked for
            in long runs only.
        sign: A character that every match holds and prose rarely does; by default one of those
            of the literal.
    """

    id: str
    literal: str
    pattern: re.Pattern[str]
    check: Callable[[re.Match[str]], bool]
    carrier: bool = False
    folded: bool = False
    begins: bool = False
    spaced: bool = False
    sign: str = ""

    @property
    def asked_first(self) -> int | None:
        """The byte that is looked for before the literal, in a tenth of the time; None for none."""
        own = self.literal[-1] if self.spaced else re.sub(r"\w", "", self.literal)[:1]
        sign = self.sign or ("" if self.folded else own)
        return ord(sign) if sign else None


def _real(match: re.Match[str]) -> bool:
    return not placeholder(match["s"])


def _random(match: re.Match[str]) -> bool:
    return looks_random(match["s"]) and not placeholder(match["s"])


def _pem(match: re.Match[str]) -> bool:
    # Prose that only mentions the header line has no long run of base64 behind it.
    return re.search(r"[A-Za-z0-9+/=]{24}", match["body"][:1024]) is not None


def _password(match: re.Match[str]) -> bool:
    secret = match["s"]
    marks = secret.startswith(("$", "%3C", "%7B")) or not secret.strip("xX*.")
    return not (marks or stop_word(secret) or reference(secret) or placeholder(secret))


def _basic(match: re.Match[str]) -> bool:
    try:
        text = base64.b64decode(match["s"] + "==").decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    user, colon, password = text.partition(":")
    return bool(colon and password) and (user + password).isprintable()


def _jwt(match: re.Match[str]) -> bool:
    head, *rest = match["s"].split(".")
    try:
        header = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "alg" in header and bool(rest[-1])


def _of(pattern: str, flags: re.RegexFlag = re.ASCII) -> re.Pattern[str]:
    return re.compile(pattern, flags | re.ASCII)


_BEGIN: Final = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_BODY: Final = r"(?P<body>(?:[A-Za-z0-9+/=\s\\:,.()]++|-(?!----))*+)"
_FOLD: Final = re.IGNORECASE

STRUCTURES: Final = (
    Structure(
        "pem.private-key",
        "PRIVATE KEY",
        _of(rf"(?P<s>{_BEGIN}{_BODY}(?:-----END [A-Z0-9 ]{{1,60}}-----)?)"),
        _pem,
        carrier=True,
        spaced=True,
    ),
    Structure(
        "jwt",
        "eyJ",
        # The shortest header that names an algorithm has twelve characters.
        _of(r"(?<![A-Za-z0-9_\-])(?P<s>eyJ[\w-]{9,2048}(?:\.[\w-]{0,8192}+){2,4})"),
        _jwt,
        carrier=True,
        begins=True,
        sign=".",
    ),
    Structure(
        "url.password",
        "://",
        _of(r"://[^\s:/?#@\"'<>\x00]{0,256}:(?P<s>[^\s/?#\"'<>\x00]{1,256})@(?=[^\s@])"),
        _password,
        carrier=True,
        spaced=True,
        sign="@",
    ),
    Structure(
        "azure.storage-key",
        "accountkey=",
        _of(r"AccountKey=(?P<s>[A-Za-z0-9+/]{40,120}={0,2})", _FOLD),
        _real,
        carrier=True,
        folded=True,
        sign="=",
    ),
    Structure(
        "azure.shared-access-key",
        "sharedaccess",
        _of(r"SharedAccess(?:Key|Signature)=(?P<s>[A-Za-z0-9+/%]{30,120}={0,2})", _FOLD),
        _real,
        carrier=True,
        folded=True,
        sign="=",
    ),
    Structure(
        "azure.sas-signature",
        "sig=",
        _of(r"[?&;]sig=(?P<s>[A-Za-z0-9+/%]{30,120}={0,2})"),
        _random,
        carrier=True,
    ),
    Structure(
        "azure.client-secret",
        "Q~",
        _of(r"(?<![\w~.-])(?P<s>[\w~.-]{3}\dQ~[\w~.-]{31,34})(?![\w~-])"),
        _real,
    ),
    Structure(
        "slack.webhook",
        "hooks.slack.com/",
        _of(r"hooks\.slack\.com/(?P<s>(?:services|workflows|triggers)/[\w/-]{20,256})"),
        _random,
        carrier=True,
    ),
    Structure(
        "discord.webhook",
        "/api/webhooks/",
        _of(r"discord(?:app)?\.com/api/webhooks/(?P<s>\d{15,21}/[\w-]{40,128})"),
        _real,
        carrier=True,
    ),
    Structure(
        "teams.webhook",
        "webhook.office.com/",
        _of(r"webhook\.office\.com/(?P<s>webhookb2/[\w@-]{36,128}/IncomingWebhook/[\w/-]{32,128})"),
        _real,
        carrier=True,
    ),
    Structure(
        "telegram.bot-token",
        ":AA",
        _of(r"(?<![\w-])(?:bot)?(?P<s>\d{8,10}:AA[\w-]{32,33})(?![\w-])"),
        _real,
    ),
    Structure(
        "mailchimp.api-key",
        "-us",
        _of(r"(?<![\w-])(?P<s>[0-9a-f]{32}-us\d{1,2})(?![\w-])"),
        _real,
    ),
    Structure(
        "terraform.token",
        ".atlasv1.",
        _of(r"(?<![\w-])(?P<s>[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,128})"),
        _real,
    ),
    Structure(
        "header.bearer",
        "bearer",
        _of(r"(?<![\w])bearer\s{1,3}(?P<s>[A-Za-z0-9._~+/-]{16,4096}+={0,2})", _FOLD),
        _random,
        carrier=True,
        folded=True,
        spaced=True,
    ),
    Structure(
        "header.basic",
        "basic ",
        _of(r"(?<![\w])basic {1,3}(?P<s>[A-Za-z0-9+/]{6,4096}+={0,2})", _FOLD),
        _basic,
        carrier=True,
        folded=True,
        spaced=True,
    ),
    Structure(
        "header.authorization",
        "authorization",
        _of(
            r"authorization\\{0,3}[\"']?\s{0,3}[:=]\s{0,3}\\{0,3}[\"']?(?:[A-Za-z][\w-]{1,20}\s{1,3})?"
            r"(?P<s>[A-Za-z0-9._~+/-]{8,4096}+={0,2})",
            _FOLD,
        ),
        _random,
        carrier=True,
        folded=True,
        spaced=True,
    ),
)
"""All structures, in the order in which they are tried."""


_ANYWHERE: Final = tuple(
    (rule.asked_first, rule.literal.lower().encode(), rule) for rule in STRUCTURES if rule.spaced
)
_IN_RUNS: Final = tuple(
    (rule.asked_first, rule.literal.lower().encode(), rule)
    for rule in STRUCTURES
    if not rule.spaced
)


def suspected(data: bytes, runs: bytes) -> list[Structure]:
    """Give the structures whose literals a text holds, in any case; no other one can match.

    Args:
        data: The text in UTF-8.
        runs: Its long runs, see `keepset.scan.prefilter.long_runs`.
    """
    # To ask whether bytes are `in` others costs an exception each time; an integer does not.
    low, found = data.lower(), []
    for sign, literal, rule in _ANYWHERE:
        if (sign is None or sign in data) and low.find(literal) >= 0:
            found.append(rule)
    low = runs.lower()
    for sign, literal, rule in _IN_RUNS if runs else ():
        if (sign is None or sign in runs) and low.find(literal) >= 0:
            found.append(rule)
    return found


def structured(text: str, folded: str, rules: Iterable[Structure]) -> Iterator[Span]:
    """Yield the credentials in a text that have one of some structures.

    Args:
        text: The text.
        folded: The same text in lower case, of the same length.
        rules: The structures.
    """
    for rule in rules:
        for match in candidates(rule, text, folded):
            if rule.check(match):
                yield as_span(rule, match)


def as_span(rule: Structure, match: re.Match[str]) -> Span:
    """Give the part of a match that is the secret."""
    return Span(match.start("s"), match.end("s"), SECRET_FORMAT, rule.id, rule.carrier)


def candidates(rule: Structure, text: str, folded: str, begin: int = 0) -> Iterator[re.Match[str]]:
    """Yield what has one structure from a position on, in order, whether or not it passes a check.

    Args:
        rule: The structure.
        text: The text.
        folded: The same text in lower case, of the same length.
        begin: Where to begin; what stands before it is seen as well.
    """
    if rule.folded or rule.begins:
        return _at_literal(rule, text, folded if rule.folded else text, begin)
    return rule.pattern.finditer(text, begin)


def _at_literal(rule: Structure, text: str, sought: str, begin: int) -> Iterator[re.Match[str]]:
    # An expression that ignores case has no literal that `re` could skip ahead to.
    start = sought.find(rule.literal, begin)
    while start >= 0:
        match = rule.pattern.match(text, start)
        if match is not None:
            yield match
        start = sought.find(rule.literal, match.end() if match else start + 1)
