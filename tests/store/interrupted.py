"""A process that saves through any number of Ctrl-C: ``python interrupted.py <url>``."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import TypedDict

import keepset as ks


class Note(TypedDict):
    number: int
    lines: list[str]


class Interrupts:
    """Tells of each Ctrl-C, and raises at one, wherever the main thread is, until armed again."""

    def __init__(self) -> None:
        self.armed, self.raised = False, 0
        signal.signal(signal.SIGINT, self._handle)

    def _handle(self, _signal: int, _frame: object) -> None:
        os.write(1, b"interrupted\n")  # past the buffer, which it may have come into
        if self.armed:
            self.armed = False
            self.raised += 1
            raise KeyboardInterrupt


def _wait_for_the_word(end: threading.Event) -> None:
    sys.stdin.readline()
    end.set()


def save_through_interrupts(url: str) -> None:
    """Save until the word comes; say each number once it is saved, then what was found."""
    store = ks.open(url, durability="normal")
    end, interrupts, number = threading.Event(), Interrupts(), 0
    threading.Thread(target=_wait_for_the_word, args=(end,), daemon=True).start()
    while not end.is_set():
        with suppress(KeyboardInterrupt):
            interrupts.armed = True
            run = store.run(Note, "run")
            state = run.state or {"number": 0, "lines": []}
            if state["number"] < number:
                sys.exit(f"{number} was acknowledged, and {state['number']} is there")
            while not end.is_set():
                lines = [*state["lines"], "a line"]
                state = {"number": state["number"] + 1, "lines": lines}
                run.save("write", state)
                number = state["number"]
                sys.stdout.write(f"{number}\n")
                sys.stdout.flush()
            interrupts.armed = False
    for _ in range(5):
        store.run(Note, "another").save("write", {"number": 0, "lines": []})
    problems = len(store.verify().problems)
    store.close()
    sys.stdout.write(f"ended {problems} {interrupts.raised}\n")


if __name__ == "__main__":
    save_through_interrupts(sys.argv[1])
