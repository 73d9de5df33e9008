"""Digests are those that stores hold already, however a value is cut on its way into one."""

from __future__ import annotations

import hashlib

import pytest

from keepset.codec import Codec
from keepset.plan.digests import segment_digest, step_digest, write_digest
from keepset.plan.rows import SegmentRow, StepRow, WriteRow

MANY = 1 << 20
PACK = Codec().pack


def digest(*parts: bytes) -> bytes:
    framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hashlib.sha256(framed).digest()[:16]


@pytest.mark.parametrize("size", [0, 1, 300, MANY - 1, MANY, MANY + 1])
def test_the_digest_of_a_row_is_that_of_its_parts_each_behind_its_length(size: int) -> None:
    data = b"x" * size
    segment = SegmentRow("log", 1, 9, 1, 1, data, b"")
    assert segment_digest(segment) == digest(PACK(["log", 1, 9, 1, 1]), data)
    step = StepRow(3, "c3", "c2", "step", "running", 7, b"m", data, b"")
    assert step_digest(step) == digest(PACK([3, "c3", "c2", "step", "running", 7]), b"m", data)
    write = WriteRow("task", "path", 2, "log", data, status="failed")
    assert write_digest(write) == digest(PACK(["task", "path", 2, "log", "failed"]), data)
