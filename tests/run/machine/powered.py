"""A process that saves until the power goes: ``python -m …powered <url> <durability> <way>``."""

from __future__ import annotations

import asyncio
import hashlib
import sys
import threading
from typing import Any

import keepset as ks
from tests.run.states import Chat

WORKERS = 4


def state_of(number: int) -> dict[str, object]:
    """Give a state that no compression makes small, so that the log is soon full."""
    return {"count": number, "draft": hashlib.shake_128(b"%d" % number).hexdigest(8_000)}


def _say(name: str, number: int) -> None:
    sys.stdout.write(f"{name} {number}\n")
    sys.stdout.flush()


def _save(store: ks.Store, name: str) -> None:
    run = store.run(Chat, name)
    number = 0
    while True:
        number += 1
        run.save("step", state_of(number))
        _say(name, number)


async def _save_in_tasks(url: str, durability: Any) -> None:
    async def save(store: ks.AsyncStore, name: str) -> None:
        run = await store.run(Chat, name)
        number = 0
        while True:
            number += 1
            await run.save("step", state_of(number))
            _say(name, number)

    async with await ks.aopen(url, durability=durability) as store:
        await asyncio.gather(*(save(store, f"run {n}") for n in range(WORKERS)))


def main(url: str, durability: Any, way: str) -> None:
    """Save alone, in threads, or in tasks; say what has been acknowledged."""
    if way == "tasks":
        asyncio.run(_save_in_tasks(url, durability))
    store = ks.open(url, durability=durability)
    names = [f"run {n}" for n in range(1 if way == "alone" else WORKERS)]
    for name in names[1:]:
        threading.Thread(target=_save, args=(store, name), daemon=True).start()
    _save(store, names[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
