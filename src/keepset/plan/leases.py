"""A lease: which execution works on a run, and until when nobody else may."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from keepset.errors import ConflictError

_BETWEEN = "\n"


class Holder(NamedTuple):
    """The process that holds leases, and the store that it has open.

    Attributes:
        host: Name of its machine.
        machine: What its pid is a number on; see `keepset.providers.Process`.
        pid: Its number there.
        started: When it started, as its system counts.
        store: Random id of the store as it is open there.
    """

    host: str
    machine: str
    pid: int
    started: str
    store: str

    def text(self) -> str:
        """Give it as it lies in a run's row."""
        return _BETWEEN.join(str(part).replace(_BETWEEN, " ") for part in self)


def holder_of(text: str) -> Holder:
    """Read what `Holder.text` has written; what is no such text names nobody that is known."""
    parts = text.split(_BETWEEN)
    if len(parts) != len(Holder._fields) or not parts[2].isdecimal():
        return Holder("?", "", 0, "", text)
    host, machine, pid, started, store = parts
    return Holder(host, machine, int(pid), started, store)


class Lease(NamedTuple):
    """One execution's lease of one run.

    Attributes:
        by: The holder, as `Holder.text` gives it.
        number: Which of the holder's executions.
        until: When it ends by itself, milliseconds, unless it is renewed.
    """

    by: str
    number: int
    until: int

    def is_of(self, other: Lease) -> bool:
        """Tell whether both are of one execution."""
        return (self.by, self.number) == (other.by, other.number)


@dataclass(frozen=True, slots=True)
class Leasing:
    """What a write wants of the run's lease.

    Attributes:
        own: The writer's own lease.
        takes: Whether the run is leased to the writer after the write; else to nobody.
        held: Whether the writer has it already: if it is not there any more, the write is refused.
        gone: A lease of an execution that is known to have ended; it is as good as none.
    """

    own: Lease
    takes: bool = True
    held: bool = False
    gone: Lease | None = None

    @property
    def after(self) -> Lease | None:
        """The run's lease after the write."""
        return self.own if self.takes else None


def require_lease(run_id: str, there: Lease | None, leasing: Leasing | None) -> None:
    """Refuse a writer that wants the lease and may not have it.

    Args:
        run_id: The run.
        there: The run's lease as it is stored.
        leasing: What the writer wants; None where it works without a lease.

    Raises:
        ConflictError: ``run.leased`` or ``run.lease-lost``.
    """
    if leasing is None or (there is not None and there.is_of(leasing.own)):
        return
    if leasing.held:
        raise lease_lost(run_id)
    if there is not None and there != leasing.gone:
        raise leased(run_id, there)


def leased(run_id: str, lease: Lease) -> ConflictError:
    """Make the error for a run on which another execution works."""
    holder = holder_of(lease.by)
    return ConflictError(
        f"another execution works on run {run_id}: process {holder.pid} on {holder.host}, whose "
        f"lease ends at {_time(lease.until)} if it is not renewed",
        code="run.leased",
        hint="Wait until it has paused or ended the run, or end it. Where nothing works on the run "
        "any more, `break_lease` of the store or the saver takes the lease away.",
    )


def lease_lost(run_id: str) -> ConflictError:
    """Make the error for an execution whose lease was taken from it."""
    return ConflictError(
        f"this execution has lost its lease of run {run_id}, and nothing more of it is stored",
        code="run.lease-lost",
        hint="It was stopped for longer than its lease lasts, or the lease was broken: look where "
        "the run stands, and go on from there.",
    )


def _time(at: int) -> str:
    try:
        return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return f"{at} ms"
