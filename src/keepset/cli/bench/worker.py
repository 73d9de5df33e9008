"""A process that measures: it reads jobs as lines of JSON and answers each with one.

Each system has a process of its own, so that what one of them loads, caches or leaves running does
not slow another. ``python -m keepset.cli.bench.worker`` starts one.
"""

from __future__ import annotations

import gc
import json
import os
import sys

from keepset.cli.bench.jobs import perform


def main() -> None:
    """Answer jobs until nobody asks any more."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)  # what a library prints is no answer
        for line in sys.stdin:
            answer = perform(json.loads(line))
            gc.collect()  # what one job leaves behind is not for the next one to clear away
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
