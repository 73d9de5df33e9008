"""Amounts on the command line: bytes as ``1GB``, samples as ``500`` or ``5%``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import click

_UNITS: Final = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_BYTES: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?B?)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(%?)")
_HUNDRED: Final = 100


@dataclass(frozen=True, slots=True)
class Sample:
    """How many runs to read: one of the two.

    Attributes:
        runs: So many.
        share: Such a part of them, from 0 to 1.
    """

    runs: int | None = None
    share: float | None = None

    def __str__(self) -> str:
        """Write it as it is typed."""
        return f"{self.share * _HUNDRED:g}%" if self.share is not None else str(self.runs)


class _Bytes(click.ParamType[int]):
    name = "bytes"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Read an amount of bytes."""
        if isinstance(value, int):
            return value
        found = _BYTES.fullmatch(str(value).strip())
        if found is None:
            self.fail("it is no amount of bytes; write 500MB, or 2GB", param, ctx)
        unit = found[2].upper()
        return int(float(found[1]) * _UNITS[unit if unit.endswith("B") or not unit else f"{unit}B"])


class _Sample(click.ParamType[Sample]):
    name = "sample"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Sample:
        """Read a number of runs, or a share of them."""
        if isinstance(value, Sample):
            return value
        found = _sample(str(value).strip())
        if found is None:
            self.fail("it is no sample; write 500 for runs, or 5%", param, ctx)
        return found


def _sample(text: str) -> Sample | None:
    number = _NUMBER.fullmatch(text)
    if number is None:
        return None
    if number[2]:
        share = float(number[1]) / _HUNDRED
        return Sample(share=share) if 0 < share <= 1 else None
    return Sample(runs=int(number[1])) if number[1].isdecimal() and int(number[1]) else None


AMOUNT: Final = _Bytes()
SAMPLE: Final = _Sample()
