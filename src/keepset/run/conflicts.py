"""Why a run may not go on: what it has loaded is no longer what is there."""

from __future__ import annotations

from keepset.errors import ConflictError


def moved_on(run_id: str) -> ConflictError:
    """Make the error for a run whose newest checkpoint is no longer the one that was loaded."""
    return ConflictError(
        f"run {run_id} has moved on since it was loaded",
        code="conflict.head",
        hint="Another writer was first: load the run again and go on from there.",
    )


def deleted(run_id: str) -> ConflictError:
    """Make the error for a run that is there no more, or in another life."""
    return ConflictError(
        f"run {run_id} has been deleted since it was loaded",
        code="conflict.deleted",
        hint="What it held must not come back: load the run again to start a new one.",
    )
