"""How the codec says no: one maker for each kind of error, and the exceptions it translates."""

from __future__ import annotations

import re
import struct

import msgspec

from keepset.codec.path import Path, format_path
from keepset.errors import DecodeError, PolicyError

FOREIGN = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    Warning,
    msgspec.MsgspecError,
    re.error,
    struct.error,
)
"""What a library may raise at bad input."""


def type_name(cls: type) -> str:
    """Name a class as its user knows it: with its module, unless it is a builtin."""
    module = getattr(cls, "__module__", "")
    return cls.__qualname__ if module in ("builtins", "") else f"{module}.{cls.__qualname__}"


def refused(message: str, code: str, hint: str) -> PolicyError:
    """Make the refusal of a value whose path the caller will add with `placed`."""
    return PolicyError(message, code=code, hint=hint)


def placed(error: PolicyError, path: Path) -> PolicyError:
    """Put the path in front of a refusal, as in ``docs[3].client: sqlite3.Connection …``."""
    where = format_path(path)
    message = f"{where}: {error.message}" if where else error.message
    return PolicyError(message, code=error.code, hint=error.hint)


def bad(message: str, code: str, hint: str = "") -> DecodeError:
    """Make the error for stored bytes that are not what the codec writes."""
    return DecodeError(message, code=code, hint=hint)


def malformed(what: str) -> DecodeError:
    """Make the error for a part that has the right tag and the wrong content."""
    return bad(
        f"the stored {what} is not what the codec writes",
        "decode.malformed",
        "The bytes are damaged or were written by something else; run `keepset verify`.",
    )
