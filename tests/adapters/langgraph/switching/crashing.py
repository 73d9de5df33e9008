"""A process that is killed while it takes a thread over.

``python -m tests.adapters.langgraph.switching.crashing <old database> <url>``
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver

from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.saver.graphs import THREAD, outer

AFTER = 4


class Deadly(SqliteSaver):
    """Ends the process at the fifth checkpoint that is read by its id."""

    read = 0

    def get_tuple(self, config: Any) -> Any:
        if config["configurable"].get("checkpoint_id"):
            self.read += 1
            if self.read > AFTER:
                print("half", flush=True)  # noqa: T201 - the parent reads it
                os.kill(os.getpid(), signal.SIGKILL)
        return super().get_tuple(config)


if __name__ == "__main__":
    with Deadly.from_conn_string(sys.argv[1]) as old, KeepsetSaver(sys.argv[2], fallback=old) as s:
        outer(s).update_state(THREAD, {"log": ["here"]}, as_node="a")
