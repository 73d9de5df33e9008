"""A process that works on a run: ``python -m tests.run.leasing <url> <run> [lease]``.

It says when it has saved, waits for a word, saves again and says what came of it; ``end`` ends it.
"""

from __future__ import annotations

import sys

import keepset as ks
from keepset.errors import ConflictError
from tests.run.states import Chat

OPEN: list[ks.Store] = []
"""What is never closed."""


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def work(url: str, name: str, lease: str = "30") -> None:
    # Under ``full`` a writer makes room in its log after a save, and could be stopped in that.
    store = ks.open(url, lease=float(lease), durability="normal")
    OPEN.append(store)
    run = store.run(Chat, name)
    count = run.state["count"] if run.state else 0
    while True:
        count += 1
        try:
            run.save("step", {"count": count})
        except ConflictError as error:
            say(error.code)
        else:
            say("saved")
        word = sys.stdin.readline().strip()
        if word == "pause":
            run.save("pause", {"count": count}, status="paused")
            say("paused")
            word = sys.stdin.readline().strip()
        if word != "more":
            return  # with neither the run nor the store closed


if __name__ == "__main__":
    work(*sys.argv[1:])
