"""A command line that is ended while it imports.

``python -m tests.adapters.langgraph.importing.crashing READS SIGNAL PLACE URL`` sends itself a
signal when it reads its so manyeth checkpoint.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from keepset.adapters.langgraph import importing
from keepset.adapters.langgraph.importing_rows import Rows
from keepset.cli import app
from tests.adapters.langgraph.importing.stores import OWN


class Deadly(Rows):
    """Ends the process after some checkpoints were read."""

    left = int(sys.argv[1]) if __name__ == "__main__" else 0

    def checkpoint(self, *place: Any) -> Any:
        if not Deadly.left:
            print("half", file=sys.stderr, flush=True)  # noqa: T201 - the parent reads it
            os.kill(os.getpid(), signal.Signals[sys.argv[2]])
        Deadly.left -= 1
        return super().checkpoint(*place)


if __name__ == "__main__":
    vars(importing)["Rows"] = Deadly
    words = [word for name in OWN for word in ("--types", name)]
    app.main(["import", sys.argv[3], "--into", sys.argv[4], "--apply", *words])
