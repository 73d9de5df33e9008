"""Proofs of workflows that really run: points, kinds of states and steps, and how they fail."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

import keepset as ks
from keepset.errors import UsageError
from keepset.prove.data import as_data
from keepset.prove.proof import FieldProof, Proof
from keepset.testing import Options, prove
from keepset.testing.asserting import complaints
from tests.prove.wild import Reply, complete, take_out

ONLY_HERE = Options(pins=())


class Ticket(TypedDict, total=False):
    question: str
    found: list[str]
    note: str
    answer: str


def find(state: Ticket) -> Ticket:
    return {"found": [state["question"]], "note": "nobody reads this"}


def read(state: Ticket) -> Ticket:
    return {"found": [*state["found"], "more"]}


def reply(state: Ticket) -> Ticket:
    return {"answer": " ".join(state["found"])}


def proof_of(state: Any, steps: list[Callable[..., Any]], begun: Any = None, **more: Any) -> Proof:
    """Prove steps in this process; each life has a workflow of its own."""
    more.setdefault("options", ONLY_HERE)
    return prove(lambda: ks.Workflow(state, steps=steps), begun, **more)


def verdicts(proof: Proof) -> dict[str, str]:
    return {one.name: str(one.verdict) for one in proof.fields}


def field_of(proof: Proof, name: str) -> FieldProof:
    return next(one for one in proof.fields if one.name == name)


EXPECTED = {"question": "not needed", "found": "needed", "note": "not needed"}


def test_points_are_those_between_two_steps() -> None:
    proof = proof_of(Ticket, [find, read, reply], {"question": "why?"})
    assert proof.points == ("after find", "after read")
    assert verdicts(proof) == {**EXPECTED, "answer": "not needed"}
    assert proof.sufficient == ("found",)
    assert proof.minimal


def test_steps_that_are_coroutines_are_proven_as_well() -> None:
    async def find(state: Ticket) -> Ticket:
        return {"found": [state["question"]]}

    async def reply(state: Ticket) -> Ticket:
        return {"answer": " ".join(state["found"])}

    proof = proof_of(Ticket, [find, read, reply], {"question": "why?"})
    assert proof.points == ("after find", "after read")
    assert verdicts(proof)["found"] == "needed"


@dataclass
class AsClass:
    question: str
    found: list[str] = field(default_factory=list)
    note: str = ""
    answer: str = ""


class AsModel(BaseModel):
    question: str
    found: list[str] = []
    note: str = ""
    answer: str = ""


class AsStruct(msgspec.Struct):
    question: str
    found: list[str] = []
    note: str = ""
    answer: str = ""


@pytest.mark.parametrize("state", [AsClass, AsModel, AsStruct])
def test_a_state_of_any_kind_begins_with_a_mapping_of_its_fields(state: Any) -> None:
    def find(state: Any) -> dict[str, Any]:
        return {"found": [state.question], "note": "nobody reads this"}

    def read(state: Any) -> dict[str, Any]:
        return {"found": [*state.found, "more"]}

    def reply(state: Any) -> None:
        state.answer = " ".join(state.found)

    expected = {**EXPECTED, "question": "needed", "answer": "not needed"}
    for begun in ({"question": "why?"}, state(question="why?")):
        proof = proof_of(state, [find, read, reply], begun)
        assert verdicts(proof) == expected
        question, found = field_of(proof, "question").first, field_of(proof, "found").first
        assert question is not None
        assert question.differences[0].kind == "failure"  # the class cannot do without it
        assert found is not None
        assert found.differences[0].what == "another answer"


def test_a_step_that_fails_without_a_field_is_named_with_the_type_of_its_error() -> None:
    proof = proof_of(Ticket, [find, read, reply], {"question": "why?"})
    first = field_of(proof, "found").first
    assert first is not None
    assert (first.point, first.differences[0].what) == ("after find", "KeyError in read")


def test_a_workflow_that_fails_by_itself_is_inconclusive_and_says_in_which_step() -> None:
    def fail(_: Ticket) -> None:
        raise ValueError

    proof = proof_of(Ticket, [find, fail, reply], {"question": "why?"})
    assert (proof.failure, proof.is_conclusive) == ("ValueError in fail", False)
    assert set(verdicts(proof).values()) == {"inconclusive"}


def test_a_workflow_that_is_given_nothing_and_needs_something_says_so() -> None:
    proof = proof_of(AsClass, [reply])
    assert proof.failure == "SchemaError [state.missing-field]"


@pytest.mark.parametrize("kind", [SystemExit, GeneratorExit, asyncio.CancelledError])
def test_a_step_that_ends_the_program_is_a_step_that_fails(kind: type[BaseException]) -> None:
    def leave(state: Ticket) -> Ticket:
        if "found" not in state:
            raise kind
        return {}

    proof = proof_of(Ticket, [find, leave, reply], {"question": "why?"})
    first = field_of(proof, "found").first
    assert first is not None
    assert first.differences[0].what == f"{kind.__name__} in leave"


@pytest.mark.parametrize("kind", [Exception, BaseException])
def test_a_step_that_catches_everything_does_not_live_on_behind_the_point(
    kind: type[BaseException],
) -> None:
    """The life ends between two steps, where no step's own code can catch it."""
    seen: list[str] = []

    def guarded(step: Callable[[Ticket], Ticket]) -> Callable[[Ticket], Ticket]:
        def called(state: Ticket) -> Ticket:
            try:
                seen.append(step.__name__)
                return step(state)
            except kind:
                seen.append("caught")
                return {}

        called.__name__ = step.__name__
        return called

    steps = [guarded(find), guarded(read), guarded(reply)]
    proof = proof_of(
        Ticket, steps, {"question": "why?"}, world=seen.clear, observe=lambda: list(seen)
    )
    found = field_of(proof, "found").first
    assert found is not None
    assert found.differences[0].kind == "effect"
    assert verdicts(proof)["note"] == "not needed"
    assert not proof.strayed


