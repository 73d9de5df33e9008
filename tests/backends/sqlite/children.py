"""What the child processes of the tests do: ``python children.py <task> <path> [<argument>]``."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

from keepset.backends.sqlite import SQLiteBackend, erasing, open_memory, open_sqlite, shrinking
from keepset.errors import ConflictError
from keepset.plan.reads import ReadEverything
from keepset.testing.contract.base import Scribe, headers, segment


def say(*words: object) -> None:
    """Tell the test something, at once."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def save_until_killed(path: str, run_id: str) -> None:
    """Save without end, pack now and then, and tell each seq once it is saved."""
    scribe = Scribe(open_sqlite(path), run_id).look()
    pasts = scribe.load().pasts
    since = pasts[0].steps[0].seq - 1 if pasts else 0
    while True:
        if scribe.head - since >= 16:
            first, last = since + 1, scribe.head
            scribe.pack(headers(first, last), segment("a", first, last))
            since = last
        else:
            scribe.save()
        say(scribe.head)


def save_for(path: str, run_id: str) -> None:
    """Save for two seconds, to a run of one's own, with a busy partner on the same file."""
    backend = open_sqlite(path)
    scribe = Scribe(backend, run_id)
    say("ready")
    sys.stdin.readline()
    end = time.monotonic() + 2
    while time.monotonic() < end:
        scribe.save()
    backend.close()
    say(scribe.head)


def race(path: str, _run: str) -> None:
    """Save to one run that others save to as well, and count what landed."""
    backend = open_sqlite(path)
    say("ready")
    sys.stdin.readline()
    won = 0
    for _attempt in range(60):
        try:
            Scribe(backend).look().save()
        except ConflictError:
            continue
        won += 1
    backend.close()
    say(won)


def open_at_once(path: str, run_id: str) -> None:
    """Wait for the word, then open stores that nobody has opened before, and save to each."""
    say("ready")
    sys.stdin.readline()
    for number in range(10):
        backend = open_sqlite(f"{path}-{number}")
        Scribe(backend, run_id).save()
        backend.close()
    say("saved")


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


def view_after_fork(path: str, _run: str) -> None:
    """Look at a store in a parent and in its child."""
    backend = open_sqlite(path, readonly=True)
    say(_stored(backend, "run"))
    child = os.fork()
    if child == 0:
        say(_stored(backend, "run"))
        os._exit(0)
    say(os.waitpid(child, 0)[1])


def _wait_for_the_word(end: threading.Event) -> None:
    sys.stdin.readline()
    end.set()


