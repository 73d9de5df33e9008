"""What came of a piece of work, where another piece of code has to hear of it."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self


class Outcome:
    """Carries an exception from where it is raised to whoever asked for the work.

    Use it as a context manager around the work: an `Exception` is kept in `error` and not raised
    further, since the one who gets the outcome raises it. An interrupt or a cancellation is not
    an outcome and passes through.

    Attributes:
        value: What the work gave, set inside the block.
        error: What it raised, or None.
        settled: Whether one of both is known, where another thread does the work.
    """

    __slots__ = ("error", "settled", "value")

    def __init__(self) -> None:
        """Begin with nothing."""
        self.value: Any = None
        self.error: Exception | None = None
        self.settled = False

    def get(self) -> Any:
        """Give the value.

        Raises:
            Exception: What the work raised.
        """
        if self.error:
            raise self.error
        return self.value

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if isinstance(error, Exception):
            self.error = error
            return True
        return False
