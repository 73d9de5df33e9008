"""A file in a state (an image, an archive) is searched as thoroughly as a text, and quickly."""

from __future__ import annotations

import random

import pytest

from keepset.codec import Codec
from keepset.scan import Finding, KnownValues, Scanner
from keepset.scan.binary import is_binary, readable
from tests.scan.credentials import KINDS, Maker

CODEC = Codec()


def look(scanner: Scanner, value: object, name: str = "f") -> list[Finding]:
    return scanner.leaves(value, (name,), name=name, parts=CODEC.parts)


def noise(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)  # noqa: S311 - the same noise each time


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_credential_is_found_in_a_file_where_it_stands(
    scanner: Scanner, kind: str
) -> None:
    secret = KINDS[kind](Maker(3)).encode()
    data = noise(6000) + b"\0\0" + secret + b"\0\0" + noise(6000, 2)
    assert is_binary(data)
    found = look(scanner, data)
    assert found
    assert any(
        one.whole
        or (one.span and data.find(secret) <= one.span[0] < data.find(secret) + len(secret))
        for one in found
    )


def test_noise_holds_nothing(scanner: Scanner) -> None:
    for seed in range(30):
        assert not look(scanner, noise(200_000, seed))


def test_a_registered_value_is_found_in_a_file_whatever_its_bytes_are() -> None:
    value = b"\xff" + noise(24, 7) + b"\xfe"
    known = KnownValues({"vault:key": value})
    data = noise(6000) + value + b"\0" + noise(6000, 2)
    (finding,) = look(Scanner(known, ()), data)
    assert (finding.kind, finding.span) == ("secret.value", (6000, 6026))


def test_a_password_in_a_file_may_be_of_any_alphabet(scanner: Scanner) -> None:
    data = noise(6000) + b"\0password=" + "pässwört-für-Zoë-7".encode() + b"\0" + noise(6000, 2)
    assert [one.kind for one in look(scanner, data)] == ["secret.name"]


def test_what_can_be_read_is_a_small_part_of_noise() -> None:
    assert len(readable(noise(1 << 20))) < 1 << 16
    text = b"words that anybody can read"
    assert text in readable(noise(6000) + b"\0" + text + b"\0")
