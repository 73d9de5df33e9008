"""NumPy scalars and arrays: every dtype that holds its data itself; no pickle anywhere.

An array is a packed header ``[dtype, order, shape]``, its length before it in four bytes, and then
the elements as they lie in memory, in C or Fortran order
(https://numpy.org/doc/stable/reference/generated/numpy.ndarray.tobytes.html). A dtype is NumPy's
own string for it (https://numpy.org/doc/stable/reference/arrays.interface.html), or the mapping
that `numpy.dtype` takes for a structure, or ``[base, shape]`` for a subarray.
"""

from __future__ import annotations

import math
import re
import sys
from typing import Any

import msgspec

from keepset.codec import tags
from keepset.codec.failures import bad, malformed, refused
from keepset.codec.nodes import VALUE, Form, Leaf, Read

_KINDS = frozenset("biufcmMSUV")
_PLAIN = re.compile(r"[<>|][biufcmMSUV]\d{1,10}(\[\d{0,9}\w{1,7}\])?")
_WIDE = {"f": 8, "c": 16}
_EXTENDED, _EXTENDED_SIZE = 63, 10
"""Bits of the fraction and bytes of x86's extended number, which fills up 12 or 16 bytes."""
_DEPTH = 32
_LOOKED_AT = 1 << 18
"""Bytes of an array of bytes that are looked at, for its runs of ASCII."""
_READABLE = re.compile(rb"[\t\n\r -~]{8,}")
_EMPTY_ITEMS = 1 << 16
"""Elements of an array whose elements have no bytes: nothing else bounds their number."""
_STRUCTURE = ("names", "formats", "offsets", "titles", "itemsize", "aligned")