def test_an_asynchronous_step_that_catches_everything_does_not_either() -> None:
    async def find(state: Ticket) -> Ticket:
        with suppress(BaseException):
            return {"found": [state["question"]]}
        return {}

    async def reply(state: Ticket) -> Ticket:
        with suppress(BaseException):
            return {"answer": " ".join(state["found"])}
        return {}

    proof = proof_of(
        Ticket, [find, reply], {"question": "why?"}, options=Options(outputs=("answer",))
    )
    assert verdicts(proof)["found"] == "needed"
    assert not proof.strayed


class Reading(TypedDict, total=False):
    rows: Iterator[int]
    lock: Any
    total: int
    report: str


def open_rows(_: Reading) -> Reading:
    return {"rows": iter(range(10, 100)), "lock": threading.Lock()}


def add_one(state: Reading) -> Reading:
    return {"total": state.get("total", 0) + next(state["rows"])}


def add_two(state: Reading) -> Reading:
    return {"total": state.get("total", 0) + next(state["rows"]) + next(state["rows"])}


def end(state: Reading) -> None:
    state["report"] = f"{state['total']} in all"
    for name in ("rows", "lock"):
        state.pop(name, None)  # type: ignore[misc] # a key of the state


def test_a_live_iterator_is_handed_on_as_it_stood_and_is_needed() -> None:
    proof = proof_of(Reading, [open_rows, add_one, add_two, end])
    found = {"rows": "needed", "lock": "not needed", "total": "needed", "report": "not needed"}
    assert verdicts(proof) == found
    assert not proof.strayed
    rows = field_of(proof, "rows")
    assert rows.stuck.startswith("codec.")
    assert rows.first is not None
    assert rows.first.differences[0].what == "KeyError in add_one"


def test_a_workflow_is_not_spoilt_by_what_a_step_does_to_its_input() -> None:
    """Trials in one process share nothing of the input."""

    def eat(state: Ticket) -> Ticket:
        state["found"].append(f"bite {len(state['found'])}")
        return {}

    def count(state: Ticket) -> Ticket:
        return {"answer": str(len(state["found"]))}

    apples = {"found": ["apple"]}
    proof = proof_of(Ticket, [eat, count, reply], apples)
    assert proof.is_conclusive
    assert apples == {"found": ["apple"]}


WORDS = itertools.cycle(["sun", "rain", "snow"])


