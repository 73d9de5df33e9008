"""A save of pictures stores what a save of the values would have stored when they were taken."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Annotated, Any, TypedDict

from hypothesis import given, settings
from hypothesis import strategies as st

import keepset as ks
from keepset.codec import Codec
from keepset.plan.guard import Guard, Mode
from keepset.plan.memory import LineMemory
from keepset.plan.pictured import Pictured, take
from keepset.plan.record import Header, Recorded, record
from keepset.plan.recorder import Recorder
from keepset.scan import KnownValues, Scanner


class State(TypedDict, total=False):
    log: Annotated[list[Any], ks.Keep()]


CODEC = Codec()
GUARD = Guard(Scanner(KnownValues(), ()), CODEC, Mode.PROTECT)
LONG = "word " * 100
SECRET = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z" * 2  # made up
ENTRIES = st.one_of(
    st.integers(0, 9).map(lambda number: {"text": LONG, "number": number}),
    st.just({"text": LONG, "note": f"the key is {SECRET}"}),
)
CHANGES = st.lists(
    st.one_of(
        ENTRIES.map(lambda entry: ("append", entry)),
        st.just(("nothing", None)),
        st.integers(0, 40).map(lambda index: ("edit", index)),
        st.just(("shorten", None)),
    ),
    max_size=12,
)


def save(value: Any, memory: LineMemory) -> Recorded:
    header = Header(f"checkpoint-{memory.seq + 1}", "step", "running", 1)
    recorded = record(ks.contract_of(State), {"log": value}, header, Recorder(GUARD, memory))
    return replace(recorded, memory=recorded.memory.on(1))


def apply(change: tuple[str, Any], log: list[Any]) -> None:
    kind, what = change
    if kind == "append":
        log.append(deepcopy(what))
    elif kind == "edit" and log:
        log[what % len(log)]["edited"] = what
    elif kind == "shorten":
        del log[:1]


@given(st.lists(ENTRIES, max_size=40), CHANGES)
@settings(max_examples=60, deadline=None)
def test_the_store_holds_the_same_whether_values_or_their_pictures_are_saved(
    log: list[Any], changes: list[tuple[str, Any]]
) -> None:
    log = deepcopy(log)
    plain, pictured = LineMemory(), LineMemory()
    picture = take(log, ("log",), CODEC)
    for change in [("nothing", None), *changes]:
        apply(change, log)
        picture = picture.then(log, ("log",))
        as_it_was = deepcopy(log)
        log.append({"text": "what a later step has added by now"})
        pictured = save(picture, pictured).memory
        log.pop()
        plain = save(as_it_was, plain).memory
        stored = [memory.fields["log"].stored for memory in (plain, pictured)]
        assert stored[0] is not None
        assert stored[1] is not None
        assert stored[0].packed() == stored[1].packed()
        assert SECRET.encode() not in stored[1].packed()
        assert picture.value == as_it_was


def test_a_list_that_grows_shares_its_picture_and_stores_only_what_came() -> None:
    log = [{"text": LONG, "number": number} for number in range(200)]
    picture = take(log, ("log",), CODEC)
    memory = save(picture, LineMemory()).memory
    log.append({"text": "new"})
    later = picture.then(log, ("log",))
    assert later.picture is not picture.picture
    recorded = save(later, memory)
    assert 0 < len(recorded.step.changes) < 200
    assert recorded.memory.fields["log"].base == 1
    assert later.then(log, ("log",)) is later


def test_what_did_not_change_is_told_at_a_glance_and_stores_nothing() -> None:
    log = [{"text": LONG, "number": number} for number in range(200)]
    picture = take(log, ("log",), CODEC)
    memory = save(picture, LineMemory()).memory
    assert picture.then(log, ("log",)) is picture
    assert save(picture, memory).step.changes == b""


def test_a_picture_is_true_where_its_value_is() -> None:
    for value in ([], {}, set(), [0], {"a": 1}, {1}, [LONG] * 100):
        assert bool(take(value, (), CODEC)) == bool(value)
    assert isinstance(take([1], (), CODEC), Pictured)
