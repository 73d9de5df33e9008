"""Numbers beyond MessagePack's own: integers of any size, complex, Decimal, Fraction."""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from fractions import Fraction

from keepset.codec import tags
from keepset.codec.failures import malformed, refused
from keepset.codec.nodes import Form, Leaf, Read

_LARGEST_FRACTION = 1 << 16
"""Bytes of a stored fraction: reducing it takes time with the square of its length."""
_PAIR = struct.Struct(">dd")
_SMALL = (-(1 << 63), (1 << 64) - 1)


def write_integer(value: int) -> bytes:
    """Write an integer as the fewest bytes of two's complement, big-endian."""
    size = (value if value >= 0 else ~value).bit_length() // 8 + 1
    return value.to_bytes(size, "big", signed=True)


def _read_integer(data: bytes) -> int:
    value = int.from_bytes(data, "big", signed=True)
    if _SMALL[0] <= value <= _SMALL[1]:
        raise malformed("integer")
    return value


def _write_fraction(value: Fraction) -> bytes:
    above, below = write_integer(value.numerator), write_integer(value.denominator)
    if len(above) + len(below) > _LARGEST_FRACTION:
        raise refused(
            f"a fraction of more than {_LARGEST_FRACTION} bytes",
            "codec.too-large",
            "Keep a Decimal or a float of it.",
        )
    return b"".join((len(above).to_bytes(4, "big"), above, below))


def _read_fraction(data: bytes) -> Fraction:
    size = int.from_bytes(data[:4], "big")
    above, below = data[4 : 4 + size], data[4 + size :]
    if len(data) > _LARGEST_FRACTION + 4 or not above or not below or len(above) != size:
        raise malformed("fraction")
    numerator = int.from_bytes(above, "big", signed=True)
    denominator = int.from_bytes(below, "big", signed=True)
    if denominator < 1 or math.gcd(numerator, denominator) != 1:
        raise malformed("fraction")
    return Fraction(numerator, denominator)


def _write_complex(value: complex) -> bytes:
    return _PAIR.pack(value.real, value.imag)


def _read_complex(data: bytes) -> complex:
    return complex(*_PAIR.unpack(data))


def _write_decimal(value: Decimal) -> bytes:
    return str(value).encode("ascii")


def _read_decimal(data: bytes) -> Decimal:
    value = Decimal(data.decode("ascii"))
    if str(value).encode("ascii") != data:
        raise malformed("decimal")
    return value


FORMS: dict[type, Form] = {
    complex: Leaf(tags.COMPLEX, _write_complex),
    Decimal: Leaf(tags.DECIMAL, _write_decimal),
    Fraction: Leaf(tags.FRACTION, _write_fraction),
}
READERS: dict[int, Read] = {
    tags.INTEGER: _read_integer,
    tags.COMPLEX: _read_complex,
    tags.DECIMAL: _read_decimal,
    tags.FRACTION: _read_fraction,
}
