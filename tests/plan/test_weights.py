"""What a writer remembers is weighed as it goes, and weighs what adding all of it up gives."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import keepset as ks
from keepset.codec import Codec
from keepset.contracts import contract_of
from keepset.plan.guard import Guard, Mode
from keepset.plan.memory import LineMemory
from keepset.plan.record import Header, record
from keepset.plan.recorder import Recorder
from keepset.scan import KnownValues, Scanner


class State(TypedDict, total=False):
    """Fields of each kind of picture."""

    log: Annotated[list[str], ks.Keep()]
    flags: Annotated[dict[str, int], ks.Keep()]
    note: Annotated[str, ks.Keep()]
    count: Annotated[int, ks.Keep()]


CONTRACT = contract_of(State)
GUARD = Guard(Scanner(KnownValues(), ()), Codec(), Mode.PROTECT)


def test_a_memory_weighs_what_its_parts_weigh_after_every_save() -> None:
    memory = LineMemory()
    state: dict[str, Any] = {"log": [], "flags": {f"flag {n}": 0 for n in range(40)}, "count": 0}
    for step in range(60):
        state["log"].append(f"entry {step} " * 60)
        state["flags"][f"flag {step % 50}"] = step
        state["count"] = step
        if step % 7 == 0:
            state["note"] = "note " * step
        elif step % 7 == 5:
            state.pop("note", None)
        header = Header(f"checkpoint {step}", "step", "running", step)
        memory = record(CONTRACT, state, header, Recorder(GUARD, memory)).memory.on(1)
        added_up = memory._replace(weight=None).size
        assert abs(memory.size - added_up) <= added_up / 20
    assert memory.size > len("".join(state["log"]))
