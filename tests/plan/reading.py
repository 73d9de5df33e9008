"""Rows that answer what reads of large values ask for, as a store does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from keepset.errors import IntegrityError
from keepset.plan.reads import ReadBlobs
from keepset.plan.requests import Flow
from keepset.plan.rows import BlobRow

R = TypeVar("R")


class Rows:
    """Some rows.

    Attributes:
        most: The most stored bytes that one request has asked for.
    """

    def __init__(self, rows: Iterable[BlobRow]) -> None:
        self._rows = {row.digest: row for row in rows}
        self.most = 0

    def answer(self, flow: Flow[R]) -> R:
        """Run a flow to its end."""
        answer: Any = None
        try:
            while True:
                plan = flow.send(answer)
                assert isinstance(plan, ReadBlobs)
                if not self._rows.keys() >= set(plan.digests):
                    flow.throw(IntegrityError("not there", code="blob.missing", hint="-"))
                answer = tuple(self._rows[digest] for digest in plan.digests)
                self.most = max(self.most, sum(len(row.data) for row in answer))
        except StopIteration as stop:
            found: R = stop.value
            return found
