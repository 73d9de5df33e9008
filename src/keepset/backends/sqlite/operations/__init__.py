"""Every plan as a generator of statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from keepset.backends.sqlite.operations.claiming import claim
from keepset.backends.sqlite.operations.finding import find_run, load, read_headers
from keepset.backends.sqlite.operations.reading import (
    list_runs,
    read_blobs,
    read_everything,
    read_sizes,
    read_writes,
)
from keepset.backends.sqlite.operations.removing import delete, rewrite
from keepset.backends.sqlite.operations.saving import fork, put_writes, save
from keepset.backends.sqlite.statements import Steps
from keepset.errors import UsageError
from keepset.plan import requests
from keepset.plan.requests import Plan

R = TypeVar("R")

_OPERATIONS: Mapping[type[Plan[Any]], Callable[[Any], Steps[Any]]] = {
    requests.FindRun: find_run,
    requests.Load: load,
    requests.ReadHeaders: read_headers,
    requests.ListRuns: list_runs,
    requests.ReadBlobs: read_blobs,
    requests.ReadWrites: read_writes,
    requests.ReadEverything: read_everything,
    requests.ReadSizes: read_sizes,
    requests.Save: save,
    requests.Fork: fork,
    requests.Claim: claim,
    requests.PutWrites: put_writes,
    requests.Rewrite: rewrite,
    requests.Delete: delete,
}

ERASING = (requests.Rewrite, requests.Delete)
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
            hint="Plans are the classes of keepset.plan.requests.",
        )
    return make(plan)
