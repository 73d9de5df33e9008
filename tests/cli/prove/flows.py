"""Workflows that are really proven, so that each verdict of a report is one that was measured."""

from __future__ import annotations

import itertools
import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, TypedDict

import keepset as ks
from keepset.prove.flow import Search
from keepset.prove.lives import Experiment, carry_out
from keepset.prove.ports import Script
from keepset.prove.proof import Proof
from keepset.prove.search import look, measure
from keepset.prove.tries import Question
from keepset.prove.workflows import WorkflowTarget

HOSTILE = '<img src="http://127.0.0.1:9/x" onerror=document.title=1>'
"""A name that a browser must never take for more than text."""


def proven(experiment: Experiment, outputs: tuple[str, ...] = ()) -> Proof:
    """Carry a whole proof out, in this process."""
    target = experiment.target
    rules = {name: field.rule for name, field in target.fields.items()}
    search = _whole(Question(target.name, rules, frozenset(outputs), carries=True))
    try:
        batch = next(search)
        while True:
            outcomes = []
            for trial in batch:
                with ks.open("memory:") as store:
                    outcomes.append(carry_out(experiment, trial, store))
            batch = search.send(outcomes)
    except StopIteration as end:
        proof: Proof = end.value
        return proof


def _whole(question: Question) -> Search[Proof]:
    looked = yield from look(question)
    return (yield from measure(looked))


def workflow(
    state: Any, steps: list[Callable[[Any], Any]], given: dict[str, Any], **world: Any
) -> Experiment:
    """Make an experiment of steps."""
    target = WorkflowTarget(lambda: ks.Workflow(state, steps=steps))
    return Experiment(target, Script((given,)), **world)


CHARGES: list[int] = []
INDEX: dict[str, str] = {}


def _fresh_world() -> None:
    CHARGES.clear()
    INDEX.update(a="the first text", b="the second text", news="old news")


def _time_passes() -> None:
    INDEX["news"] = "new news"


def load(ids: list[str]) -> list[str]:
    """Give what the index has under some ids."""
    return [INDEX[one] for one in ids]


def connect() -> sqlite3.Connection:
    """Open a database."""
    return sqlite3.connect(":memory:", check_same_thread=False)


class Ticket(TypedDict, total=False):
    question: Annotated[str, ks.Keep()]
    ids: Annotated[list[str], ks.Keep()]
    docs: Annotated[list[str], ks.Refetch(load, using="ids", pin="report")]
    topic: Annotated[list[str], ks.Keep()]
    news: Annotated[list[str], ks.Refetch(load, using="topic", pin="report")]
    db: Annotated[sqlite3.Connection, ks.Reopen(connect)]
    charged: Annotated[bool, ks.Drop()]
    price: Annotated[int, ks.Keep()]
    receipt: Annotated[str, ks.Keep()]
    cache: Annotated[list[str], ks.Keep()]
    first: Annotated[str, ks.Keep()]
    second: Annotated[str, ks.Keep()]
    banner: Annotated[str, ks.Keep()]
    answer: Annotated[str, ks.Keep()]


def find(_: Ticket) -> dict[str, Any]:
    return {
        "ids": ["a", "b"],
        "topic": ["news"],
        "cache": ["x" * 500],
        "first": "Bob",
        "second": "Bob",
        "receipt": uuid.uuid4().hex,
        "banner": "welcome",
    }


def read(state: Ticket) -> dict[str, Any]:
    return {"docs": load(state["ids"]), "news": load(state["topic"]), "db": connect(), "price": 5}


def charge(state: Ticket) -> dict[str, Any]:
    if not state.get("charged"):
        CHARGES.append(state["price"])
    return {"charged": True}


def confirm(state: Ticket) -> dict[str, Any]:
    if not state.get("charged"):
        CHARGES.append(state["price"])
    return {}


def answer(state: Ticket) -> dict[str, Any]:
    state["db"].execute("select 1")
    name = state.get("first") or state.get("second") or "nobody"
    return {"answer": f"{name}: {state['question']} {state['docs'][0]} {state['news'][0]}"}


@cache
def ticket() -> Proof:
    """Needed, not needed, restored, differing, together, lost, volatile, dropped but needed."""
    steps: list[Callable[[Any], Any]] = [find, read, charge, confirm, answer]
    experiment = workflow(
        Ticket,
        steps,
        {"question": "why?"},
        world=_fresh_world,
        observe=lambda: list(CHARGES),
        between=_time_passes,
    )
    return proven(experiment, ("answer",))


