from __future__ import annotations

import os
import tracemalloc
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from keepset.codec import array_header, compress, decode, decompress, encode, map_header
from keepset.errors import DecodeError
from tests.codec.classes import CODEC, Money
from tests.codec.exact import same
from tests.codec.values import VALUES


@given(VALUES)
def test_what_is_encoded_decodes_to_the_same(value: Any) -> None:
    assert same(decode(encode(value)), value)


def test_long_values_are_compressed_and_random_ones_are_not() -> None:
    assert len(encode("word " * 1000)) < 200
    noise = os.urandom(5000)
    assert decode(encode(noise)) == noise
    assert len(encode(noise)) < 5010


def test_the_types_of_a_codec_are_used_both_ways() -> None:
    assert decode(encode([Money(1)], CODEC), CODEC) == [Money(1)]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "decode.magic"),
        (b"\x80", "decode.magic"),
        (b"\xc1", "decode.truncated"),
        (b"\xc1\x01\x00", "decode.truncated"),
        (b"\xc1\x02\x00\xc0", "decode.version"),
        (b"\xc1\x01\x07\xc0", "decode.malformed"),
        (b"\xc1\x01\x00\xc0\xc0", "decode.trailing"),
        (b"\xc1\x01\x01\xc0", "decode.compressed"),
        (b"\xc1\x01\x00\x91", "decode.truncated"),
    ],
)
def test_a_wrong_envelope_is_an_error_with_its_own_code(data: bytes, code: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(data)
    assert caught.value.code == code


def test_a_bomb_is_refused_before_it_is_opened() -> None:
    bomb = compress(b"\0" * 50_000_000)
    assert len(bomb) < 10_000
    for data in (b"\xc1\x01\x01" + bomb,):
        with pytest.raises(DecodeError) as caught:
            decode(data, limit=1_000_000)
        assert caught.value.code == "decode.too-large"
    with pytest.raises(DecodeError) as again:
        decompress(bomb, 49_999_999)
    assert again.value.code == "decode.too-large"
    assert len(decompress(bomb, 50_000_000)) == 50_000_000


def test_a_value_that_is_not_compressed_has_the_same_limit() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(encode(os.urandom(5000)), limit=1000)
    assert caught.value.code == "decode.too-large"


def _frame_that_claims(size: int) -> bytes:
    # Magic, a single segment with a size of 8 bytes, and one empty last block.
    return b"\x28\xb5\x2f\xfd\xe0" + size.to_bytes(8, "little") + b"\x01\0\0"


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\x28\xb5\x2f\xfd",
        zlib.compress(b"x" * 100),
        zstandard.ZstdCompressor(write_content_size=False).compress(b"x" * 100),
        compress(b"x" * 1000)[:-5],
        compress(b"x" * 1000) + b"more",
        compress(b"x" * 1000) * 2,
        _frame_that_claims(100_000_000),
        _frame_that_claims(5),
        compress(b"abc" * 100)[:-1] + b"\0",
    ],
    ids=[
        "nothing",
        "only magic",
        "zlib",
        "no size",
        "cut",
        "longer",
        "two",
        "lies",
        "short",
        "sum",
    ],
)
def test_a_frame_that_is_not_whole_or_lies_about_its_size_is_an_error(frame: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        decompress(frame, 200_000_000)
    assert caught.value.code == "decode.compressed"


def test_a_frame_that_lies_about_its_size_takes_no_memory() -> None:
    tracemalloc.start()
    with pytest.raises(DecodeError):
        decompress(_frame_that_claims(100_000_000), 200_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


@given(st.binary(max_size=2000))
def test_compressed_bytes_come_back(data: bytes) -> None:
    assert decompress(compress(data), len(data)) == data


@pytest.mark.parametrize("count", [0, 1, 15, 16, 255, 65535, 65536, 70_000])
def test_packed_pieces_are_put_together_without_decoding_them(count: int) -> None:
    pieces = [CODEC.pack(i % 100) for i in range(count)]
    assert array_header(count) + b"".join(pieces) == CODEC.pack([i % 100 for i in range(count)])
    mapping = {f"{i}": i % 100 for i in range(count)}
    both = b"".join(CODEC.pack(part) for item in mapping.items() for part in item)
    assert map_header(count) + both == CODEC.pack(mapping)


def test_many_threads_decompress_at_a_time() -> None:
    values = [str(n) * 5_000 + "x" * n for n in range(40)]
    frames = [compress(value.encode()) for value in values]

    def read(_: int) -> list[str]:
        return [decompress(frame, 1 << 20).decode() for frame in frames]

    with ThreadPoolExecutor(8) as pool:
        assert all(got == values for got in pool.map(read, range(32)))
