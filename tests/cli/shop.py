"""A small workflow whose store the tests look into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import keepset as ks

if TYPE_CHECKING:
    from pathlib import Path

PERSON = "Ada Lovelace asks about invoice 77"


@dataclass
class Item:
    """A class that the command line does not know."""

    name: str
    price: int


def fetch(items: list[Item]) -> list[str]:
    """Load what is not stored."""
    return [item.name for item in items]


class Ticket(TypedDict, total=False):
    """A state with a personal field, an object, a tuple, a collection, and what is not stored."""

    question: Annotated[str, ks.Keep(personal=True)]
    items: Annotated[list[Item], ks.Keep()]
    size: Annotated[tuple[int, int], ks.Keep()]
    notes: Annotated[dict[str, Any], ks.Keep()]
    docs: Annotated[list[str], ks.Refetch(fetch, using="items")]
    key: Annotated[str, ks.Secret("env:SHOP_KEY")]
    draft: Annotated[str, ks.Drop()]


def fill(folder: Path, run_id: str = "ticket-1") -> Path:
    """Make a store with one run of three checkpoints, and give its path."""
    path = folder / "runs.db"
    state = Ticket(question=PERSON, items=[], size=(1, 2), notes={"old": 1, "same": 2})
    with ks.open(f"sqlite:///{path}") as store:
        run = store.run(Ticket, run_id, subject="ada")
        run.save("begin", state)
        state = Ticket(**{**state, "items": [Item("lamp", 5)], "notes": {"same": 2, "new": 3}})
        run.save("pick", state)
        state = Ticket(**{**state, "question": f"{PERSON}!", "size": (1, 3)})
        run.save("answer", state, status="done", metadata={"model": "m-1"})
    return path
