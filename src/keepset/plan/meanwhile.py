"""Whether a run was written anew while it was read, so that what is missing is no damage."""

from __future__ import annotations

from keepset.errors import IntegrityError, NotFoundError
from keepset.plan.reads import FindRun, Found
from keepset.plan.requests import Flow
from keepset.plan.rows import RunKey, RunRow

_GONE = frozenset({"blob.missing", "checkpoint.not-found", "run.not-found"})


def went_meanwhile(
    error: IntegrityError | NotFoundError, key: RunKey, mark: bytes, seen: RunRow
) -> Flow[bool]:
    """Tell whether something is missing because its run was pruned or deleted meanwhile.

    Large values are read after the rows that refer to them, in requests of their own, and so are
    the later checkpoints in which some pending writes lie.

    Args:
        error: What a reader was told.
        key: The run.
        mark: The keyed hash that its tombstone would have.
        seen: Its row as it was read with those that refer to what is missing, or before them.
    """
    if error.code not in _GONE:
        return False
    found: Found = yield FindRun(key, mark)
    now = found.run
    return now is None or (now.incarnation, now.layout) != (seen.incarnation, seen.layout)