def test_a_workflow_that_is_not_repeatable_says_what_differs_and_no_more() -> None:
    def roll(_: Ticket) -> Ticket:
        return {"found": [next(WORDS)]}

    proof = proof_of(Ticket, [roll, reply], {"question": "why?"})
    assert "found[0]" in proof.unlike
    assert not proof.is_conclusive
    assert not any(word in str(proof) for word in ("sun", "rain", "snow"))


PLANTED = "PLANTED"
planted = st.recursive(
    st.text(max_size=9).map(lambda text: f"{PLANTED} {text}"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("a"), inner, max_size=1),
    max_leaves=4,
)


class Anything(TypedDict, total=False):
    given: Any
    kept: Annotated[Any, ks.Drop()]
    answer: Any


@settings(max_examples=8)
@given(planted, st.booleans())
def test_nothing_that_is_said_of_a_proof_holds_a_value(value: object, is_repeatable: bool) -> None:  # noqa: FBT001 - drawn
    turns = itertools.count()

    def keep(state: Anything) -> dict[str, Any]:
        odd = [next(turns) % 2 == 0, state["given"]] if not is_repeatable else state["given"]
        return {"kept": odd}

    def use(state: Anything) -> dict[str, Any]:
        if "kept" not in state:
            raise ValueError(str(state))
        return {"answer": state["kept"]}

    proof = proof_of(Anything, [keep, use], {"given": value}, observe=lambda: [value])
    told = [json.dumps(as_data(proof)), str(proof), *complaints(proof)]
    assert len(told) > 2
    assert PLANTED not in " ".join(told)


def test_many_fields_are_left_out_in_groups_and_the_one_that_is_needed_is_found() -> None:
    names = [f"field{number}" for number in range(200)]
    state = TypedDict("Wide", dict.fromkeys(names, int), total=False)  # type: ignore[misc] # made by a program

    def begin(_: Any) -> dict[str, int]:
        return dict.fromkeys(names, 7)

    def use(state: Any) -> dict[str, int]:
        return {"field0": state["field77"]}

    proof = proof_of(state, [begin, use], options=Options(pins=(), most=50))
    assert [one.name for one in proof.fields if str(one.verdict) == "needed"] == ["field77"]
    assert proof.sufficient == ("field77",)
    assert proof.resumes < 80


def test_fields_that_are_left_out_in_groups_are_missed_at_the_end_all_the_same() -> None:
    many = Options(pins=(), most=0)
    proof = proof_of(Ticket, [find, read, reply], {"question": "why?"}, options=many)
    assert {one.name for one in proof.fields if one.lost} == {"question", "note"}


def test_several_inputs_or_answers_are_refused_since_a_workflow_takes_one() -> None:
    several: list[dict[str, Any]] = [{"turns": [{}, {}]}, {"answers": ["yes"]}]
    for more in several:
        with pytest.raises(UsageError) as caught:
            proof_of(Ticket, [find, reply], **more)
        assert caught.value.code == "prove.turns"


@pytest.mark.parametrize("what", ["world", "between", "observe"])
@pytest.mark.parametrize("error", [ValueError("PLANTED"), SystemExit("PLANTED")])
def test_a_world_that_fails_is_named_and_gives_no_verdict(what: str, error: BaseException) -> None:
    def broken() -> None:
        raise error

    with pytest.raises(UsageError) as caught:
        proof_of(Ticket, [find, read, reply], {"question": "why?"}, **{what: broken})
    assert caught.value.code == "prove.world"
    assert "broken" in caught.value.message
    assert type(error).__name__ in caught.value.message
    assert "PLANTED" not in str(caught.value)


def test_a_world_that_is_asynchronous_is_refused_and_not_taken_for_one_that_never_changes() -> None:
    async def observe() -> list[str]:
        return []

    with pytest.raises(UsageError) as caught:
        proof_of(Ticket, [find, reply], {"question": "why?"}, observe=observe)
    assert "asynchronous" in caught.value.message


def test_the_mode_of_an_operator_does_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    def proven() -> dict[str, tuple[str, str]]:
        proof = proof_of(Reply, [complete, take_out], {})
        return {one.name: (str(one.verdict), one.stuck) for one in proof.fields}

    plain = proven()
    assert plain["response"] == ("needed", "")
    for mode in ("strict", "observe"):
        monkeypatch.setenv("KEEPSET_MODE", mode)
        assert proven() == plain
