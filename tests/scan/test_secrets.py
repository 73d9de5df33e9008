"""Every kind of credential is found, whole and in texts, and harmless values are not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.scan import SECRET_KINDS, Finding, KnownValues, Scanner, substitutes
from tests.scan.credentials import ALNUM, CARRIED, KINDS, NAMED, Maker
from tests.scan.harmless import harmless

SEEDS = range(5)


def leaf(_: object) -> None:
    """Stand for a codec to which every object is a leaf."""


def look(scanner: Scanner, value: object, name: str = "field") -> list[Finding]:
    return scanner.leaves(value, (name,), name=name, parts=leaf)


def stored(scanner: Scanner, value: object, name: str = "field") -> Any:
    """What a store would hold: the value with its substitutes in place."""
    findings = look(scanner, value, name)
    put = substitutes(findings, value, (name,), lambda finding: f"<{finding.kind}>", leaf)
    return _with(value, (name,), put)


def _with(value: Any, path: tuple[Any, ...], put: dict[Any, Any]) -> Any:
    if path in put:
        return put[path]
    if isinstance(value, dict):
        pairs = enumerate(value.items())
        return {k: _with(v, (*path, k if isinstance(k, str) else i), put) for i, (k, v) in pairs}
    if isinstance(value, list | tuple):
        return type(value)(_with(item, (*path, i), put) for i, item in enumerate(value))
    return value


def test_the_corpus_has_more_than_sixty_kinds() -> None:
    assert len(KINDS) + len(CARRIED) >= 60


@pytest.mark.parametrize("kind", KINDS)
def test_a_credential_is_found_as_a_whole_value(scanner: Scanner, kind: str) -> None:
    for seed in SEEDS:
        (finding,) = look(scanner, KINDS[kind](Maker(seed)))
        assert finding.kind == "secret.format"
        assert finding.whole
        assert finding.span is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "frame",
    ["Use {} for this.", "key={};", '{{"k": "{}"}}', "a\\n{}\\nb", "密钥{}。", "({})", "{},x"],
)
def test_a_credential_inside_a_text_is_masked_in_whole(
    scanner: Scanner, kind: str, frame: str
) -> None:
    for seed in SEEDS:
        secret = KINDS[kind](Maker(seed))
        masked = scanner.text(frame.format(secret))
        before, after = frame.format("\0").split("\0")
        assert masked.startswith(before)
        assert masked.endswith(after)
        assert not _shares(secret, masked.removeprefix(before).removesuffix(after))


@pytest.mark.parametrize("kind", CARRIED)
def test_a_value_that_carries_a_credential_is_found_whole_and_masked_in_a_text(
    scanner: Scanner, kind: str
) -> None:
    for seed in SEEDS:
        whole, secret = CARRIED[kind](Maker(seed))
        assert [finding.whole for finding in look(scanner, whole)] == [True]
        masked = scanner.text(f"Please use {whole} from now on.")
        assert not _shares(secret, masked)
        assert masked.startswith("Please use ")
        assert masked.endswith(" from now on.")


@pytest.mark.parametrize("kind", KINDS)
def test_a_credential_is_found_however_deep_it_lies(scanner: Scanner, kind: str) -> None:
    secret = KINDS[kind](Maker(7))
    value = {"a": [{"b": ("x", {"c": [secret, secret.encode()]})}]}
    found = look(scanner, value)
    assert {finding.path for finding in found} == {
        ("field", "a", 0, "b", 1, "c", 0),
        ("field", "a", 0, "b", 1, "c", 1),
    }
    assert not _shares(secret, repr(stored(scanner, value)))


@pytest.mark.parametrize(("name", "alphabet", "length"), NAMED)
def test_a_value_under_the_name_of_a_credential_is_found(
    scanner: Scanner, name: str, alphabet: str, length: int
) -> None:
    for seed in SEEDS:
        secret = Maker(seed).of(alphabet, length)
        for value in ({name: secret}, [(name, secret)], [{"name": name, "value": secret}]):
            (finding,) = look(scanner, value)
            assert finding.whole
            assert finding.kind == "secret.name"
        assert look(scanner, secret, name)
        assert not look(scanner, secret, "reading")


@pytest.mark.parametrize(("name", "alphabet", "length"), NAMED)
def test_a_name_and_its_value_are_found_in_a_text(
    scanner: Scanner, name: str, alphabet: str, length: int
) -> None:
    del alphabet
    secret = Maker(length).of("abcdefghijkmnopqrstuvwxyz23456789", length)
    for text in (f'{{"{name}": "{secret}"}}', f"export {name}={secret}\n", f"?{name}={secret}&a=b"):
        assert not _shares(secret, scanner.text(text)), text


def test_two_thousand_harmless_values_raise_at_most_two_alarms(scanner: Scanner) -> None:
    values = list(islice(harmless(11), 4000))
    alarms = [
        (name, finding.detail)
        for name, value in values
        for finding in look(scanner, value, name)
        if finding.kind in SECRET_KINDS
    ]
    assert len(alarms) <= len(values) // 1000, alarms


def test_a_reference_to_a_secret_is_no_secret(scanner: Scanner) -> None:
    for reference in (
        "env:OPENAI_API_KEY",
        "vault://kv/a#key1",
        "${API_KEY}",
        "{{ api_key1 }}",
        "__start__.inputs[3].api_key",
    ):
        assert not look(scanner, {"api_key": reference})


def test_a_secret_that_ends_as_the_path_of_one_is_a_secret(scanner: Scanner) -> None:
    for seed in SEEDS:
        assert look(scanner, {"api_key": f"k{Maker(seed).of(ALNUM, 24)}.token"})
    for password in ("Password.1", "My_Passwd.2024", "Correct.Horse.Battery.Passwd"):
        assert look(scanner, {"password": password})


def test_letters_that_change_their_length_in_lower_case_do_not_move_what_is_masked(
    scanner: Scanner,
) -> None:
    secret = Maker(5).of("abcdefghkmnpqrstuvwxyz23456789", 24)
    for before in ("Authorization: Bearer ", "api_key=", "AUTHORIZATION: token "):
        masked = scanner.text(f"\u0130\u0130\u0130\u0130 {before}{secret}, x")
        assert masked.startswith(f"\u0130\u0130\u0130\u0130 {before}[withheld: ")
        assert masked.endswith("], x")


def test_a_document_that_holds_a_url_with_a_password_is_masked_and_not_withheld(
    scanner: Scanner,
) -> None:
    whole, secret = CARRIED["url"](Maker(1))
    (finding,) = look(scanner, f'{{"dsn":"{whole}","retries":3}}')
    assert not finding.whole
    assert not _shares(secret, scanner.text(f'["{whole}"]'))


def test_several_secrets_in_one_text_are_masked_each(scanner: Scanner) -> None:
    one, two = KINDS["anthropic"](Maker(1)), KINDS["github-classic"](Maker(2))
    text = f"first {one}, then {two}."
    assert [finding.span for finding in look(scanner, text)] == [
        (6, 6 + len(one)),
        (13 + len(one), 13 + len(one) + len(two)),
    ]
    assert scanner.text(text) == "first [withheld: secret.format], then [withheld: secret.format]."


def test_a_token_without_a_signature_and_a_page_cursor_are_not_taken_for_a_jwt(
    scanner: Scanner,
) -> None:
    head, body, _ = KINDS["jwt"](Maker(3)).split(".")
    assert not look(scanner, [f"{head}.{body}.", f"{body}.{body}.{body}", head])


PIECES = st.one_of(
    st.text(max_size=12),
    st.builds(
        lambda kind, seed: KINDS[kind](Maker(seed)), st.sampled_from(sorted(KINDS)), st.integers()
    ),
    st.builds(
        lambda kind, seed: CARRIED[kind](Maker(seed))[0],
        st.sampled_from(sorted(CARRIED)),
        st.integers(),
    ),
    st.sampled_from(
        [
            "\\n",
            "%3D",
            "api_key=",
            "Bearer ",
            '"password": "',
            "[withheld: secret.format]",
            "s" + "k-",
        ]
    ),
)
KNOWN = ("hunter2hunter2", "withheld", "secret.format", "][withheld", "abc]abcde", "ünïcödé-pass")


@given(st.lists(st.one_of(PIECES, st.sampled_from(KNOWN)), max_size=8).map("".join))
def test_nothing_is_found_in_a_text_that_was_masked(text: str) -> None:
    known = KnownValues({f"k{i}": value for i, value in enumerate(KNOWN)})
    scanner = Scanner(known, ())
    masked = scanner.text(text)
    assert not look(scanner, masked), (text, masked)
    assert scanner.text(masked) == masked


@given(
    st.recursive(
        PIECES,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(PIECES, inner, max_size=3),
            st.sets(PIECES, max_size=3),
            st.tuples(inner, PIECES),
        ),
        max_leaves=6,
    ),
    st.sampled_from(["f", "password", "api_key"]),
)
def test_what_is_stored_holds_no_secret_that_was_found(value: object, name: str) -> None:
    scanner = Scanner(KnownValues(), ())
    kept = stored(scanner, value, name)
    found = [one for one in look(scanner, kept, name) if one.kind in SECRET_KINDS]
    assert not found


@given(st.dictionaries(PIECES, st.one_of(PIECES, st.lists(PIECES, max_size=2)), max_size=4))
def test_a_finding_never_holds_the_value(value: dict[str, object]) -> None:
    scanner = Scanner(KnownValues(), ())
    for finding in look(scanner, value):
        for secret in _secrets(value):
            assert not _shares(secret, repr(finding))
            assert not _shares(secret, repr(asdict(finding)))


def _secrets(value: dict[str, object]) -> Iterable[str]:
    """The runs of characters in a value that only a credential has."""
    for text in (*value, *value.values()):
        for part in text if isinstance(text, list) else [text]:
            yield from (word for word in str(part).split() if len(word) > 24)


def _shares(secret: str, text: str, length: int = 10) -> bool:
    """Tell whether a text has any 10 neighbouring characters of the secret's random part."""
    random = secret[-40:] if "PRIVATE" not in secret else secret[32:-32]
    return any(random[i : i + length] in text for i in range(len(random) - length + 1))
