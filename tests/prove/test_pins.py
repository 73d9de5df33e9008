"""What is pinned is the same in two runs, another thing after a resume, and free afterwards."""

from __future__ import annotations

import os
import random
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


def _names() -> list[str]:
    with tempfile.NamedTemporaryFile() as one, tempfile.TemporaryDirectory() as folder:
        return [Path(one.name).name, Path(folder).name]


SOURCES: dict[str, tuple[str, Callable[[], object]]] = {
    "the time": ("clock", time.time),
    "a moment": ("clock", lambda: datetime.now(UTC)),
    "a UUID": ("uuid", lambda: [uuid.uuid4(), uuid.uuid4()]),
    "a UUID by a name of its own": ("uuid", lambda: [uuid4(), uuid4()]),
    "random bytes": ("uuid", lambda: os.urandom(8)),
    "a random number": ("random", random.random),
    "a random number of numpy": ("random", lambda: np.random.rand(3).tolist()),  # noqa: NPY002 - the one that is pinned
    "names of temporary files": ("random", _names),
}


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_pinned_is_the_same_in_two_runs_and_another_in_each_life(source: str) -> None:
    pin, made = SOURCES[source]

    def lives() -> list[object]:
        given = []
        for life in (WORLD, 0, 1):
            with pinned([pin], life):
                given.append(made())
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
    before = os.urandom, tempfile._name_sequence, random.getstate()  # type: ignore[attr-defined] # private
    numbers = np.random.get_state()[1].tolist()  # type: ignore[index] # noqa: NPY002 - the same
    with suppress(_WrongError, KeyboardInterrupt), pinned(PINS, 0):
        random.seed(1)
        uuid.uuid4()
        np.random.rand()  # noqa: NPY002 - the same
        if ending is not None:
            raise ending
    after = os.urandom, tempfile._name_sequence, random.getstate()  # type: ignore[attr-defined] # private
    assert after == before
    assert np.random.get_state()[1].tolist() == numbers  # type: ignore[index] # noqa: NPY002 - the same
    assert uuid.uuid4() != uuid.uuid4()


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
