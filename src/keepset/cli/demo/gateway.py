"""A payment gateway: a ledger that money is written to, and a door that is shut at first."""

from __future__ import annotations

import hmac
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LEDGER = "ledger.txt"
CALLS = "gateway-calls.txt"


class BusyError(Exception):
    """The gateway took nothing; ask again."""


class Gateway:
    """Charges an order. The first call for an order is turned away, so that a retry happens.

    Args:
        folder: Where the ledger is.
        api_key: The caller's key; each call is signed with it.
    """

    def __init__(self, folder: Path, api_key: str) -> None:
        """Keep what a call needs."""
        self._ledger = folder / LEDGER
        self._calls = folder / CALLS
        self._key = api_key.encode()

    def charge(self, order: str, cents: int) -> None:
        """Write one charge to the ledger; it is on the disk when this returns.

        Raises:
            BusyError: It is the first call for this order.
        """
        signed = hmac.new(self._key, order.encode(), "sha256").hexdigest()
        is_first = order not in lines(self._calls)
        _append(self._calls, order)
        if is_first:
            raise BusyError
        _append(self._ledger, f"{order} {cents} {signed[:16]}")


def charges(folder: Path, order: str) -> int:
    """Count how often an order was charged."""
    return sum(line.split()[0] == order for line in lines(folder / LEDGER))


def lines(path: Path) -> list[str]:
    """Read the lines of a file; none where there is no file."""
    return path.read_text("utf-8").splitlines() if path.exists() else []


def _append(path: Path, line: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())
