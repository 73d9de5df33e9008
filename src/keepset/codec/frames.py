"""pandas frames and series through the Arrow IPC stream format, read back before they are stored.

Source of the format: https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format.
Arrow does not hold everything that pandas can express; what does not come back the same is
refused when it is written. A stream with compressed buffers is refused when it is read: their
stated length is a stranger's, and the codec compresses by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from keepset.codec import tags
from keepset.codec.arrow import is_compressed
from keepset.codec.failures import FOREIGN, bad, malformed, refused
from keepset.codec.nodes import Form, Leaf, Read
from keepset.errors import DecodeError

_NUMBERS = "biufcmM"
_LABEL = (str, int, type(None))


def form_of(cls: type) -> Form | None:
    """Find the form of a pandas class; None for any other class, and where it is not loaded."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and cls in (pandas.DataFrame, pandas.Series):
        return Leaf(tags.FRAME, _write, _texts)
    return None


def _write(value: Any) -> bytes:
    pandas, arrow = _libraries_to_write()
    series = isinstance(value, pandas.Series)
    name = value.name if series else None
    if type(name) not in _LABEL:
        raise _lossy("a series whose name is not a text or a number")
    try:
        frame = value.to_frame("values") if series else value
        table = arrow.Table.from_pandas(frame)
        sink = arrow.BufferOutputStream()
        with arrow.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        header = msgspec.msgpack.encode([series, name, *_lost(pandas, frame)])
        data = b"".join((len(header).to_bytes(4, "big"), header, sink.getvalue()))
        again = _read(data)
    except RecursionError:
        raise
    except (arrow.ArrowException, DecodeError, *FOREIGN) as error:
        raise _lossy("a frame with values that Arrow cannot hold") from error
    if not _same(pandas, value, again):
        raise _lossy("a frame that does not come back the same from Arrow")
    return data


def _lost(pandas: Any, frame: Any) -> tuple[str | None, list[int] | None]:
    """Give what Arrow forgets: an index's frequency, and that the columns are only counted."""
    columns = frame.columns
    counted = type(columns) is pandas.RangeIndex
    span = [columns.start, columns.stop, columns.step] if counted else None
    return getattr(frame.index, "freqstr", None), span


def _lossy(what: str) -> Exception:
    return refused(
        what,
        "codec.frame",
        "Give its columns a dtype of their own (no mixed objects) and text as names, or keep "
        "value.to_dict().",
    )


def _same(pandas: Any, old: Any, new: Any) -> bool:
    compare = pandas.testing.assert_frame_equal
    if isinstance(old, pandas.Series):
        compare = pandas.testing.assert_series_equal
    try:
        compare(old, new, check_exact=True, check_freq=True, check_index_type="exact")
        if isinstance(old, pandas.DataFrame):
            compare(old, new, check_exact=True, check_column_type="exact")
    except RecursionError:
        raise
    except FOREIGN:
        return False
    if repr(old.attrs) != repr(new.attrs) or type(old.index) is not type(new.index):
        return False
    return all(_same_objects(a, b) for a, b in zip(_columns(old), _columns(new), strict=True))


def _columns(value: Any) -> list[Any]:
    columns = [value] if value.ndim == 1 else [value.iloc[:, i] for i in range(value.shape[1])]
    levels = [value.index.get_level_values(i) for i in range(value.index.nlevels)]
    return [*columns, *levels]


def _same_objects(old: Any, new: Any) -> bool:
    """Compare what pandas holds as Python objects one by one: 1 is not True, None is not NaN."""
    if old.dtype != object:
        return True
    return all(
        type(a) is type(b) and (a is b or a == b or a != a)  # noqa: PLR0124 - NaN
        for a, b in zip(old.tolist(), new.tolist(), strict=True)
    )


def _texts(value: Any) -> Iterable[tuple[str | int, object]]:
    """Give what could be text: cells and categories by column, labels, and what stands beside."""
    indexes = [value.index] if value.ndim == 1 else [value.index, value.columns]
    levels = [index.get_level_values(i) for index in indexes for i in range(index.nlevels)]
    if value.ndim == 1:
        columns = [value]
    else:
        columns = [value.iloc[:, position] for position in range(value.shape[1])]
    found: list[tuple[str | int, object]] = [("attrs", [value.attrs])]
    for column in (*columns, *levels):
        name, dtype = column.name, column.dtype
        # A dtype has the name of a time zone in its own.
        found.append(("labels", [name, str(dtype)]))
        categories = getattr(dtype, "categories", None)
        if categories is not None:
            found.append((str(name), categories.tolist()))
        if categories is not None or dtype.kind not in _NUMBERS:
            found.append((str(name), column.tolist()))
    return found


def _read(data: bytes) -> Any:
    pandas, arrow = _libraries()
    end = 4 + int.from_bytes(data[:4], "big")
    series, name, freq, span = msgspec.msgpack.decode(data[4:end])
    body = data[end:]
    if type(series) is not bool or type(name) not in _LABEL or is_compressed(body):
        raise malformed("frame")
    try:
        with arrow.ipc.open_stream(arrow.py_buffer(body)) as stream:
            table = stream.read_all()
        table.validate(full=True)
        frame = table.to_pandas()
        if freq is not None:
            frame.index = type(frame.index)(frame.index, freq=freq)
        if span is not None:
            frame.columns = pandas.RangeIndex(*span, name=frame.columns.name)
    except arrow.ArrowException as error:
        raise malformed("frame") from error
    if not series:
        return frame
    return frame["values"].rename(name)


def _libraries() -> tuple[Any, Any]:
    try:
        import pandas as pd  # noqa: PLC0415 - an optional dependency, needed only here
        import pyarrow as pa  # noqa: PLC0415 - an optional dependency, needed only here
        import pyarrow.ipc  # noqa: PLC0415 - an optional dependency, needed only here
    except ImportError as error:
        raise bad(
            "the stored data holds a pandas frame, and pandas or pyarrow is not installed",
            "decode.not-installed",
            'Install them: pip install "keepset[arrow]".',
        ) from error
    return pd, pa


def _libraries_to_write() -> tuple[Any, Any]:
    try:
        return _libraries()
    except DecodeError as error:
        raise refused(
            "a pandas frame needs pyarrow to be stored",
            "codec.not-installed",
            'Install it: pip install "keepset[arrow]".',
        ) from error


READERS: dict[int, Read] = {tags.FRAME: _read}
