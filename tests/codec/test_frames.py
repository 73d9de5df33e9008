from __future__ import annotations

import contextlib
import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.codec import Codec
from keepset.codec.arrow import is_compressed
from keepset.codec.framing import extension
from keepset.errors import DecodeError, PolicyError

CODEC = Codec()

DAYS = pd.date_range("2024-01-01", periods=2, freq="D")
PAIRS = pd.MultiIndex.from_tuples([(1, "a"), (2, "b")], names=["n", None])
FRAMES: dict[str, Any] = {
    "mixed": pd.DataFrame({"i": [1, 2], "f": [0.5, np.nan], "s": ["a", "b"], "b": [True, False]}),
    "dates": pd.DataFrame({"t": pd.to_datetime(["2024-01-01", "NaT"])}),
    "spans": pd.DataFrame({"d": pd.to_timedelta([1, 2])}),
    "zones": pd.DataFrame({"t": DAYS.tz_localize("Europe/Berlin")}),
    "category": pd.DataFrame({"c": pd.Categorical(["x", "y", "x"], ["y", "x"], ordered=True)}),
    "nullable": pd.DataFrame({"n": pd.array([1, None], dtype="Int64")}),
    "nullable truth": pd.DataFrame({"b": pd.array([True, None], dtype="boolean")}),
    "named index": pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="key")),
    "two indexes": pd.DataFrame({"a": [1, 2]}, index=PAIRS),
    "frequency": pd.DataFrame({"a": [1, 2]}, index=DAYS),
    "range": pd.DataFrame({"a": [1, 2]}, index=pd.RangeIndex(5, 9, 2)),
    "empty": pd.DataFrame({"a": []}),
    "no columns": pd.DataFrame(index=[1, 2]),
    "counted columns": pd.DataFrame(np.arange(6).reshape(2, 3)),
    "numbers as names": pd.DataFrame({3: [1], 7: ["x"]}),
    "series": pd.Series([1.5, 2], name="s", index=["a", "b"]),
    "unnamed series": pd.Series([1, 2], dtype="int8"),
    "series of text": pd.Series(["a", None], name=3),
    "object dates": pd.DataFrame({"d": [dt.date(2024, 1, 1), None]}),
    "attributes": pd.DataFrame({"a": [1]}),
}
FRAMES["attributes"].attrs["note"] = "x"
LOSSY: dict[str, Any] = {
    "mixed objects": pd.DataFrame({"a": [1, "x", object()]}),
    "one and true": pd.DataFrame({"a": pd.Series([1, True], dtype=object)}),
    "sets": pd.DataFrame({"a": [{1}, {2}]}),
    "tuples in cells": pd.DataFrame({"a": pd.Series([(1, 2), (3,)], dtype=object)}),
    "tuple as a name": pd.Series([1], name=("a", "b")),
    "numbers as objects": pd.DataFrame({"a": pd.Series([1, 2], dtype=object)}),
    "periods of mixed": pd.DataFrame({"a": pd.Series([1, 2.5, True], dtype=object)}),
}


def _compare(a: Any, b: Any) -> None:
    if isinstance(a, pd.Series):
        pd.testing.assert_series_equal(a, b, check_exact=True, check_index_type="exact")
    else:
        pd.testing.assert_frame_equal(a, b, check_exact=True, check_index_type="exact")
    assert a.attrs == b.attrs


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_comes_back_with_its_dtypes_index_and_names(name: str) -> None:
    packed = CODEC.pack([FRAMES[name]])
    (again,) = CODEC.unpack(packed)
    _compare(again, FRAMES[name])
    assert CODEC.pack([again]) == packed
    assert CODEC._pack([FRAMES[name]], (), {}) == packed


@pytest.mark.parametrize("name", LOSSY)
def test_a_frame_that_arrow_would_change_is_refused_by_path(name: str) -> None:
    with pytest.raises(PolicyError, match=r"^f\[0\]: a (frame|series)") as caught:
        CODEC.pack({"f": [LOSSY[name]]})
    assert caught.value.code == "codec.frame"


def _stored(table: Any, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    header = CODEC.pack([False, None, None, None])
    return extension(18, len(header).to_bytes(4, "big") + header + sink.getvalue().to_pybytes())


def test_a_stream_with_compressed_buffers_is_an_error_and_not_opened() -> None:
    plain = pa.table({"a": [0] * 100_000})
    words = pa.table({"a": pa.array(["x", "y"]).dictionary_encode()})
    for table in (plain, words):
        assert len(CODEC.unpack(_stored(table))) == len(table)
        for codec in ("zstd", "lz4"):
            with pytest.raises(DecodeError):
                CODEC.unpack(_stored(table, compression=codec))


def test_a_dictionary_with_compressed_buffers_is_seen_by_itself() -> None:
    words = pa.table({"a": pa.array(["x", "y"]).dictionary_encode()})
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, words.schema, options=options) as writer:
        writer.write_table(words)
    reader = pa.ipc.MessageReader.open_stream(sink.getvalue())
    schema, dictionary = (reader.read_next_message().serialize().to_pybytes() for _ in range(2))
    end = b"\xff\xff\xff\xff\0\0\0\0"
    assert is_compressed(schema + dictionary + end)
    assert not is_compressed(schema + end)


PACKED = [CODEC.pack(frame) for frame in FRAMES.values()]


@given(st.sampled_from(PACKED), st.data())
def test_a_damaged_frame_is_a_frame_or_a_decode_error(packed: bytes, data: st.DataObject) -> None:
    damaged = bytearray(packed)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at] = data.draw(st.integers(0, 255))
    with contextlib.suppress(DecodeError):
        CODEC.unpack(bytes(damaged))


def test_texts_in_a_frame_are_shown_to_a_detector() -> None:
    frame = pd.DataFrame({"n": [1, 2], "t": ["a", "b"]}, index=["x", "y"])
    frame.attrs["source"] = "file"
    frame.columns.name = "c"
    texts = list(CODEC.parts(frame) or ())
    assert ("attrs", [{"source": "file"}]) in texts
    assert ("t", ["a", "b"]) in texts
    assert ("None", ["x", "y"]) in texts
    assert ("c", ["n", "t"]) in texts
    assert not any(element == "n" for element, _ in texts)
    series = pd.Series(["k"], name="s", dtype=pd.CategoricalDtype(["k", "unused"]))
    texts = list(CODEC.parts(series) or ())
    assert ("labels", ["s", "category"]) in texts
    assert ("s", ["k", "unused"]) in texts
