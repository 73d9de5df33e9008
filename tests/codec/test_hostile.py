from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from keepset.codec import Codec, TypeRegistry, array_header, decode, encode
from keepset.codec.framing import extension
from keepset.codec.parse import Parse
from keepset.errors import DecodeError
from tests.codec.classes import CODEC, Attrs, Base, Colour, Frozen, Money, Plain, Point, Rights, Sub
from tests.codec.test_round_trips import VALUES_THAT_ARE_EASILY_LOST
from tests.codec.values import VALUES

SEEDS: list[Any] = [
    *VALUES_THAT_ARE_EASILY_LOST,
    [
        Plain(1, [2]),
        Frozen(1, (2,)),
        Attrs(1),
        Point(1, 2),
        Base(theX=1),
        Sub.model_validate({"theX": 1, "other": 2}),
    ],
    {"m": [Colour.RED, Rights.READ, Money(1)], "e": ValueError("x")},
]
PACKED = [CODEC.pack(seed) for seed in SEEDS]
PROFILES = {"nightly": 100_000}
FUZZ = settings(
    max_examples=PROFILES.get(os.environ.get("HYPOTHESIS_PROFILE", ""), 400),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(st.sampled_from(PACKED)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.integers(0, 4)):
            case 0:
                data[at : at + 1] = draw(st.binary(min_size=1, max_size=1))
            case 1:
                del data[at : at + draw(st.integers(1, 8))]
            case 2:
                data[at:at] = draw(st.binary(min_size=1, max_size=8))
            case 3:
                data[at:at] = draw(st.sampled_from(PACKED))
            case _:
                data[at:at] = draw(st.sampled_from([b"\xdd", b"\xdf\x7f", b"\xc9\0\0\0", b"\xc7"]))
    return bytes(data)


def _read(data: bytes) -> tuple[bool, Any]:
    try:
        return True, CODEC.unpack(data)
    except DecodeError:
        return False, None


@FUZZ
@given(st.one_of(damaged(), st.binary(max_size=60)))
@example(b"")
@example(b"\xc1")
@example(b"\x91" * 100_000)
@example(b"\x81\xa0" * 5000 + b"\xc0")
def test_damaged_bytes_give_a_value_or_a_decode_error_and_nothing_else(data: bytes) -> None:
    good, value = _read(data)
    if good:
        packed = CODEC.pack(value)
        assert CODEC.pack(CODEC.unpack(packed)) == packed


@FUZZ
@given(damaged())
def test_the_exact_way_reads_what_the_fast_way_reads(data: bytes) -> None:
    try:
        fast = CODEC._fast.unpack(data)
    except (ValueError, TypeError, LookupError, RecursionError, MemoryError):
        return
    assert CODEC.pack(Parse(CODEC._known, data).value()) == CODEC.pack(fast)


@given(VALUES, st.binary(min_size=1, max_size=20))
def test_bytes_after_the_end_are_an_error(value: Any, more: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        CODEC.unpack(CODEC.pack(value) + more)
    assert caught.value.code == "decode.trailing"


def test_bytes_after_the_end_inside_an_extension_are_an_error() -> None:
    longer = extension(32, b"\x90\xc0")
    for data in (longer, b"\x91" + longer, b"\x92" + longer):
        for read in (CODEC.unpack, lambda data: Parse(CODEC._known, data).value()):
            with pytest.raises(DecodeError) as caught:
                read(data)
            assert caught.value.code == "decode.trailing"


@given(VALUES)
def test_bytes_that_end_early_are_an_error(value: Any) -> None:
    packed = CODEC.pack(value)
    for length in {0, len(packed) // 2, len(packed) - 1}:
        with pytest.raises(DecodeError):
            CODEC.unpack(packed[:length])


BOMBS: dict[str, bytes] = {
    "array of 4 G": b"\xdd\xff\xff\xff\xff",
    "map of 4 G": b"\xdf\xff\xff\xff\xff",
    "arrays of 16 M within each other": b"\xdd\x00\xff\xff\xff" * 250,
    "bytes of 4 GB": b"\xc6\xff\xff\xff\xff",
    "text of 4 GB": b"\xdb\xff\xff\xff\xff",
    "extension of 4 GB": b"\xc9\xff\xff\xff\xff\x20",
    "tuple of 4 G": extension(32, b"\xdd\xff\xff\xff\xff"),
    "deque bound by 2**70": extension(39, b"\x92" + extension(1, b"\x40" + b"\0" * 8) + b"\x90"),
    "fraction of 1 MB": extension(6, b"\0\0\0\1\1" + b"\1" * 1_000_000),
    "pattern of 1 MB": extension(41, b"\x92\xdb\0\x10\0\0" + b"a" * 0x100000 + b"\x20"),
    "pattern of 10,000 groups": extension(41, b"\x92\xda\x27\x10" + b"(" * 10_000 + b"\x20"),
    "pattern that prints": extension(41, b"\x92\xa1a\xcc\xa0"),
    "array of no bytes": extension(17, b"\0\0\0\x0d\x93\xa3|V0\xa1C\x91\xce\xff\xff\xff\xff"),
    "numpy array of 1 PB": extension(17, b"\0\0\0\x11\x93\xa3<f8\xa1C\x91\xcf\0\4" + b"\0" * 6),
    "numpy array of objects": extension(17, b"\0\0\0\x09\x93\xa2|O\xa1C\x91\1" + b"\0" * 8),
    "zone outside the folder": extension(9, b"\0\0\0\0\0\0\0\0Z../../../../etc/passwd"),
    "extensions in extensions": b"",
    "range without a step": extension(40, b"\x93\0\1\0"),
}
deep = b"\x90"
for _ in range(3000):
    deep = extension(32, b"\x91" + deep)
BOMBS["extensions in extensions"] = deep


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_an_error_and_takes_no_memory(name: str) -> None:
    with pytest.raises(DecodeError):
        CODEC.unpack(BOMBS[name])


MEASURED = """
import resource, sys
from tests.codec.test_hostile import BOMBS, CODEC, DecodeError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for bomb in BOMBS.values():
    try:
        CODEC.unpack(bomb)
    except DecodeError:
        pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_all_bombs_together_take_less_than_100_megabytes() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED], capture_output=True, text=True, check=True
    )
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout) * unit < 100_000_000


def test_deep_arrays_in_deep_extensions_do_not_overflow_the_stack() -> None:
    for arrays in (200, 900, 2000):
        data = b"\x01"
        for _ in range(64):
            data = b"\x91" * arrays + extension(32, b"\x91" + data)
        with pytest.raises(DecodeError) as caught:
            CODEC.unpack(data)
        assert caught.value.code == "decode.too-deep"


def test_deep_arrays_are_an_error_even_where_recursion_has_no_limit() -> None:
    program = (
        "import sys; sys.setrecursionlimit(10**8)\n"
        "from keepset.codec import Codec; from keepset.errors import DecodeError\n"
        "for data in (b'\\x91' * 10**7, b'\\x81\\xa0' * 10**6):\n"
        "    try: Codec().unpack(data)\n"
        "    except DecodeError as error: print(error.code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["decode.too-deep", "decode.too-deep"]


def test_data_cannot_name_a_class_that_is_not_registered() -> None:
    for name in ("os.system", "builtins.eval", "tests.codec.classes.Plain", "Plain", "\n", 5, None):
        inner = Codec().pack([name, {"x": 1}])
        for tag in (42, 43, 44):
            with pytest.raises(DecodeError) as caught:
                Codec().unpack(extension(tag, inner))
            assert caught.value.code == "decode.unknown-type"


def test_a_kind_that_this_version_does_not_know_is_an_error() -> None:
    for tag in (31, 100, 127):
        with pytest.raises(DecodeError, match=f"kind {tag}") as caught:
            CODEC.unpack(b"\x91" + extension(tag, b"abc"))
        assert caught.value.code == "decode.unknown-type"


def test_a_member_or_a_zone_that_is_gone_is_an_error_that_names_the_class() -> None:
    with pytest.raises(DecodeError, match=r"t/Colour: .*Colour has no member") as caught:
        CODEC.unpack(CODEC.pack(Colour.BLUE).replace(b"BLUE", b"GONE"))
    assert caught.value.code == "decode.unknown-member"
    stamp = CODEC.pack([VALUES_THAT_ARE_EASILY_LOST[17][0]])
    with pytest.raises(DecodeError, match="time zone") as missing:
        CODEC.unpack(stamp.replace(b"Europe/Berlin", b"Europe/Berlix"))
    assert missing.value.code == "decode.time-zone"


def test_twice_the_same_item_is_no_set_and_twice_the_same_key_no_mapping() -> None:
    for tag, items in ((33, [1, 1]), (34, [1, True]), (35, [1, 2, 1, 3]), (35, [1])):
        content = array_header(len(items)) + b"".join(map(CODEC.pack, items))
        with pytest.raises(DecodeError):
            CODEC.unpack(extension(tag, content))


def test_stored_fields_for_another_kind_of_class_are_an_error() -> None:
    types = TypeRegistry().with_types({"t/Plain": Colour, "t/Colour": Plain, "t/Rights": Plain})
    other = Codec(types)
    for value in (Plain(1), Colour.RED, Rights.READ):
        with pytest.raises(DecodeError):
            other.unpack(CODEC.pack(value))


def test_a_decode_error_is_never_a_missing_value() -> None:
    for data in (b"", b"\xc0", b"\xc1", encode(None)[:-1], b"x" + encode(None)):
        with pytest.raises(DecodeError):
            decode(data)
    assert decode(encode(None)) is None
