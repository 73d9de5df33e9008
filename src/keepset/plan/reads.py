"""Every read that a store can be asked for, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from keepset.plan.requests import Read
from keepset.plan.rows import (
    BlobRow,
    LineRow,
    Past,
    RunKey,
    RunRow,
    RunSummary,
    SegmentRow,
    StepRow,
    WriteRow,
)

ASIDE: Final = "langgraph#taken-over/"
"""What the ids of runs begin with that hold another one only while it is taken over."""


@dataclass(frozen=True, slots=True)
class Found:
    """What there is of a run.

    Attributes:
        run: The run's row, or None.
        deletions: How many deletions of the run id are recorded.
        lines: All lines of the run, ordered by (namespace, branch).
    """

    run: RunRow | None
    deletions: int
    lines: tuple[LineRow, ...]


@dataclass(frozen=True, slots=True)
class FindRun(Read[Found]):
    """Find a run and its lines. `mark` is the keyed hash that its tombstone would have."""

    key: RunKey
    mark: bytes


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a state is rebuilt from.

    Attributes:
        found: The run, its lines.
        line: The line that was asked for, also where the position lies in its past; None where
            the run or the namespace has no line.
        seq: The position; on a fork without steps of its own that of the fork point; 0 where
            there is no checkpoint.
        header: The step's own row without its changes; None where it is packed or where there is
            no checkpoint.
        pasts: The line first, then the lines it was forked from: to the line that holds the
            position, and from there as far as its `LineRow.depth` says; each up to the position
            that belongs to the past. A line that the position lies before has no rows here.
        headers: The `HEADER` segment that holds the step's header, where that is packed. A backend
            cannot tell whether a seq between two packed steps is one of them.
    """

    found: Found
    line: LineRow | None
    seq: int
    header: StepRow | None
    pasts: tuple[Past, ...]
    headers: SegmentRow | None = None


@dataclass(frozen=True, slots=True)
class Load(Read[Loaded]):
    """Load what the state at one checkpoint is rebuilt from.

    Attributes:
        key: The run.
        mark: Keyed hash of its tombstone.
        namespace: Which namespace.
        branch: Which branch; None for the newest line of the namespace (the highest branch).
        seq: The position on that branch; None for its newest checkpoint. A seq that has no step
            of its own on the branch (because it lies in its past) is looked up in the lines that
            it was forked from. A branch or seq that is asked for and not there is a
            `NotFoundError`.
    """

    key: RunKey
    mark: bytes
    namespace: str = ""
    branch: int | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Sought:
    """Where a checkpoint may lie.

    Attributes:
        found: The run and all of its lines; the deletions are not counted.
        step: The checkpoint's own step, whole, with the number of its line, where it is not
            packed.
        packed: Otherwise, for each line of the namespace that has packed steps, its number and the
            seq of the last one.
    """

    found: Found
    step: tuple[int, StepRow] | None
    packed: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Seek(Read[Sought]):
    """Look for a checkpoint of a namespace by its id: among the steps that are not packed."""

    key: RunKey
    namespace: str
    checkpoint: str


@dataclass(frozen=True, slots=True)
class ReadHeaderSegments(Read[tuple[SegmentRow, ...]]):
    """Read the `HEADER` segments that some positions lie in.

    Attributes:
        line: The line.
        seqs: The positions, rising. For each the newest segment that begins there or before is
            given; one segment once, in order of its first seq.
    """

    line: int
    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HeaderPage:
    """The newest headers of a line, up to a position.

    Attributes:
        steps: Unpacked steps, whole, the newest first.
        segments: `HEADER` segments, the newest first; the newest may reach beyond the position.
            There are none where the steps are as many as were asked for.
    """

    steps: tuple[StepRow, ...]
    segments: tuple[SegmentRow, ...]


@dataclass(frozen=True, slots=True)
class ReadHeaderPage(Read[HeaderPage]):
    """Read the newest headers of one line up to a position.

    Attributes:
        line: The line.
        until: The position; headers after it do not count. None for the newest.
        steps: How many unpacked steps are wanted at the most; 0 for segments alone.
        segments: How many segments are wanted at the most, if there are not so many steps.
    """

    line: int
    until: int | None
    steps: int
    segments: int


@dataclass(frozen=True, slots=True)
class ListRuns(Read[tuple[RunSummary, ...]]):
    """List a tenant's runs in order of run id, after `after` (exclusive).

    `aside` says whether those are given as well whose id begins with `ASIDE`.
    """

    tenant: str
    status: str | None = None
    contract: str | None = None
    subject: bytes | None = None
    after: str = ""
    limit: int = 100
    aside: bool = True


@dataclass(frozen=True, slots=True)
class ReadBlobs(Read[tuple[BlobRow, ...]]):
    """Read large values of a run by digest; a missing one is an IntegrityError ``blob.missing``."""

    run: int
    digests: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ReadWrites(Read[tuple[WriteRow, ...]]):
    """Read the pending writes of one checkpoint, ordered by (path, task, index).

    The first bundle at the checkpoint or after it on the line is given as well, if there is one.
    """

    line: int
    seq: int


@dataclass(frozen=True, slots=True)
class ReadStanding(Read[str]):
    """Read where a run stands since a checkpoint: what its newest write says that says so.

    Empty where none does, and the checkpoint's own status is what counts.
    """

    line: int
    seq: int


@dataclass(frozen=True, slots=True)
class Everything:
    """All that is stored of one run.

    Attributes:
        run: The run's row.
        lines: For every line all of its steps and all of its segments, headers included.
        writes: For every line, pairs of seq and write.
        blobs: Digests of its large values.
    """

    run: RunRow
    lines: tuple[Past, ...]
    writes: tuple[tuple[int, int, WriteRow], ...]
    blobs: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ReadEverything(Read[Everything]):
    """Read all that is stored of one run, to verify or to rewrite it."""

    key: RunKey


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a store, or one run in it, takes.

    Attributes:
        runs: Number of runs.
        checkpoints: Number of checkpoints.
        bytes_by_field: Stored bytes of each field in segments, and of ``steps`` (not packed yet),
            ``writes`` and ``blobs``, largest first.
        file_bytes: Bytes of the database and its companion files on disk.
        free_bytes: Bytes of pages that hold nothing.
    """

    runs: int
    checkpoints: int
    bytes_by_field: tuple[tuple[str, int], ...]
    file_bytes: int
    free_bytes: int


@dataclass(frozen=True, slots=True)
class ReadSizes(Read[Sizes]):
    """Measure a tenant's part of the store."""

    tenant: str