def form_of(cls: type) -> Form | None:
    """Find the form of a NumPy class; None for any other class, and where NumPy is not loaded."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if cls is numpy.ndarray:
        return Leaf(tags.ARRAY, _write_array, _texts)
    if cls is numpy.str_ or cls is numpy.bytes_:
        return Leaf(tags.SCALAR, _write_text, lambda value: [(VALUE, value.item())])
    if issubclass(cls, numpy.generic) and cls in _scalars(numpy):
        return Leaf(tags.SCALAR, _write_array, _texts if cls is numpy.void else None)
    return None


def _scalars(numpy: Any) -> set[type]:
    return set(numpy.sctypeDict.values()) - {numpy.object_}


def _write_text(value: Any) -> bytes:
    if isinstance(value, str):
        # The own __str__ of a NumPy string leaves out zeros at its end.
        return b"U" + str.__str__(value).encode("utf-8", "surrogatepass")
    return b"S" + bytes(value)


def _write_array(value: Any) -> bytes:
    numpy: Any = sys.modules["numpy"]
    array = numpy.asarray(value)
    order = "F" if array.flags.fnc else "C"
    form = _describe(array.dtype)
    array = _without_padding(numpy, array, order)
    if array.dtype.itemsize == 0 and array.size > _EMPTY_ITEMS:
        raise refused(
            f"an array of more than {_EMPTY_ITEMS} elements without bytes",
            "codec.too-large",
            "Keep its shape.",
        )
    header = msgspec.msgpack.encode([form, order, list(array.shape)])
    prefix = b"" if isinstance(value, numpy.ndarray) else b"N"
    data = array.tobytes(order)
    return b"".join((prefix, len(header).to_bytes(4, "big"), header, data))


def _without_padding(numpy: Any, array: Any, order: str) -> Any:
    """Copy an array whose elements have bytes that mean nothing, with zeros in their place.

    Between the fields of a structure, and behind an extended number of 80 bits, is whatever was
    in memory before.
    """
    extended = _is_wide(array.dtype) and numpy.finfo(array.dtype).nmant == _EXTENDED
    if array.dtype.names is None and not extended:
        return array
    clean = numpy.zeros(array.shape, array.dtype, order=order)
    _copy_fields(array, clean)
    if extended:
        part = array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1)
        numbers = clean.reshape(-1, order="A").view("u1").reshape(-1, part)
        numbers[:, _EXTENDED_SIZE:] = 0
    return clean


def _copy_fields(array: Any, clean: Any) -> None:
    """Copy what has a name: since 2.5, NumPy may copy a structure with what lies between."""
    if array.dtype.names is None:
        clean[...] = array
        return
    for name in array.dtype.names:
        _copy_fields(array[name], clean[name])


def _is_wide(dtype: Any) -> bool:
    return bool(dtype.itemsize > _WIDE.get(dtype.kind, dtype.itemsize))


def _describe(dtype: Any) -> Any:
    numpy: Any = sys.modules["numpy"]
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return [_describe(base), list(shape)]
    if dtype.hasobject or dtype.kind not in _KINDS or dtype.type not in _scalars(numpy):
        raise refused(
            f"an array of dtype {dtype.name} cannot be stored",
            "codec.dtype",
            "Convert it to a dtype without objects, or to a list.",
        )
    if dtype.names is not None:
        return _describe_structure(dtype)
    text: str = dtype.str
    if _is_wide(dtype):
        return f"{text}#{numpy.finfo(dtype).nmant}"
    return text if numpy.dtype(text).char == dtype.char else f"{text}!{dtype.char}"


def _describe_structure(dtype: Any) -> dict[str, Any]:
    fields = [dtype.fields[name] for name in dtype.names]
    if any(_is_wide(field[0].base) for field in fields):
        raise refused(
            "a structure with a long double in it cannot be stored",
            "codec.dtype",
            "Convert the field to float64.",
        )
    titles = [field[2] if len(field) > 2 else None for field in fields]  # noqa: PLR2004 - NumPy's
    return {
        "names": list(dtype.names),
        "formats": [_describe(field[0]) for field in fields],
        "offsets": [field[1] for field in fields],
        "titles": titles if any(titles) else None,
        "itemsize": dtype.itemsize,
        "aligned": dtype.isalignedstruct,
    }


def _texts(value: Any) -> list[tuple[str | int, object]]:
    """Give what could be text: labels of fields, texts, and the bytes of what has no other form.

    The bytes of an array of bytes or voids may be an image; they are looked at up to `_LOOKED_AT`.
    """
    numpy: Any = sys.modules["numpy"]
    array = numpy.asarray(value)
    dtype = array.dtype
    if dtype.names is None:
        return list(enumerate(_pieces(array)))
    titles = [title for name in dtype.names for title in dtype.fields[name][2:]]
    found: list[tuple[str | int, object]] = [("fields", [*dtype.names, *titles])]
    for name in dtype.names:
        for element, text in _texts(array[name]):
            found.append((element if isinstance(element, str) else name, text))
    return found


def _pieces(array: Any) -> list[str | bytes]:
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind in "SU":
        texts: list[str | bytes] = array.ravel().tolist()
        return texts
    if size and (kind == "V" or (kind in "iu" and size == 1)):
        return _READABLE.findall(array.flat[: _LOOKED_AT // size].tobytes())
    return []


def _read_scalar(data: bytes) -> Any:
    numpy = _numpy()
    kind, rest = data[:1], data[1:]
    if kind == b"U":
        return numpy.str_(rest.decode("utf-8", "surrogatepass"))
    if kind == b"S":
        return numpy.bytes_(rest)
    array = _read_array(rest)
    if kind != b"N" or array.ndim:
        raise malformed("scalar")
    return array[()]


def _read_array(data: bytes) -> Any:
    numpy = _numpy()
    end = 4 + int.from_bytes(data[:4], "big")
    form, order, shape = msgspec.msgpack.decode(data[4:end])
    dtype = _dtype(numpy, form, 0)
    sizes = [size for size in shape if type(size) is int and size >= 0]
    count = math.prod(sizes)
    right = order in ("C", "F") and len(sizes) == len(shape) and end <= len(data)
    if not right or count * dtype.itemsize != len(data) - end:
        raise malformed("array")
    if dtype.itemsize == 0 and count > _EMPTY_ITEMS:
        raise malformed("array")
    return numpy.ndarray(tuple(sizes), dtype, bytearray(data[end:]), order=order)


def _dtype(numpy: Any, form: Any, depth: int) -> Any:
    if depth > _DEPTH:
        raise malformed("dtype")
    if type(form) is list:
        base, shape = form
        return numpy.dtype((_dtype(numpy, base, depth + 1), tuple(shape)))
    if type(form) is dict:
        if tuple(form) != _STRUCTURE:
            raise malformed("dtype")
        formats = [_dtype(numpy, part, depth + 1) for part in form["formats"]]
        given = {key: part for key, part in form.items() if part is not None}
        return numpy.dtype({**given, "formats": formats}, align=form["aligned"])
    text, _, width = str(form).partition("#")
    text, _, char = text.partition("!")
    if not _PLAIN.fullmatch(text) or len(char) > 1:
        raise malformed("dtype")
    made = numpy.dtype(text)
    if char:
        made = numpy.dtype(char).newbyteorder(text[0])
    if made.str != text or (width and str(numpy.finfo(made).nmant) != width):
        raise bad(
            "a stored array has a number format that this platform does not have",
            "decode.platform",
            "Store float64 or int64 where runs move between platforms.",
        )
    return made


def _numpy() -> Any:
    try:
        import numpy as np  # noqa: PLC0415 - an optional dependency, needed only here
    except ImportError as error:
        raise bad(
            "the stored data holds a NumPy array, and NumPy is not installed",
            "decode.not-installed",
            'Install it: pip install "keepset[numpy]".',
        ) from error
    return np


READERS: dict[int, Read] = {tags.SCALAR: _read_scalar, tags.ARRAY: _read_array}
