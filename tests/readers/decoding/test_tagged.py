"""Values beside the tag that says how they are stored."""

from __future__ import annotations

import pickle

import pytest

from keepset.readers.decoding import from_tagged
from keepset.readers.decoding.bounds import LARGEST
from keepset.readers.decoding.tagged import encoding_of
from keepset.readers.ports import Unreadable


@pytest.mark.parametrize(
    ("tag", "data", "encoding", "value"),
    [
        ("msgpack", b"\x93\x01\x02\x03", "msgpack", [1, 2, 3]),
        ("json", b"[1]", "json", [1]),
        ("json", "[1]", "json", [1]),
        ("pickle", pickle.dumps({"a": 1}), "pickle", {"a": 1}),
        ("null", b"", "null", None),
        ("empty", None, "null", None),
        ("bytes", b"x", "bytes", b"x"),
        ("bytearray", b"x", "bytes", b"x"),
        ("msgpack+aes", b"\x01\x02", "encrypted", None),
        ("json+other", b"\x01\x02", "encrypted", None),
        (None, b'{"a": 1}', "json", {"a": 1}),
    ],
)
def test_the_tag_says_how_a_value_is_read(
    tag: str | None, data: bytes | str | None, encoding: str, value: object
) -> None:
    assert encoding_of(tag) == encoding
    assert from_tagged(tag, data) == value


@pytest.mark.parametrize("tag", ["my secret", "", 7, 1.5, b"msgpack", b""])
def test_a_tag_that_is_not_known_is_told_and_not_repeated(tag: object) -> None:
    found = from_tagged(tag, b"x")
    assert found == Unreadable("stored under a tag that is not known")


@pytest.mark.parametrize("tag", ["msgpack", "json", "pickle", "bytes"])
def test_a_value_larger_than_any_that_is_taken_apart_is_told_as_such(tag: str) -> None:
    found = from_tagged(tag, bytes(LARGEST + 1))
    assert found == Unreadable("larger than 64 MB")
