"""Values that a saver writes again after each step are known again, and counted each time."""

from __future__ import annotations

from typing import Any

from keepset.audit.data import as_data
from keepset.readers.ports import Item
from tests.audit import naive
from tests.audit.test_survey import Rows, audit

STEPS = 12


def message(number: int) -> dict[str, Any]:
    """Give a message; one in four has a key in it, and one in three a temporary path."""
    said = f"message {number}: all is well, and nothing is to be said of it"
    return {
        "content": f"{said} {naive.KEY}" if number % 4 == 0 else said,
        "path": naive.WORKDIR if number % 3 == 0 else "report.txt",
    }


def history(*, shared: bool) -> Rows:
    """Give a conversation that grows, trims its head, and is also written by the tasks."""
    known = [message(number) for number in range(STEPS)]
    items = []
    for step in range(STEPS):
        numbers = range(max(0, step - 6), step + 1)
        state = [known[number] if shared else message(number) for number in numbers]
        for surface, value in (("state", state), ("write", state[-1:])):
            items.append(
                Item("a", "", f"{step:04}", surface, "messages", 100, "msgpack", value)  # type: ignore[arg-type] # both are surfaces
            )
    return Rows(*items)


def test_values_that_are_shared_between_steps_are_counted_as_those_that_are_not() -> None:
    shared, apart = (as_data(audit(history(shared=one))) for one in (True, False))
    for one in (shared, apart):
        one["read"].pop("seconds")
    assert shared == apart
    secrets = {
        one["surface"]: one["copies"] for one in shared["findings"] if "secret" in one["code"]
    }
    wanted = [number for step in range(STEPS) for number in range(max(0, step - 6), step + 1)]
    assert secrets == {
        "state": sum(number % 4 == 0 for number in wanted),
        "write": sum(number % 4 == 0 for number in range(STEPS)),
    }
