from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as nps

from keepset.codec import Codec
from keepset.codec.framing import extension
from keepset.codec.parse import Parse
from keepset.errors import DecodeError, PolicyError

CODEC = Codec()
ALIGNED = np.dtype([("a", "i1"), ("b", "<f8"), ("c", "U3", (2, 2))], align=True)
TITLED = np.dtype(
    {"names": ["x"], "formats": [">i4"], "offsets": [4], "titles": ["The x"], "itemsize": 12}
)

ARRAYS: dict[str, Any] = {
    "floats": np.arange(6, dtype="f4").reshape(2, 3),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "other byte order": np.arange(3, dtype=">i2"),
    "no dimensions": np.array(5.5),
    "empty": np.zeros((3, 0, 2)),
    "not contiguous": np.arange(20)[::3],
    "transposed slice": np.arange(24).reshape(4, 6)[1:3, ::2].T,
    "dates": np.array(["2024-01-01", "NaT"], dtype="M8[D]"),
    "spans": np.array([1, 2], dtype="m8[25s]"),
    "texts": np.array(["a", "bcd", "é\U0001f600"]),
    "bytes": np.array([b"a", b"b\0c"]),
    "void": np.array([b"ab", b"cd"], dtype="V2"),
    "bools": np.array([True, False]),
    "complex": np.array([1 + 2j, np.nan]),
    "half": np.array([1, np.inf], dtype="f2"),
    "long double": np.array([1.1], dtype="longdouble"),
    "long long": np.array([1], dtype="longlong"),
    "structure": np.zeros(3, ALIGNED),
    "titles": np.ones(2, TITLED),
    "nested": np.zeros(2, [("p", [("x", "i4"), ("y", "f8")]), ("q", "M8[us]")]),
    "nan payload": np.frombuffer(b"\1\2\3\4\5\6\xf8\x7f", dtype="<f8"),
}  # fmt: skip
SCALARS: list[Any] = [
    np.float64(-0.0), np.float32(1.5), np.float16(1), np.int8(-1), np.uint64(2**64 - 1),
    np.longlong(3), np.ulonglong(4), np.bool_(1), np.complex64(1j), np.str_("é\0"),
    np.bytes_(b"a\0"), np.datetime64("2024-01-01T00:00:00.5"), np.datetime64("NaT", "s"),
    np.timedelta64(3, "h"), np.void(b"xyz"), np.longdouble("1.1"), np.zeros(1, ALIGNED)[0],
]  # fmt: skip


def _bytes(value: Any) -> bytes:
    """The bytes that mean something: an extended number fills up its space with anything."""
    wide = value.dtype.char in "gG" and np.finfo(value.dtype).nmant == 63
    return repr(value).encode() if wide else value.tobytes()


def same(a: Any, b: Any) -> bool:
    return (
        type(a) is type(b)
        and a.dtype == b.dtype
        and a.dtype.char == b.dtype.char
        and a.shape == b.shape
        and a.flags.fnc == b.flags.fnc
        and (repr(a) == repr(b) if a.dtype.names else _bytes(a) == _bytes(b))
    )


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_comes_back_with_its_dtype_shape_order_and_bytes(name: str) -> None:
    packed = CODEC.pack({"a": [ARRAYS[name]]})
    again = CODEC.unpack(packed)["a"][0]
    assert same(again, ARRAYS[name])
    assert again.dtype.isalignedstruct == ARRAYS[name].dtype.isalignedstruct
    assert again.flags.writeable
    assert CODEC.pack({"a": [again]}) == packed
    assert CODEC._pack({"a": [ARRAYS[name]]}, (), {}) == packed
    assert same(Parse(CODEC._known, packed).value()["a"][0], ARRAYS[name])


@pytest.mark.parametrize("value", SCALARS, ids=lambda v: type(v).__name__)
def test_a_scalar_comes_back_as_the_same_scalar(value: Any) -> None:
    again = CODEC.unpack(CODEC.pack((value,)))[0]
    assert type(again) is type(value)
    assert again.dtype == value.dtype
    assert _bytes(again) == _bytes(value)


@given(nps.arrays(nps.scalar_dtypes(), nps.array_shapes(min_dims=0, min_side=0, max_side=4)))
def test_any_array_comes_back_the_same(array: Any) -> None:
    assert same(CODEC.unpack(CODEC.pack(array)), array)


