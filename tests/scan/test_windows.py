"""A long text is searched window by window: what is found is what is found in all of it."""

from __future__ import annotations

import base64
import random
import re._parser as parser  # type: ignore[import-not-found] # tells the widths of expressions
import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.codec import Codec
from keepset.scan import KnownValues, Scanner
from keepset.scan.binary import BETWEEN, readable
from keepset.scan.finding import Span
from keepset.scan.formats import PREFIXED
from keepset.scan.opening import folded, opened
from keepset.scan.pairs import paired
from keepset.scan.prefilter import prefixed
from keepset.scan.reasons import SECRET_VALUE
from keepset.scan.structures import STRUCTURES, structured
from keepset.scan.texts import masked, secrets
from keepset.scan.windows import AHEAD, BEHIND, LONG, WINDOW, windowed
from tests.scan.credentials import CARRIED, KINDS, NAMED, Maker

KNOWN = KnownValues({"known": "a-known value"})
MAKER = Maker(11)
SECRETS = [
    *(make(MAKER) for make in KINDS.values()),
    *("".join(make(MAKER)) for make in CARRIED.values()),
    *(f"{n}{sign}{MAKER.of(letters, size)}" for n, letters, size in NAMED for sign in "=:"),
    *("YS1rbm93biB2YWx1ZQ", "a-known value", "xoxe.xoxb-xoxb-"),
]
FILLERS = {
    "prose": "it rains, said the key to the token: ",
    "base64": MAKER.of("abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ+/", 997),
    "hex": MAKER.of("0123456789abcdef", 500),
    "another alphabet": "шумел камыш, деревья гнулись 中文 \u212aelvin ",
    "a letter that folds longer": "kar\u0130kat\u00fcr \u212aey to\u212aen ",
    "escapes": '{\\"a\\":\\"b\\\\n\\", %20%3D%2',
}


def whole(text: str) -> list[Span]:
    """What each detector finds in a text as one, with nothing ruled out before."""
    clear = opened(text)
    small = folded(clear)
    known = KNOWN.spans(text) if KNOWN.find(text, clear) else ()
    return [
        *known,
        *prefixed(clear),
        *structured(clear, small, STRUCTURES),
        *paired(clear, small),
    ]


def in_order(spans: list[Span]) -> list[tuple[object, ...]]:
    return sorted((one.start, one.end, one.kind, one.detail, one.carrier) for one in spans)


pieces = st.one_of(
    st.sampled_from(SECRETS),
    st.sampled_from(["", " ", "\n", "\t", "\0", "é", "İ", "K", "\ud800", "\\n", "%20", "=", ":"]),
    st.sampled_from(sorted(FILLERS.values())),
    st.text(max_size=4),
)


@given(st.lists(pieces, max_size=9).map("".join), st.integers(1, 300))
def test_windows_of_any_size_find_what_is_in_the_whole(text: str, window: int) -> None:
    assert in_order(list(windowed(text, KNOWN, window))) == in_order(whole(text))


@pytest.mark.parametrize("filler", sorted(FILLERS))
def test_what_crosses_a_border_is_found_where_it_is(filler: str) -> None:
    chance = random.Random(5)  # noqa: S311 - the same every time
    window, size = 3001, 90_000
    text = (FILLERS[filler] * (size // len(FILLERS[filler]) + 1))[:size]
    borders = list(range(window, size, window))
    for border, secret in zip(borders * 9, [*SECRETS] * 2, strict=False):
        at = max(0, border - chance.randint(0, len(secret) + 1))
        around = chance.choice([" ", "\n", "", '"', "="])
        text = text[:at] + around + secret + around + text[at + len(secret) + 2 * len(around) :]
    found = list(windowed(text, KNOWN, window))
    assert in_order(found) == in_order(whole(text))
    assert len(found) > 9


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN " + "PRIVATE KEY-----\n" + f"{MAKER.of('ABCDEFabcdef0123456789', 64)}\n" * 1500,
        f"{'s'}k-{MAKER.of('abcdef0123456789', 64)}-" * 2000,
    ],
    ids=["key", "token"],
)
def test_a_secret_without_an_end_of_its_own_is_found_whole(text: str) -> None:
    long = f"a {text} b " + "x " * 9000
    (span,) = windowed(long, KNOWN, 700)
    assert [span] == whole(long)
    assert span.end - span.start > AHEAD


