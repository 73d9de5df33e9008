"""From a line to the one that it was forked from."""

from __future__ import annotations

from collections.abc import Mapping

from keepset.errors import IntegrityError
from keepset.plan.rows import LineRow


def parent_of(line: LineRow, lines: Mapping[int, LineRow]) -> LineRow | None:
    """Give the line that another was forked from; None for a root line.

    Whoever goes from line to line ends: each is older than the one before it.

    Args:
        line: The line.
        lines: All lines of the run, or of the line's namespace, by number.

    Raises:
        IntegrityError: ``store.line-missing``: it is not there; ``integrity.history``: it is not
            older.
    """
    if line.parent is None:
        return None
    parent = lines.get(line.parent)
    if parent is None:
        raise IntegrityError(
            f"line {line.parent}, from which another was forked, is not there",
            code="store.line-missing",
            hint="The run cannot be trusted: restore it from a backup.",
        )
    if parent.namespace != line.namespace or parent.branch >= line.branch:
        raise IntegrityError(
            f"line {line.branch} was forked from a line that is not older",
            code="integrity.history",
            hint="The run cannot be trusted: restore it from a backup.",
        )
    return parent
