"""Who works on a run, as a command tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keepset.cli.times import iso
from keepset.plan.leases import holder_of
from keepset.providers import now_ms
from keepset.run.leasing import has_run_out

if TYPE_CHECKING:
    from keepset.plan.leases import Lease


def lease_data(lease: Lease | None) -> dict[str, object] | None:
    """Give a lease as data; None where nobody works on the run."""
    if lease is None:
        return None
    holder = holder_of(lease.by)
    return {
        "host": holder.host,
        "pid": holder.pid,
        "until": iso(lease.until),
        "over": has_run_out(lease, now_ms()),
    }


def lease_text(lease: Lease | None) -> str:
    """Give a lease as a few words; empty where nobody works on the run."""
    if lease is None:
        return ""
    holder = holder_of(lease.by)
    over = ", which has ended" if has_run_out(lease, now_ms()) else ""
    return f"process {holder.pid} on {holder.host}{over}"