class Sound(TypedDict, total=False):
    question: Annotated[str, ks.Keep()]
    words: Annotated[int, ks.Drop()]
    answer: Annotated[str, ks.Keep()]


def count(state: Sound) -> dict[str, Any]:
    return {"words": len(state["question"].split())}


def reply(state: Sound) -> dict[str, Any]:
    return {"answer": state["question"].upper()}


@cache
def sound() -> Proof:
    """A contract with which nothing is wrong."""
    return proven(workflow(Sound, [count, reply], {"question": "why so"}), ("answer",))


class Dice(TypedDict, total=False):
    seed: int
    word: str


WORDS: Iterator[str] = itertools.cycle(["sun", "rain", "snow", "wind", "fog", "hail", "storm"])


def throw(_: Dice) -> dict[str, Any]:
    return {"word": next(WORDS)}


def tell(state: Dice) -> dict[str, Any]:
    return {"seed": len(state["word"])}


@cache
def unrepeatable() -> Proof:
    """A workflow of which no two runs are alike."""
    return proven(workflow(Dice, [throw, tell], {"seed": 1}))


WEATHER = {"now": "calm"}


class Walk(TypedDict, total=False):
    plan: str
    weather: str
    lock: object


def start(_: Walk) -> dict[str, Any]:
    return {"plan": "hills"}


def glance(_: Walk) -> dict[str, Any]:
    return {"weather": WEATHER["now"]}


def go(state: Walk) -> dict[str, Any]:
    return {"plan": f"{state['plan']} {state['weather']}"}


def calm() -> None:
    WEATHER["now"] = "calm"


@cache
def half_measured() -> Proof:
    """Inconclusive at its first point only, and astray there: nobody knows the weather any more."""
    walk = workflow(Walk, [start, glance, go], {"plan": ""}, world=calm, between=WEATHER.clear)
    return proven(walk)


@cache
def half_repeatable() -> Proof:
    """Two resumes differ at the first point: the weather turns, each time to something else."""

    def turned() -> None:
        WEATHER["now"] = next(WORDS)

    return proven(workflow(Walk, [start, glance, go], {"plan": ""}, world=calm, between=turned))


@cache
def locked() -> Proof:
    """A field that no checkpoint takes, and that is needed."""

    def make(_: Walk) -> dict[str, Any]:
        return {"lock": threading.Lock(), "plan": "hills"}

    def use(state: Walk) -> dict[str, Any]:
        with state["lock"]:  # type: ignore[attr-defined] # a lock, in a state that says object
            return {"weather": "calm"}

    return proven(workflow(Walk, [make, use], {"plan": ""}))


class Session(TypedDict, total=False):
    token: str
    said: str


OPEN: set[str] = set()


@cache
def stale() -> Proof:
    """A field that a resume is wrong with and right without."""

    def login(_: Session) -> dict[str, Any]:
        OPEN.add("session")
        return {"token": "session", "said": "hello"}

    def talk(state: Session) -> dict[str, Any]:
        token = state.get("token")
        if token is None:
            OPEN.add("session")
        elif token not in OPEN:
            raise PermissionError
        return {"said": state["said"].upper()}

    experiment = workflow(Session, [login, talk], {}, world=OPEN.clear, between=OPEN.clear)
    return proven(experiment)


def _typed(name: str, fields: Mapping[str, type]) -> Any:
    make: Any = TypedDict
    return make(name, fields, total=False)


@cache
def hostile() -> Proof:
    """Names of fields and of the contract that were made to do harm."""
    names = {HOSTILE: str, "a\x1b[31m\nb": str, "</td>&amp;": str}
    state: Any = _typed("state", names)

    def begin(_: Any) -> dict[str, Any]:
        return {HOSTILE: "x", "a\x1b[31m\nb": "y"}

    def end(given: Any) -> dict[str, Any]:
        return {"</td>&amp;": given[HOSTILE]}

    return proven(workflow(state, [begin, end], {}))


@cache
def wide(steps: int = 22, fields: int = 6) -> Proof:
    """Many fields and many points: each field is read at one step."""
    names = {f"a_field_with_a_rather_long_name_{n}": int for n in range(fields)}
    state: Any = _typed("Wide", names)

    def made(number: int) -> Callable[[Any], Any]:
        def step(given: Any) -> dict[str, Any]:
            name = f"a_field_with_a_rather_long_name_{number % fields}"
            return {name: given[name] + 1}

        step.__name__ = f"step_{number}"
        return step

    listed = [made(number) for number in range(steps)]
    return proven(workflow(state, listed, dict.fromkeys(names, 0)))
