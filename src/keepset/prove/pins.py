"""Pin what makes two runs differ: the clock, ids that are made up, random numbers.

In each life the pins begin elsewhere, so that what is made anew after a resume is not by chance
what was there before.
"""

from __future__ import annotations

import importlib.util
import os
import random
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from types import FrameType, MethodType
from typing import Any, Final

from keepset.errors import UsageError

PINS: Final = ("clock", "uuid", "random")
_MOMENT: Final = datetime(2031, 5, 17, 9, 30, tzinfo=UTC)
"""When the first life begins; no time that a workflow knows of by itself."""
_LATER: Final = timedelta(hours=3, minutes=7)
"""How much later the next life begins."""
WORLD: Final = -1
"""Number of the life in which the world is made."""


def require_pins(pins: Collection[str]) -> tuple[str, ...]:
    """Refuse what cannot be pinned.

    Raises:
        UsageError: ``prove.pin`` for another name, ``prove.pin-clock`` where the package that
            stops clocks is not installed.
    """
    for pin in pins:
        if pin not in PINS:
            raise UsageError(
                "what is to be pinned is not known",
                code="prove.pin",
                hint=f"Pin one or more of {', '.join(PINS)}.",
            )
    if "clock" in pins and not can_stop_clocks():
        raise UsageError(
            "the clock cannot be pinned: time-machine is not installed",
            code="prove.pin-clock",
            hint='Install it: pip install "keepset[prove]".',
        )
    return tuple(pin for pin in PINS if pin in pins)


def can_stop_clocks() -> bool:
    """Say whether the package that stops clocks is installed."""
    return importlib.util.find_spec("time_machine") is not None


@contextmanager
def pinned(pins: Collection[str], life: int) -> Iterator[None]:
    """Pin for the time of one life; afterwards all is as it was.

    Args:
        pins: Some of `PINS`.
        life: Number of the life, from 0; `WORLD` for what comes before the first one.
    """
    with ExitStack() as undo:
        if "clock" in pins:
            import time_machine  # noqa: PLC0415 - of an extra, and only where it is asked for

            undo.enter_context(time_machine.travel(_MOMENT + life * _LATER, tick=False))
        if "random" in pins:
            _random(life, undo)
        if "uuid" in pins:
            undo.callback(setattr, os, "urandom", os.urandom)
            os.urandom = _Bytes(life)
        yield


def _random(life: int, undo: ExitStack) -> None:
    undo.callback(random.setstate, random.getstate())
    random.seed(life - WORLD)
    names = tempfile._name_sequence  # type: ignore[attr-defined] # noqa: SLF001 - it has no other seam
    undo.callback(setattr, tempfile, "_name_sequence", names)
    tempfile._name_sequence = _names(life)  # type: ignore[attr-defined] # noqa: SLF001 - the same
    seeds = random.Random(f"seeds {life}")  # noqa: S311 - it has to be foreseeable
    _seeded(seeds, undo)
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        undo.callback(numpy.set_state, numpy.get_state())
        numpy.seed(life - WORLD)
        inside: Any = sys.modules["numpy.random.bit_generator"]  # of default_rng(), too
        undo.callback(setattr, inside, "randbits", inside.randbits)
        inside.randbits = seeds.getrandbits


def _seeded(seeds: random.Random, undo: ExitStack) -> None:
    """Let generators that are made without a seed have one; that of the system has none."""
    real = random.Random.seed

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        real(self, seeds.getrandbits(64) if a is None else a, version)

    undo.callback(setattr, random.Random, "seed", real)
    undo.callback(setattr, random, "seed", random.seed)
    random.Random.seed = seed  # type: ignore[method-assign] # undone in the end
    random.seed = MethodType(seed, random._inst)  # noqa: SLF001 - it was taken off the class before


def _names(life: int) -> Iterator[str]:
    """Give names of temporary files, as `tempfile` wants them: eight letters and digits."""
    made = random.Random(f"names {life}")  # noqa: S311 - it has to be foreseeable
    while True:
        yield f"{made.getrandbits(32):08x}"


class _Bytes:
    """Gives the bytes that `uuid.uuid4` makes an id of, and others those of the system.

    Bytes that a workflow draws by itself may decide which way it goes, so that what was measured
    with some of them says nothing of others.

    What keepset itself draws is not taken out of what a workflow is given: how often it draws, and
    in which thread, is another thing each time.
    """

    def __init__(self, life: int) -> None:
        self._made: Callable[[int], bytes] = random.Random(f"uuid {life}").randbytes  # noqa: S311 - the same
        self._real = os.urandom

    def __call__(self, size: int, /) -> bytes:
        return self._made(size) if _is_id(sys._getframe(1)) else self._real(size)  # noqa: SLF001 - who draws is told by nothing else


def _is_id(frame: FrameType | None) -> bool:
    """Say whether a workflow makes an id by the standard library's `uuid`."""
    if frame is None or frame.f_globals.get("__name__") != "uuid":
        return False
    while frame is not None and frame.f_globals.get("__name__") == "uuid":
        frame = frame.f_back
    name = "" if frame is None else str(frame.f_globals.get("__name__"))
    return not name.startswith("keepset.") or name.startswith("keepset.cli.demo.")
