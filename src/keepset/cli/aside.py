"""Keep stdout for our own result while a user's code runs."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def printing_aside() -> Iterator[None]:
    """Send to stderr what the user's code prints, so that stdout holds our result alone.

    What a program that it starts writes goes there as well.
    """
    with contextlib.redirect_stdout(sys.stderr), contextlib.ExitStack() as undo:
        with contextlib.suppress(OSError):  # a stream that is closed has nothing to send aside
            ours = os.dup(1)
            undo.callback(os.close, ours)
            os.dup2(2, 1)
            undo.callback(os.dup2, ours, 1)
            if sys.__stdout__ is not None:
                undo.callback(sys.__stdout__.flush)
        yield