def save_through_interrupts(path: str, run_id: str) -> None:
    """Save through any number of Ctrl-C, until the word comes; another process can write too."""
    backend = open_sqlite(path, timeout=10)
    end, interrupts, told = threading.Event(), Interrupts(), 0
    threading.Thread(target=_wait_for_the_word, args=(end,), daemon=True).start()
    while not end.is_set():
        with suppress(KeyboardInterrupt):
            interrupts.armed = True
            scribe = Scribe(backend, run_id).look()
            if scribe.head < told:
                sys.exit(f"{told} was acknowledged, and {scribe.head} is there")
            while not end.is_set():
                scribe.save()
                told = scribe.head
                say(told)
            interrupts.armed = False
    scribe = Scribe(backend, run_id).look().save_many(10)
    with sqlite3.connect(path, timeout=5, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
    other.close()
    backend.close()
    say("ended", scribe.head, interrupts.raised)


def exit_at_once(path: str, _run: str) -> None:
    """Hand over saves from a task and leave without waiting for them, or closing anything."""
    backend = open_sqlite(path)

    async def hand_over() -> None:
        tasks = [
            asyncio.ensure_future(backend.aexecute(Scribe(backend, f"run-{number}").plan()))
            for number in range(50)
        ]
        await asyncio.sleep(0)
        say(len(tasks))
        for task in tasks:
            task.cancel()

    asyncio.run(hand_over())


def _stored(backend: SQLiteBackend, run_id: str) -> int:
    return len(backend.execute(ReadEverything(Scribe(backend, run_id).key)).lines[0].steps)


def _in_child(work: str, backend: SQLiteBackend, path: str) -> None:
    """What the forked child does; it ends without the parent's clean-up, as fork's children do."""
    Scribe(backend, f"{work}-child").save_many(20)
    if path:
        with sqlite3.connect(path) as other:
            say("child", other.execute("PRAGMA quick_check").fetchone()[0])
        other.close()
    say("child saved", _stored(backend, f"{work}-child"), _stored(backend, "before"))
    if work == "exit":
        sys.exit(0)  # with everything that Python does at its end
    os._exit(0)


def fork(path: str, work: str) -> None:
    """Fork while other threads save, let both processes go on, and count in both."""
    backend = open_sqlite(path) if path != "memory" else open_memory()
    Scribe(backend, "before").save_many(3)
    stop = threading.Event()
    scribes = [Scribe(backend, f"thread-{number}") for number in range(3)]

    def keep_saving(scribe: Scribe) -> None:
        while not stop.is_set():
            scribe.save()
            backend.execute(scribe.find())

    threads = [threading.Thread(target=keep_saving, args=(scribe,)) for scribe in scribes]
    for thread in threads:
        thread.start()
    while not all(scribe.head > 5 for scribe in scribes):
        time.sleep(0)
    for _ in range(5):
        child = os.fork()
        if child == 0:
            _in_child(work, backend, "" if path == "memory" else path)
        _, status = os.waitpid(child, 0)
        say("status", status)
        if path != "memory":
            break
    more = [scribe.head for scribe in scribes]
    while not all(scribe.head > head for scribe, head in zip(scribes, more, strict=True)):
        time.sleep(0)
    stop.set()
    for thread in threads:
        thread.join()
    say("parent", all(_stored(backend, s.run_id) == s.head for s in scribes))
    backend.close()


def fork_and_close(path: str, _run: str) -> None:
    """Let the child use the file first, then close it in the parent, and let the child go on."""
    backend = open_sqlite(path)
    Scribe(backend, "before").save_many(3)
    told, tell = os.pipe()
    ready, done = os.pipe()
    child = os.fork()
    scribe = Scribe(backend, "child" if child == 0 else "parent")
    if child == 0:
        scribe.save_many(3)
        os.write(done, b"x")
        os.read(told, 1)
        scribe.save_many(20)
        os._exit(0)  # without closing: nothing but its commits speaks for it
    os.read(ready, 1)
    scribe.save_many(3)
    backend.close()
    os.write(tell, b"x")
    say("status", os.waitpid(child, 0)[1])


def fork_while_it_shrinks(path: str, _run: str) -> None:
    """Close a store that has pages to give back, one at a time, and fork after the first."""
    shrinking.AT_ONCE = 1  # type: ignore[misc]  # a part is one page here
    give_back, more = erasing.Erasure.give_back, []

    def with_a_fork(self: erasing.Erasure, connection: sqlite3.Connection) -> bool:
        more.append(give_back(self, connection))
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
        return more[-1]

    backend = open_sqlite(path, durability="normal")
    with closing(sqlite3.connect(path, isolation_level=None)) as another:
        another.execute("DELETE FROM step WHERE id % 2")
    erasing.Erasure.give_back = with_a_fork  # type: ignore[method-assign]  # and a fork comes
    backend.close()
    say(*more)


if __name__ == "__main__":
    tasks = (
        *(save_until_killed, save_for, save_through_interrupts, race, open_at_once),
        *(exit_at_once, fork, fork_and_close, fork_while_it_shrinks, view_after_fork),
    )
    named = {task.__name__: task for task in tasks}
    named[sys.argv[1]](sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else Path(sys.argv[2]).name)
