"""Bytes that would run code, or take all time and memory, if they were believed."""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Iterator
from pathlib import Path

import ormsgpack


class Planted:
    """Touches a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (f"touch {self.marker}",)


def planted_pickles(marker: Path) -> list[bytes]:
    every = [pickle.dumps([Planted(marker)], protocol) for protocol in range(6)]
    return [*every, f"cos\nsystem\n(S'touch {marker}'\ntR.".encode()]


def planted_extensions(marker: Path) -> list[bytes]:
    """The ways in which an extension names a call, each of which makes a file."""
    made = []
    for code, arguments in (
        (0, ["os", "system", f"touch {marker}"]),
        (1, ["os", "system", [f"touch {marker}"]]),
        (2, ["os", "system", {"command": f"touch {marker}"}]),
        (3, ["pathlib", "Path", str(marker), "touch"]),
        (4, ["os", "system", {"command": f"touch {marker}"}]),
        (5, ["os", "system", {"command": f"touch {marker}"}, "model_validate_json"]),
    ):
        made.append(ormsgpack.packb({"x": ormsgpack.Ext(code, ormsgpack.packb(arguments))}))
    return made


def extensions_inside(depth: int) -> bytes:
    inner = ormsgpack.packb(1)
    for _ in range(depth):
        inner = ormsgpack.packb(ormsgpack.Ext(0, ormsgpack.packb(["a", "B", 1])[:-1] + inner))
    return inner


def deep_extensions(depth: int) -> bytes:
    """Extensions inside each other, each below a thousand lists."""
    inner = b"\x01"
    for _ in range(depth):
        payload = b"\x91" * 1000 + inner
        inner = b"\xc9" + struct.pack(">I", len(payload)) + b"\x00" + payload
    return inner


BROKEN_MSGPACK = {
    "nothing": b"",
    "cut off": ormsgpack.packb({"a": ["b" * 100]})[:-5],
    "a list of 4 billion": b"\xdd\xff\xff\xff\xff",
    "a mapping of 4 billion": b"\xdf\xff\xff\xff\xff",
    "2 GB of bytes": b"\xc6\x7f\xff\xff\xff",
    "2 GB of text": b"\xdb\x7f\xff\xff\xff",
    "an extension of 2 GB": b"\xc9\x7f\xff\xff\xff\x05",
    "no type": b"\xc1",
    "more behind it": b"\x01\x02",
    "no UTF-8": b"\xa2\xff\xff",
    "100,000 lists inside each other": b"\x91" * 100_000 + b"\x01",
    "100,000 mappings inside each other": b"\x81\xa1a" * 100_000 + b"\x01",
    "5 MB of empty lists": b"\xdd\x00\x50\x00\x00" + b"\x90" * (5 << 20),
}

BROKEN_JSON = {
    "nothing": b"",
    "cut off": b'{"a": [1, 2',
    "100,000 lists inside each other": b"[" * 100_000 + b"]" * 100_000,
    "100,000 mappings inside each other": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a number of 100,000 digits": b"1" * 100_000,
    "no text": b"\xff\xfe\xfd",
    "more behind it": b'{"a": 1} x',
}


def laughs() -> bytes:
    """A billion laughs: each list holds the one before it ten times, by the memo."""
    lines = b"\x80\x02]q\x00(X\x03\x00\x00\x00lolq\x01" + b"h\x01" * 9 + b"e"
    for level in range(2, 32):
        lines += b"]q" + bytes([level]) + b"(" + (b"h" + bytes([level - 1 or 0])) * 10 + b"e"
    return lines + b"."


def repeating() -> bytes:
    """A pickle of 2 MB that says one text of 1 MB 500,000 times."""
    text = b"a" * (1 << 20)
    head = b"\x80\x04]\x94(X" + struct.pack("<I", len(text)) + text + b"\x94"
    return head + b"h\x01" * 500_000 + b"e."


def cyclic() -> bytes:
    round_and_round: list[object] = []
    round_and_round.append({"me": round_and_round, "word": "hello"})
    return pickle.dumps(round_and_round)


BROKEN_PICKLES = {
    "nothing": b"",
    "cut off": pickle.dumps({"a": ["b" * 100]})[:-5],
    "no end": b"\x80\x04N",
    "2 GB of text": b"\x80\x04X\xff\xff\xff\x7fabc.",
    "a number of 2 GB": b"\x80\x02\x8b\xff\xff\xff\x7f1.",
    "nothing on the stack": b"\x80\x02a.",
    "an empty memo": b"\x80\x02h\x05.",
    "a mark too few": b"\x80\x02]e.",
    "a key without a value": b"\x80\x02}(K\x01u.",
    "100,000 lists inside each other": b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".",
    "one text said 500,000 times": repeating(),
}


def prefixes(data: bytes) -> Iterator[bytes]:
    for length in range(len(data)):
        yield data[:length]