@pytest.mark.parametrize(
    "array",
    [
        np.array([1, "a"], dtype=object),
        np.zeros(1, [("x", "i4"), ("o", object)]),
        np.array(["a"], dtype=np.dtypes.StringDType()),
        np.array([(1,)], dtype=[("x", "i4")]).view(np.recarray),
        np.ma.masked_array([1], mask=[True]),
    ],
    ids=["objects", "object in structure", "strings elsewhere", "records", "masked"],
)
def test_an_array_that_does_not_hold_its_data_plainly_is_refused_by_path(array: Any) -> None:
    with pytest.raises(PolicyError, match=r"^a\[0\]: "):
        CODEC.pack({"a": [array]})


def test_what_lies_between_the_fields_of_a_structure_is_not_stored() -> None:
    array = np.frombuffer(bytearray(b"\xee" * ALIGNED.itemsize), ALIGNED)
    array = array.copy()
    array.view("u1")[:] = 0xEE
    array["a"], array["b"], array["c"] = 0, 0, "x"
    assert b"\xee" in array.tobytes()
    assert b"\xee" not in CODEC.pack([array, array[0]])
    outer = np.zeros(2, [("inside", ALIGNED, (3,)), ("alone", ALIGNED)])
    outer.view("u1")[:] = 0xEE
    for part in (outer["inside"], outer["alone"]):
        part["a"], part["b"], part["c"] = 0, 0, "x"
    assert b"\xee" in outer.tobytes()
    assert b"\xee" not in CODEC.pack([outer, outer[0]])


def test_what_fills_up_an_extended_number_is_not_stored() -> None:
    memory = np.frombuffer(bytearray(b"\xee" * 64), dtype="u1").copy()
    numbers = memory.view("longdouble")
    numbers[:] = 1.5
    if np.finfo("longdouble").nmant == 63:
        memory.reshape(-1, numbers.itemsize)[:, 10:] = 0xEE
    for value in (numbers, numbers[0], numbers[::2], numbers.view("clongdouble")):
        assert b"\xee\xee" not in CODEC.pack(value)
    with pytest.raises(PolicyError, match="long double"):
        CODEC.pack(np.zeros(1, [("x", "longdouble", (2,))]))


def test_an_array_of_a_subdtype_that_lies_about_its_size_is_an_error() -> None:
    good = CODEC.pack(np.arange(4))
    for bad in (
        good.replace(b"<i8", b"<i4"),
        good.replace(b"<i8", b"<O8"),
        good.replace(b"C", b"K"),
    ):
        with pytest.raises(DecodeError):
            CODEC.unpack(bad)
    deep: Any = "<i4"
    for _ in range(60):
        deep = [deep, [1]]
    header = CODEC.pack([deep, "C", [1]])
    with pytest.raises(DecodeError):
        CODEC.unpack(extension(17, len(header).to_bytes(4, "big") + header + b"\0" * 4))


def test_a_number_format_of_another_platform_is_an_error_that_says_so() -> None:
    packed = CODEC.pack(np.array([1.1], dtype="longdouble"))
    with pytest.raises(DecodeError) as caught:
        CODEC.unpack(
            packed.replace(b"#63", b"#64").replace(b"#112", b"#111").replace(b"#52", b"#51")
        )
    assert caught.value.code == "decode.platform"


def test_texts_in_an_array_are_shown_to_a_detector() -> None:
    assert dict(CODEC.parts(np.array([["a", "b"]])) or ()) == {0: "a", 1: "b"}
    titled = np.array([(1, "x")], dtype=[(("N of it", "n"), "i4"), ("t", "U3")])
    assert list(CODEC.parts(titled) or ()) == [("fields", ["n", "t", "N of it"]), ("t", "x")]
    assert list(CODEC.parts(np.frombuffer(b"\0\1a text\r\n\xff", "u1")) or ()) == [
        (0, b"a text\r\n")
    ]
    assert list(CODEC.parts(np.void(b"some text")) or ()) == [(0, b"some text")]
    assert list(CODEC.parts(np.arange(3)) or ()) == []
    assert list(CODEC.parts(np.str_("x")) or ()) == [("value", "x")]
