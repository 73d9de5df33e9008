"""A save of pictures stores what a save of the values would have stored when they were taken."""

from __future__ import annotations

from copy import deepcopy
from typing import Annotated, Any, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keepset as ks
from keepset.codec import Codec
from keepset.delta import Frozen, Rolled
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


def save(value: Any, memory: LineMemory, guard: Guard = GUARD) -> Recorded:
    header = Header(f"checkpoint-{memory.seq + 1}", "step", "running", 1)
    recorded = record(ks.contract_of(State), {"log": value}, header, Recorder(guard, memory))
    return recorded._replace(memory=recorded.memory.on(1))


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
        assert isinstance(stored[0], Frozen | Rolled)
        assert isinstance(stored[1], Frozen | Rolled)
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


def _grown(
    guard: Guard, *, looked_at: bool, items: int = 200
) -> tuple[Pictured, LineMemory, bytes]:
    """A saved list, and its picture with one more item that a task has written before."""
    log: list[Any] = [{"text": LONG, "number": number} for number in range(items)]
    picture = take(log, ("log",), CODEC)
    memory = save(picture, LineMemory(), guard).memory
    new = {"text": "the word is correct horse battery"}
    if looked_at:
        spec = ks.contract_of(State).fields["log"]
        assert guard.look(spec, new, ("log", 0), CODEC.pack(new)) == []
    return picture.then([*log, new], ("log",)), memory, CODEC.pack(new)


def _asked(_: Pictured) -> Any:
    raise LookupError


@pytest.mark.parametrize("items", [2, 200])
@pytest.mark.parametrize("looked_at", [True, False])
def test_an_item_that_was_looked_at_as_a_write_is_stored_without_asking_for_the_list(
    monkeypatch: pytest.MonkeyPatch,
    looked_at: bool,  # noqa: FBT001 - a parameter of the test
    items: int,
) -> None:
    guard = Guard(Scanner(KnownValues(), ()), CODEC, Mode.PROTECT)
    picture, memory, packed = _grown(guard, looked_at=looked_at, items=items)
    with monkeypatch.context() as patched:
        patched.setattr(Pictured, "value", property(_asked))
        if not looked_at:
            with pytest.raises(LookupError):
                save(picture, memory, guard)
            return
        stored = save(picture, memory, guard).memory.fields["log"].stored
    assert isinstance(stored, Frozen | Rolled)
    assert stored.packed().endswith(packed)


def test_an_item_is_looked_at_again_once_a_secret_in_it_is_known() -> None:
    known = KnownValues()
    guard = Guard(Scanner(known, ()), CODEC, Mode.PROTECT)
    picture, memory, _ = _grown(guard, looked_at=True)
    known.add("correct horse battery", "env:KEY")
    recorded = save(picture, memory, guard)
    stored = recorded.memory.fields["log"].stored
    assert isinstance(stored, Frozen | Rolled)
    assert b"correct horse" not in stored.packed()
    assert [finding.kind for finding in recorded.findings] == ["secret.value"]


def test_a_value_that_is_asked_for_late_is_what_the_list_was_at_each_picture() -> None:
    log: list[Any] = [{"text": LONG, "number": number} for number in range(60)]
    picture = take(log, ("log",), CODEC)
    asked, pictures = picture.value, []
    for number in range(60, 160):
        log = [*log, {"text": LONG, "number": number}]
        picture = picture.then(log, ("log",))
        if number % 40 == 0:
            assert picture.value == log
        pictures.append((picture, log))
    assert asked == log[:60]
    for one, then in reversed(pictures):
        assert one.value == then
        assert one.value is one.value
