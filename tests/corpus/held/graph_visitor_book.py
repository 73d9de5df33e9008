"""A porter of the functional API greets the visitors of a building, a turn each.

What the porter remembers from turn to turn is what it saved at the end of the turn before. In the
second turn it asks the host of the visitor, and the answer comes after a while.
"""

from pathlib import Path
from typing import Any

from langgraph.func import entrypoint, task
from langgraph.types import interrupt


@task
def log(line: str) -> int:
    with Path("porter.txt").open("a") as book:
        book.write(f"{line}\n")
    return len(line)


def build() -> Any:
    @entrypoint()
    def porter(visitor: str, *, previous: list[str] | None = None) -> Any:
        seen = previous or []
        log(f"{visitor} is at the door").result()
        if seen:
            word = interrupt(f"Let {visitor} in?")
            log(f"{visitor} after {', '.join(seen)}: {word}").result()
        return entrypoint.final(value=len(seen), save=[*seen, visitor])

    return porter


def observe() -> list[str]:
    return Path("porter.txt").read_text().splitlines() if Path("porter.txt").exists() else []


INPUTS = ["Ann", "Bob"]
ANSWERS = ["yes"]
OUTPUT = ()
TRUTH = {"__previous__": "needed"}
WHY = {
    "__previous__": "in the second turn the porter would neither ask nor name who came before",
}
