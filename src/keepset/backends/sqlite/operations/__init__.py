"""Every plan as a generator of statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from keepset.backends.sqlite.operations.claiming import claim
from keepset.backends.sqlite.operations.copying import copy
from keepset.backends.sqlite.operations.finding import (
    find_run,
    load,
    read_header_page,
    read_header_segments,
    seek,
)
from keepset.backends.sqlite.operations.leasing import (
    break_lease,
    give_back,
    read_lease,
    renew,
    take,
)
from keepset.backends.sqlite.operations.listing import list_runs
from keepset.backends.sqlite.operations.reading import (
    read_blobs,
    read_everything,
    read_sizes,
    read_standing,
    read_writes,
)
from keepset.backends.sqlite.operations.removing import delete, rewrite
from keepset.backends.sqlite.operations.renaming import rename, replace
from keepset.backends.sqlite.operations.saving import fork, put_writes, save
from keepset.backends.sqlite.statements import Steps
from keepset.errors import UsageError
from keepset.plan import leasing, reads, writes
from keepset.plan.requests import Plan

R = TypeVar("R")

_OPERATIONS: Mapping[type[Plan[Any]], Callable[[Any], Steps[Any]]] = {
    reads.FindRun: find_run,
    reads.Load: load,
    reads.Seek: seek,
    reads.ReadHeaderSegments: read_header_segments,
    reads.ReadHeaderPage: read_header_page,
    reads.ListRuns: list_runs,
    reads.ReadBlobs: read_blobs,
    reads.ReadWrites: read_writes,
    reads.ReadStanding: read_standing,
    reads.ReadEverything: read_everything,
    reads.ReadSizes: read_sizes,
    writes.Save: save,
    writes.Fork: fork,
    writes.Claim: claim,
    writes.PutWrites: put_writes,
    writes.Rewrite: rewrite,
    writes.Delete: delete,
    writes.Copy: copy,
    writes.Rename: rename,
    writes.Replace: replace,
    leasing.ReadLease: read_lease,
    leasing.Take: take,
    leasing.GiveBack: give_back,
    leasing.Renew: renew,
    leasing.BreakLease: break_lease,
}

ERASING = (writes.Rewrite, writes.Delete, writes.Replace)
"""Plans after which the log must not hold what they removed."""


def operation(plan: Plan[R]) -> Steps[R]:
    """Give the operation of a plan.

    Raises:
        UsageError: ``plan.unknown``: no backend executes such a plan.
    """
    make = _OPERATIONS.get(type(plan))
    if make is None:
        raise UsageError(
            f"{type(plan).__name__} is not a plan that this backend executes",
            code="plan.unknown",
            hint="Plans are the classes of keepset.plan.reads, .writes and .leasing.",
        )
    return make(plan)
