"""Read a run's whole history again and say what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

from keepset.codec import Codec
from keepset.errors import DecodeError, IntegrityError, KeepsetError, NotFoundError
from keepset.plan.blobs import Blobs
from keepset.plan.bundled import each_write, link_of
from keepset.plan.growing import Growth, declared_to_grow
from keepset.plan.headers import unpack_metadata
from keepset.plan.large import moved
from keepset.plan.meanwhile import went_meanwhile
from keepset.plan.reads import Everything, FindRun, ReadEverything
from keepset.plan.replay import Replay
from keepset.plan.requests import Flow
from keepset.plan.rows import RunKey


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a store that is not as it was written.

    Attributes:
        run_id: The run.
        code: Code of the error.
        message: What is wrong, without any value.
    """

    run_id: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Verified:
    """What a verification read.

    Attributes:
        runs: How many runs.
        checkpoints: How many checkpoints, each of them rebuilt.
        problems: What is wrong.
    """

    runs: int
    checkpoints: int
    problems: tuple[Problem, ...]


def verify_run(key: RunKey, mark: bytes, codec: Codec) -> Flow[Verified]:
    """Check every digest of a run, rebuild every checkpoint, and hold fields to ``append_only``.

    Args:
        key: The run.
        mark: The keyed hash that its tombstone would have.
        codec: Unpacks its values.
    """
    while True:
        try:
            yield FindRun(key, mark)  # looks where everybody looks first
            everything: Everything = yield ReadEverything(key)
        except NotFoundError:  # deleted since it was listed
            return Verified(0, 0, ())
        except (IntegrityError, DecodeError) as error:
            return _damaged(key, error)
        try:
            return Verified(1, (yield from _verified(everything, codec)), ())
        except DecodeError as error:
            return _damaged(key, error)
        except IntegrityError as error:
            if not (yield from went_meanwhile(error, key, mark, everything.run)):
                return _damaged(key, error)


def _damaged(key: RunKey, error: KeepsetError) -> Verified:
    return Verified(1, 0, (Problem(key.run_id, error.code, error.message),))


def _verified(everything: Everything, codec: Codec) -> Flow[int]:
    """Give how many checkpoints were rebuilt."""
    replay = Replay(everything, codec)
    growing = declared_to_grow(everything.run.contract.structure)
    blobs = Blobs(everything.run.id, codec)
    yield from blobs.fetch_all(replay.refs())
    count = yield from _walk(replay, blobs, codec, growing)
    yield from blobs.check(replay.refs())
    yield from blobs.check(dict.fromkeys(replay.stored))
    for _, _, write, _ in each_write(everything.writes):
        if link_of(write) is None and not moved(write, codec):
            codec.unpack(write.value)
    return count


def _walk(replay: Replay, blobs: Blobs, codec: Codec, growing: frozenset[str]) -> Flow[int]:
    count = 0
    for history in replay.histories:
        growth = Growth(growing, codec)
        moments = replay.walk(history, blobs)
        for header in history.headers:
            yield from blobs.fetch(history.refs_at(header.seq))
            moment = next(moments)
            unpack_metadata(moment.header, codec)
            for _ in replay.bundled(history.past.line.id, moment):
                pass  # a value that is not there is an error
            for name in growth.broken(history, moment):
                raise _changed(name, moment.header.seq)
            count += 1
        next(moments, None)
    return count


def _changed(name: str, seq: int) -> IntegrityError:
    return IntegrityError(
        f"step {seq} changed what field {name}, which is declared append_only, held before",
        code="integrity.append-only",
        hint="Where it was declared later, or written in mode observe, prune the run to its newest"
        " checkpoints; else restore it from a backup.",
    )
