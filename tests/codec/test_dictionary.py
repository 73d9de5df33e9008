"""Frames that repeat bytes of a dictionary."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.codec import Dictionary, compress
from keepset.errors import DecodeError

WORDS = b" ".join(b"%d" % (number * 7919 % 10_007) for number in range(2_000))


@given(st.binary(min_size=8), st.binary())
def test_what_was_compressed_with_a_dictionary_comes_back_with_its_bytes(
    content: bytes, data: bytes
) -> None:
    packed = Dictionary(content).compress(data)
    assert Dictionary(content).decompress(packed, max(len(data), 1)) == data


def test_what_the_dictionary_has_is_not_written_again() -> None:
    assert len(compress(WORDS)) > 40 * len(Dictionary(WORDS).compress(WORDS))


@pytest.mark.parametrize("content", [WORDS[:-1], WORDS.replace(b"7", b"8"), b"x" * 99])
def test_a_frame_of_another_dictionary_is_refused(content: bytes) -> None:
    packed = Dictionary(WORDS).compress(WORDS[100:5_000])
    with pytest.raises(DecodeError):
        Dictionary(content).decompress(packed, 10_000)


def test_threads_may_share_a_dictionary() -> None:
    parts = [WORDS[at : at + 3_000] for at in range(0, 6_000, 500)] * 40
    shared = Dictionary(WORDS)
    with ThreadPoolExecutor(4) as pool:
        frames = list(pool.map(shared.compress, parts))
        assert list(pool.map(lambda one: shared.decompress(one, 3_000), frames)) == parts


def test_a_frame_that_states_more_than_is_allowed_is_refused() -> None:
    packed = Dictionary(WORDS).compress(WORDS)
    with pytest.raises(DecodeError) as caught:
        Dictionary(WORDS).decompress(packed, len(WORDS) - 1)
    assert caught.value.code == "decode.too-large"
