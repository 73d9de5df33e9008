"""What is pinned is the same in two runs, another thing after a resume, and free afterwards."""

from __future__ import annotations

import os
import random
import secrets
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict
from uuid import uuid4

import numpy as np
import pytest

import keepset as ks
from keepset.errors import UsageError
from keepset.prove.pins import PINS, WORLD, pinned, require_pins

made = random.Random
"""As a workflow knows it that has imported it by name."""


def _names() -> list[str]:
    with tempfile.NamedTemporaryFile() as one, tempfile.TemporaryDirectory() as folder:
        return [Path(one.name).name, Path(folder).name]


SOURCES: dict[str, tuple[str, Callable[[], object]]] = {
    "the time": ("clock", time.time),
    "a moment": ("clock", lambda: datetime.now(UTC)),
    "a UUID": ("uuid", lambda: [uuid.uuid4(), uuid.uuid4()]),
    "a UUID by a name of its own": ("uuid", lambda: [uuid4(), uuid4()]),
    "a random number": ("random", random.random),
    "a generator without a seed": ("random", lambda: made().random()),
    "a seed that is none": ("random", lambda: (random.seed(), random.random())),  # noqa: S311 - no secret
    "a random number of numpy": ("random", lambda: np.random.rand(3).tolist()),  # noqa: NPY002 - the one that is pinned
    "a generator of numpy's": ("random", lambda: np.random.default_rng().random(3).tolist()),
    "a bit generator of numpy's": ("random", lambda: np.random.PCG64().random_raw()),
    "numpy's old generator": ("random", lambda: np.random.RandomState().rand()),
    "names of temporary files": ("random", _names),
}


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_pinned_is_the_same_in_two_runs_and_another_in_each_life(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # nobody else has such a name here
    pin, draw = SOURCES[source]

    def lives() -> list[object]:
        given = []
        for life in (WORLD, 0, 1):
            with pinned([pin], life):
                given.append(draw())
        return given

    first = lives()
    assert lives() == first
    assert len({str(one) for one in first}) == len(first)


class _WrongError(Exception):
    pass


@pytest.mark.parametrize("ending", [None, _WrongError, KeyboardInterrupt])
def test_everything_is_as_before_afterwards_also_after_an_error(
    ending: type[BaseException] | None,
) -> None:
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002 - the one that is pinned
    before = _state()
    numbers = np.random.get_state()[1].tolist()  # type: ignore[index] # noqa: NPY002 - the same
    with suppress(_WrongError, KeyboardInterrupt), pinned(PINS, 0):
        random.seed(1)
        uuid.uuid4()
        np.random.rand()  # noqa: NPY002 - the same
        if ending is not None:
            raise ending
    assert _state() == before
    assert np.random.get_state()[1].tolist() == numbers  # type: ignore[index] # noqa: NPY002 - the same
    assert uuid.uuid4() != uuid.uuid4()
    assert made().random() != made().random()


def _state() -> tuple[object, ...]:
    names = tempfile._name_sequence  # type: ignore[attr-defined] # private
    return os.urandom, names, random.getstate(), random.Random.seed


def test_what_has_a_seed_gives_what_it_would_without_a_pin() -> None:
    def drawn() -> list[object]:
        return [
            made(7).random(),
            made("seven").random(),
            np.random.default_rng(7).random(),
        ]

    free = drawn()
    with pinned(["random"], 0):
        assert drawn() == free


@pytest.mark.parametrize("draw", [os.urandom, secrets.token_bytes, random.SystemRandom().randbytes])
def test_bytes_of_the_systems_chance_are_held_still_by_no_pin(draw: Callable[[int], bytes]) -> None:
    """They may decide which way a workflow goes."""
    with pinned([pin for pin in PINS if pin != "clock"], 0):
        first = draw(16)
    with pinned([pin for pin in PINS if pin != "clock"], 0):
        assert draw(16) != first


def test_a_clock_stands_still_while_it_is_pinned_and_has_gone_on_in_the_next_life() -> None:
    with pinned(["clock"], 0):
        first = time.time()
        assert time.time() == first
    with pinned(["clock"], 1):
        assert time.time() > first


def test_nothing_is_held_still_that_is_not_pinned() -> None:
    with pinned([], 0):
        assert uuid.uuid4() != uuid.uuid4()
        given = uuid.uuid4()
    with pinned([], 0):
        assert uuid.uuid4() != given


def test_what_cannot_be_pinned_is_refused_with_what_can() -> None:
    with pytest.raises(UsageError) as caught:
        require_pins(["weather"])
    assert caught.value.code == "prove.pin"
    assert "clock, uuid, random" in caught.value.hint
    assert require_pins(["random", "clock"]) == ("clock", "random")


def test_what_keepset_draws_itself_is_not_taken_out_of_what_a_workflow_is_given() -> None:
    def drawn(*, saves: int) -> list[uuid.UUID]:
        with pinned(["uuid"], 0), ks.open("memory:") as store:
            run = store.run(_State, "run")
            for number in range(saves):
                run.save("step", {"number": number})
            return [uuid4(), uuid4()]

    assert drawn(saves=1) == drawn(saves=5)


class _State(TypedDict):
    number: int
