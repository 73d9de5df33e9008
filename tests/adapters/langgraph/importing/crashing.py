"""A process that is killed while it imports.

``python -m tests.adapters.langgraph.importing.crashing PLACE URL READS`` ends itself when it reads
its so manyeth checkpoint.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from keepset.adapters.langgraph import importing
from keepset.adapters.langgraph.importing_rows import Rows
from tests.adapters.langgraph.importing.stores import taken


class Deadly(Rows):
    """Ends the process after some checkpoints were read."""

    left = int(sys.argv[3]) if __name__ == "__main__" else 0

    def checkpoint(self, *place: Any) -> Any:
        if not Deadly.left:
            print("half", flush=True)  # noqa: T201 - the parent reads it
            os.kill(os.getpid(), signal.SIGKILL)
        Deadly.left -= 1
        return super().checkpoint(*place)


if __name__ == "__main__":
    vars(importing)["Rows"] = Deadly
    taken(sys.argv[1], sys.argv[2])
