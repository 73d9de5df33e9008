"""The pure heart of a save: what is written, and when a field is written whole again."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import keepset as ks
from keepset.codec import Codec
from keepset.plan.guard import Guard, Mode
from keepset.plan.memory import LineMemory
from keepset.plan.packing import STEPS_PER_SEGMENT
from keepset.plan.record import Header, Recorded, record
from keepset.plan.recorder import Recorder
from keepset.scan import KnownValues, Scanner


class State(TypedDict, total=False):
    flags: Annotated[dict[str, int], ks.Keep()]
    log: Annotated[list[str], ks.Keep()]
    text: Annotated[str, ks.Keep()]


GUARD = Guard(Scanner(KnownValues(), ()), Codec(), Mode.PROTECT)


def save(values: dict[str, Any], memory: LineMemory) -> Recorded:
    header = Header(f"checkpoint-{memory.seq + 1}", "step", "running", 1)
    recorded = record(ks.contract_of(State), values, header, Recorder(GUARD, memory))
    return recorded._replace(memory=recorded.memory.on(1))


def test_a_field_whose_edits_outgrow_it_is_written_whole_again() -> None:
    memory, flags = LineMemory(), {f"flag {n}": 0 for n in range(50)}
    bases = set()
    for number in range(400):
        flags[f"flag {number % 50}"] = number
        recorded = save({"flags": flags}, memory)
        memory = recorded.memory
        bases.add(memory.fields["flags"].base)
        assert memory.fields["flags"].chain < 4_000
    assert 2 < len(bases) < 40


def test_a_list_that_only_grows_is_never_written_again() -> None:
    memory, log = LineMemory(), ["first"]
    for number in range(300):
        log.append(f"entry {number} " + "word " * 20)
        memory = save({"log": log}, memory).memory
    assert memory.fields["log"].base == 1


def test_a_step_that_changes_nothing_writes_no_difference() -> None:
    first = save({"log": ["a"], "text": "t"}, LineMemory())
    second = save({"log": ["a"], "text": "t"}, first.memory)
    assert second.step.changes == b""
    assert len(first.step.changes) > 0


def test_a_large_value_is_handed_to_the_store_once() -> None:
    large = "".join(chr(97 + n % 26) for n in range(70_000))
    first = save({"text": large}, LineMemory())
    assert [blob.size for blob in first.blobs] == [len(large) + 5]
    second = save({"log": ["a"], "text": large}, first.memory)
    third = save({"log": [large, "b"], "text": "short"}, second.memory)
    assert second.blobs == third.blobs == ()


def test_old_steps_are_packed_and_the_newest_stays_out() -> None:
    memory = LineMemory()
    for number in range(STEPS_PER_SEGMENT):
        recorded = save({"log": [str(number)]}, memory)
        assert recorded.segments == ()
        memory = recorded.memory
    recorded = save({"log": ["last"]}, memory)
    assert recorded.packed == STEPS_PER_SEGMENT
    assert {row.field for row in recorded.segments} == {"", "log"}
    assert [step.row.seq for step in recorded.memory.tail] == [STEPS_PER_SEGMENT + 1]


def test_a_short_text_that_did_not_change_is_known_again_and_one_that_did_is_noticed() -> None:
    text = "a short text"
    memory = LineMemory()
    for _ in range(3):
        memory = save({"text": text}, memory).memory
    assert memory.fields["text"].held is text
    for other in ("another text", b"a short text", None, "a short text ", 1):
        recorded = save({"text": other}, memory)
        assert recorded.step.changes
        again = save({"text": other}, save({"text": other}, recorded.memory).memory)
        assert not again.step.changes
        assert save({"text": text}, again.memory).step.changes


def test_a_long_text_is_not_kept_alive_by_what_a_writer_remembers() -> None:
    text = "word " * 1000
    memory = LineMemory()
    for _ in range(3):
        memory = save({"text": text}, memory).memory
    assert memory.fields["text"].held is not text
