"""Look at a stored checkpoint without the code of the workflow, personal fields masked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from keepset.cli.render import MASKED, render
from keepset.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import keepset as ks
    from keepset.run.inspection import Inspection


def find_checkpoint(run: Inspection, named: str | None) -> ks.Checkpoint:
    """Find a checkpoint by the number of its step or by its id; the newest one without a name.

    Raises:
        NotFoundError: ``checkpoint.not-found``.
    """
    history = run.history()
    for checkpoint in history:
        if named in (None, str(checkpoint.seq), checkpoint.id):
            return checkpoint
    raise NotFoundError(
        f"there is no step {named}",
        code="checkpoint.not-found",
        hint=f"It has the steps {', '.join(str(c.seq) for c in reversed(history))}.",
    )


def personal_fields(structure: str, names: Collection[str]) -> set[str]:
    """Say which fields of a stored checkpoint are personal.

    Args:
        structure: The structure of the contract that wrote it, as JSON.
        names: The fields that the checkpoint has. One that the structure does not speak of
            counts as personal.
    """
    fields: Mapping[str, Any] = json.loads(structure).get("fields", {}) if structure else {}
    open_ones = {name for name, entry in fields.items() if not _is_personal(entry)}
    return set(names) - open_ones


def _is_personal(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return True
    rule = entry.get("rule", {})
    return bool(rule.get("personal")) if isinstance(rule, dict) else True


def rendered(values: Mapping[str, object], masked: Collection[str]) -> dict[str, Any]:
    """Render the values of a checkpoint; those of `masked` fields are not looked at."""
    return {name: MASKED if name in masked else render(value) for name, value in values.items()}
