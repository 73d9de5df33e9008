"""What is stored, as values: the rows that plans carry down to a backend and back up.

Every row is immutable and holds bytes that the codec made; a backend never looks inside them.
Times are integers, milliseconds since 1970-01-01 UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from keepset.plan.leases import Lease

HEADER = ""
"""The field name under which packed step headers lie; no state can have a field of this name."""


class RunKey(NamedTuple):
    """What names a run: the tenant that owns it and the id that the host gave it."""

    tenant: str
    run_id: str


@dataclass(frozen=True, slots=True)
class ContractRow:
    """A contract as it was when a run was written.

    Attributes:
        name: The contract's name.
        epoch: Its version number; 0 where it is unversioned.
        shape: Digest of the structure, hexadecimal.
        structure: The structure itself as JSON, so that two shapes can be compared by name.
    """

    name: str
    epoch: int
    shape: str
    structure: str


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run as stored.

    Attributes:
        id: The backend's own number of the run.
        key: Tenant and run id.
        incarnation: Random id of this life of the run id.
        contract: The contract of the last writer.
        token: Fencing token; rises by one with every new writer.
        layout: Rises by one when the run's rows are written anew, with less.
        created: When the incarnation began.
        lease: Who works on it; None where nobody does.
    """

    id: int
    key: RunKey
    incarnation: bytes
    contract: ContractRow
    token: int
    layout: int
    created: int
    lease: Lease | None = None


@dataclass(frozen=True, slots=True)
class LineRow:
    """One branch of a run's history in one namespace.

    Attributes:
        id: The backend's own number of the line.
        namespace: The host's namespace; empty for the run itself.
        branch: 0 for the root line, then 1, 2, … in the order of forking.
        parent: Line that it was forked from, or None.
        parent_seq: Last seq of the parent that belongs to this line's past; its own first step
            has the seq after it. 0 for a root line, whose first step has seq 1.
        depth: How many lines a reader goes through for this line's state; 0 where its first step
            holds every field whole.
    """

    id: int
    namespace: str
    branch: int
    parent: int | None
    parent_seq: int
    depth: int


class StepRow(NamedTuple):
    """One step that is not packed yet.

    Attributes:
        seq: Position on the line, rising; gaps are what pruning took.
        checkpoint: The checkpoint's id (UUIDv7 or the host's own).
        parent: The id of the checkpoint before it, empty for the first.
        name: Name of the step that made it.
        status: One of `keepset.verdict.Status`.
        at: When it was saved.
        metadata: Packed mapping of the host's metadata; empty bytes for none.
        changes: Packed mapping of field to difference; empty bytes for none.
        digest: Digest over all of the above.
    """

    seq: int
    checkpoint: str
    parent: str
    name: str
    status: str
    at: int
    metadata: bytes
    changes: bytes
    digest: bytes


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """The differences of one field over some steps, in one compressed frame.

    Attributes:
        field: The field, or `HEADER` for the steps' own headers.
        first: Seq of the first step in it.
        last: Seq of the last step in it.
        base: Seq of the step whose whole value the first difference stands on; equals `first`
            where the first difference is a whole value.
        start: First seq of the segment of the field with which a reader has to begin: later ones
            may repeat bytes of it and of those between. Equals `first` where this one stands alone.
        data: The frame.
        digest: Digest over all of the above.
    """

    field: str
    first: int
    last: int
    base: int
    start: int
    data: bytes
    digest: bytes


BUNDLE = -(1 << 31)
"""The position of a row that holds pending writes of several checkpoints; no other row has it."""


@dataclass(frozen=True, slots=True)
class WriteRow:
    """One pending write: what a task wrote after a checkpoint and before the next.

    Attributes:
        task: Id of the task.
        path: The task's path, by which writes are ordered first.
        index: Position within the task; negative for a host's special channels.
        channel: Name of the channel.
        value: The packed value, or a packed reference to a large value.
        digest: Digest over all of the others but `replace`.
        status: Where the run stands since this was written, one of `keepset.verdict.Status`; empty
            where the write says nothing of it.
        replace: Whether a row of the same task and index is replaced (else it stays as it is).
    """

    task: str
    path: str
    index: int
    channel: str
    value: bytes
    digest: bytes = b""
    status: str = ""
    replace: bool = False


@dataclass(frozen=True, slots=True)
class BlobRow:
    """A large value that is stored once per run.

    Attributes:
        digest: SHA-256 of the packed value.
        size: Bytes of the packed value.
        data: The packed value, compressed.
    """

    digest: bytes
    size: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Past:
    """The stored rows of one line from which its state at a position is rebuilt.

    Attributes:
        line: The line.
        steps: Unpacked steps up to the position, in order of seq.
        segments: Of each field except `HEADER`, the segments that its chain up to the position
            needs, in order of (field, first).
    """

    line: LineRow
    steps: tuple[StepRow, ...]
    segments: tuple[SegmentRow, ...]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run in a listing.

    Attributes:
        run: The run's row.
        status: Status of the newest checkpoint of the line that a resume goes on with: the last
            branch of the root namespace; empty where there is none or it is damaged.
        checkpoint: Id of that checkpoint.
        step: Name of the step that made it.
        checkpoints: How many checkpoints all lines hold.
        updated: When that checkpoint was saved.
    """

    run: RunRow
    status: str
    checkpoint: str
    step: str
    checkpoints: int
    updated: int
