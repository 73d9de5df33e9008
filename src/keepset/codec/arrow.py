"""Looks into the messages of an Arrow IPC stream, to see whether their buffers are compressed.

Source of the formats: https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format,
Message.fbs and Schema.fbs there, and https://flatbuffers.dev/internals/.
"""

from __future__ import annotations

import struct
from typing import Final

_CONTINUATION: Final = 0xFFFFFFFF
_U16 = struct.Struct("<H")
_I32 = struct.Struct("<i")
_U32 = struct.Struct("<I")
_I64 = struct.Struct("<q")
_KIND, _HEADER, _LENGTH = 1, 2, 3
_DICTIONARY, _BATCH = 2, 3
_BATCH_OF_DICTIONARY, _COMPRESSION = 1, 3


def is_compressed(stream: bytes) -> bool:
    """Tell whether any record batch or dictionary of a stream has compressed buffers.

    Raises:
        ValueError: The stream is not a sequence of whole messages with an end.
    """
    position = 0
    try:
        while True:
            mark, size = _U32.unpack_from(stream, position)[0], 0
            if mark == _CONTINUATION:
                size = _I32.unpack_from(stream, position + 4)[0]
            if size <= 0:
                if mark == _CONTINUATION and size == 0 and position + 8 == len(stream):
                    return False
                raise ValueError("the stream has no proper end")
            start = position + 8
            length, compressed = _message(stream[start : start + size])
            if compressed:
                return True
            if length < 0:
                raise ValueError("a message with a negative length")
            position = start + size + length
    except struct.error as error:
        raise ValueError("the stream ends inside a message") from error


def _message(data: bytes) -> tuple[int, bool]:
    """Give the length of the body after a message, and whether it is compressed."""
    root = _U32.unpack_from(data, 0)[0]
    slot = _slot(data, root, _LENGTH)
    length = _I64.unpack_from(data, slot)[0] if slot else 0
    slot = _slot(data, root, _KIND)
    kind = data[slot] if slot else 0
    if kind not in (_DICTIONARY, _BATCH):
        return length, False
    table = _table(data, root, _HEADER)
    if kind == _DICTIONARY:
        table = _table(data, table, _BATCH_OF_DICTIONARY)
    return length, _slot(data, table, _COMPRESSION) != 0


def _table(data: bytes, table: int, field: int) -> int:
    slot = _slot(data, table, field)
    if not slot:
        raise ValueError("a message without its header")
    return slot + int(_U32.unpack_from(data, slot)[0])


def _slot(data: bytes, table: int, field: int) -> int:
    """Find where a field of a table lies; 0 where the table does not have it."""
    fields = table - _I32.unpack_from(data, table)[0]
    if fields < 0:
        raise ValueError("a table without its list of fields")
    entry = 4 + 2 * field
    if entry >= _U16.unpack_from(data, fields)[0]:
        return 0
    offset = int(_U16.unpack_from(data, fields + entry)[0])
    return table + offset if offset else 0
