"""Whether a run was written anew while it was read, so that what is missing is no damage."""

from __future__ import annotations

from keepset.errors import IntegrityError
from keepset.plan.reads import FindRun, Found
from keepset.plan.requests import Flow
from keepset.plan.rows import RunKey, RunRow


def went_meanwhile(error: IntegrityError, key: RunKey, mark: bytes, seen: RunRow) -> Flow[bool]:
    """Tell whether a large value is missing because its run was pruned or deleted meanwhile.

    Large values are read after the rows that refer to them, in requests of their own.

    Args:
        error: What a reader was told.
        key: The run.
        mark: The keyed hash that its tombstone would have.
        seen: Its row as it was read with those that refer to the value.
    """
    if error.code != "blob.missing":
        return False
    found: Found = yield FindRun(key, mark)
    now = found.run
    return now is None or (now.incarnation, now.layout) != (seen.incarnation, seen.layout)
