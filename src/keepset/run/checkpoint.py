"""What a user sees of a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from keepset.codec import Codec
from keepset.plan.headers import unpack_metadata
from keepset.plan.rows import LineRow, StepRow


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One stored step.

    Attributes:
        id: Its id, unique within the run.
        seq: Its position on its line.
        step: Name of the step that made it.
        status: One of `keepset.verdict.Status`.
        at: When it was saved, milliseconds since 1970-01-01 UTC.
        parent: Id of the checkpoint before it, empty for the first.
        branch: Branch of its line: 0 for the root line, then 1, 2, … in the order of forking.
        metadata: What the host said of it.
    """

    id: str
    seq: int
    step: str
    status: str
    at: int
    parent: str
    branch: int
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class View:
    """A checkpoint with its stored values; nothing was loaded, opened or resolved to make it."""

    checkpoint: Checkpoint
    values: Mapping[str, Any]


def as_checkpoint(row: StepRow, line: LineRow, codec: Codec) -> Checkpoint:
    """Turn a step's row into what a user sees."""
    return Checkpoint(
        id=row.checkpoint,
        seq=row.seq,
        step=row.name,
        status=row.status,
        at=row.at,
        parent=row.parent,
        branch=line.branch,
        metadata=unpack_metadata(row, codec),
    )


def id_of(checkpoint: str | Checkpoint) -> str:
    """Give the id of a checkpoint that is named by itself or by its id."""
    return checkpoint.id if isinstance(checkpoint, Checkpoint) else checkpoint
