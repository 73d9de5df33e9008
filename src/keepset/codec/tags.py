"""The extension types of the wire format; a number, once given, never gets another meaning.

A number is the type of a MessagePack extension
(https://github.com/msgpack/msgpack/blob/master/spec.md#ext-format-family). The content of an
extension is raw bytes for a leaf and one packed array for everything else; docs/codec.md has both.
"""

from __future__ import annotations

from typing import Final

INTEGER: Final = 1
TEXT: Final = 2
BYTEARRAY: Final = 3
COMPLEX: Final = 4
DECIMAL: Final = 5
FRACTION: Final = 6
DATETIME: Final = 7
DATE: Final = 8
TIME: Final = 9
TIMEDELTA: Final = 10
UUID: Final = 11
PATH: Final = 12
ADDRESS: Final = 13
BLOB: Final = 14
UNSET: Final = 15
SCALAR: Final = 16
ARRAY: Final = 17
FRAME: Final = 18

TUPLE: Final = 32
SET: Final = 33
FROZENSET: Final = 34
MAPPING: Final = 35
ORDERED: Final = 36
COUNTER: Final = 37
DEFAULTDICT: Final = 38
DEQUE: Final = 39
RANGE: Final = 40
PATTERN: Final = 41
MEMBER: Final = 42
FLAG: Final = 43
OBJECT: Final = 44
ERROR: Final = 45
WITHHELD: Final = 46

FIRST_COMPOSITE: Final = TUPLE
"""Extensions from here on hold one packed array; below they hold raw bytes."""