@pytest.mark.parametrize(
    "one", [MAKER.jwt().split(".")[0] + ".", "://a:b1c2d3e4@b://:", "xoxe.xoxb-"]
)
def test_what_goes_on_behind_a_match_does_so_across_borders(one: str) -> None:
    text = "a " + one * 4000
    assert in_order(list(windowed(text, KNOWN, 701))) == in_order(whole(text))


def test_a_known_value_that_is_encoded_is_found_at_every_border() -> None:
    encoded = base64.b64encode(b"a-known value").decode().rstrip("=")
    for before in range(len(encoded) + 2):
        text = "word " * (WINDOW // 4)
        text = text[: WINDOW - before] + " " + encoded + " " + text[WINDOW:]
        assert KNOWN.find(text, text)
        assert [span.kind for span in secrets(text, KNOWN)] == [SECRET_VALUE]


def test_a_secret_in_a_long_text_is_masked_and_the_rest_stays() -> None:
    secret = KINDS[min(KINDS)](MAKER)
    text = "word " * WINDOW
    text = text[: WINDOW - 7] + " " + secret + " " + text[WINDOW:]
    spans = secrets(text, KNOWN)
    assert [text[span.start : span.end] for span in spans] == [secret]
    assert masked(text, spans).replace(f"[withheld: {spans[0].kind}]", secret) == text


def test_a_long_text_beside_others_is_looked_at_by_itself() -> None:
    scanner, secret = Scanner(KNOWN, ()), KINDS[min(KINDS)](MAKER)
    value = {"a": "short", "b": "word " * LONG + secret, "c": ["word " * LONG, secret]}
    found = scanner.leaves(value, ("f",), name="f", parts=Codec().parts)
    assert {(one.path, one.span) for one in found} == {
        (("f", "b"), (5 * LONG, 5 * LONG + len(secret))),
        (("f", "c", 1), None),
    }


def test_many_keys_are_looked_at_one_by_one_only_where_one_is_a_secret() -> None:
    scanner, secret = Scanner(KNOWN, ()), KINDS[min(KINDS)](MAKER)
    keys, looked = {f"customer {number:09}": number for number in range(LONG // 10)}, []

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is secrets.__code__:
            looked.append(frame.f_code)

    sys.setprofile(count)
    try:
        assert not scanner.leaves(keys, ("f",), name="f", parts=Codec().parts)
    finally:
        sys.setprofile(None)
    assert looked == []
    (found,) = scanner.leaves({**keys, secret: 1}, ("f",), name="f", parts=Codec().parts)
    assert (found.path, found.in_key) == (("f", len(keys)), True)


def test_no_match_with_an_end_is_longer_than_what_is_seen_behind_a_window() -> None:
    for rule in (*STRUCTURES, *PREFIXED):
        most = parser.parse(rule.pattern.pattern).getwidth()[1]
        assert most < AHEAD - BEHIND or rule.id == "pem.private-key"


readable_or_not = st.sampled_from([b"a", b"abc", b"abcdefgh", b"\xe9", b"\0", b"\1a"])


@given(st.lists(readable_or_not, min_size=9, max_size=40).map(b"".join), st.integers(7, 20))
def test_what_can_be_read_in_a_file_does_not_depend_on_windows(data: bytes, window: int) -> None:
    assert readable(data, window) == readable(data, 1000)
    assert BETWEEN not in readable(data.replace(b"\0", b"").replace(b"\1", b""), window)
