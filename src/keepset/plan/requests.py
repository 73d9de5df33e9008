"""What a store can be asked: every read and every write, as a value.

A `Plan[R]` is executed by a backend in one transaction and gives an `R`. A write lands whole or
not at all. A backend raises, and changes nothing, where a plan's expectation does not hold:

* `ConflictError` ``conflict.deleted``: the incarnation that the writer loaded has ended;
* `ConflictError` ``conflict.token``: a newer writer has claimed the run;
* `ConflictError` ``conflict.head``: the line has a newer checkpoint than the writer loaded, or
  one where the writer found none, or the line is no longer there;
* `ConflictError` ``conflict.duplicate``: an unpacked step of the line has the checkpoint's id;
* `ConflictError` ``conflict.epoch``: a higher epoch has written to the run;
* `NotFoundError` ``run.not-found`` / ``checkpoint.not-found``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from keepset.plan.rows import (
    BlobRow,
    ContractRow,
    LineRow,
    Past,
    RunKey,
    RunRow,
    RunSummary,
    SegmentRow,
    StepRow,
    WriteRow,
)

R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")


class Plan(Generic[R_co]):
    """Something that a backend does in one transaction."""

    __slots__ = ()


class Read(Plan[R_co]):
    """A plan that changes nothing; it sees one consistent state of the store."""

    __slots__ = ()


class Write(Plan[R_co]):
    """A plan that changes the store, whole or not at all."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A user's callable to run outside any transaction: a loader, a factory, a probe.

    A coroutine function is awaited by an asynchronous driver and refused by a synchronous one.
    """

    function: Callable[..., Any]
    arguments: tuple[object, ...] = ()


Request: TypeAlias = "Plan[Any] | Call[Any]"
Flow: TypeAlias = Generator[Request, Any, T]
"""An operation written once: it yields requests, receives their results, and returns a `T`."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a writer knew of a run when it loaded it, before it has claimed it.

    Attributes:
        incarnation: The incarnation that was there; None where there was no run.
        deletions: How many deletions of the run id the store had recorded.
    """

    incarnation: bytes | None
    deletions: int


@dataclass(frozen=True, slots=True)
class Hold:
    """A writer's claim on a run: its row number, incarnation and fencing token."""

    run: int
    incarnation: bytes
    token: int


# --- reads ------------------------------------------------------------------------------------


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
class Headers:
    """The headers of one line's steps: unpacked ones as rows, packed ones as `HEADER` segments."""

    line: LineRow
    steps: tuple[StepRow, ...]
    segments: tuple[SegmentRow, ...]


@dataclass(frozen=True, slots=True)
class ReadHeaders(Read[tuple[RunRow, tuple[Headers, ...]]]):
    """Read all headers of a run, in the order of its lines; step rows come without changes."""

    key: RunKey
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class ListRuns(Read[tuple[RunSummary, ...]]):
    """List a tenant's runs in order of run id, after `after` (exclusive)."""

    tenant: str
    status: str | None = None
    contract: str | None = None
    subject: bytes | None = None
    after: str = ""
    limit: int = 100


@dataclass(frozen=True, slots=True)
class ReadBlobs(Read[tuple[BlobRow, ...]]):
    """Read large values of a run by digest; a missing one is an IntegrityError ``blob.missing``."""

    run: int
    digests: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ReadWrites(Read[tuple[WriteRow, ...]]):
    """Read the pending writes of one checkpoint, ordered by (path, task, index)."""

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


# --- writes -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save gives back: the claim to present next time, and the line."""

    hold: Hold
    line: LineRow


@dataclass(frozen=True, slots=True)
class Save(Write[Saved]):
    """Save one checkpoint.

    Attributes:
        key: The run.
        mark: Keyed hash of its tombstone.
        claim: The claim that the writer has, or what it saw where it has none yet: then the run
            is created, or claimed with a token one higher.
        incarnation: Id for the new incarnation, where the run is created.
        contract: The writer's contract.
        subject: Keyed hash of the person whose data the run holds, or None.
        line: The line to append to; None for the root line of `namespace`, which is created.
        namespace: Namespace of a line to be created.
        head: Seq of the newest checkpoint on the line itself that the writer knows; 0 for none,
            as on a fresh fork.
        step: The step; its seq is above `head`.
        segments: Segments to add. All unpacked steps up to `packed` are then taken out.
        packed: Seq of the last step that the segments hold; 0 for none.
        blobs: Large values; one that is already there is left as it is.
    """

    key: RunKey
    mark: bytes
    claim: Hold | Seen
    incarnation: bytes
    contract: ContractRow
    subject: bytes | None
    line: int | None
    namespace: str
    head: int
    step: StepRow
    segments: tuple[SegmentRow, ...] = ()
    packed: int = 0
    blobs: tuple[BlobRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Fork(Write[LineRow]):
    """Begin a new line in the namespace of `parent` whose past ends at `seq`.

    Where `seq` lies in the past of `parent`, the line that holds it becomes the parent.
    The depth of the new line is one more than its parent's; above `deepest` it is 0 and the first
    save on it must hold every field whole.
    """

    hold: Hold
    parent: int
    seq: int
    deepest: int = 4


@dataclass(frozen=True, slots=True)
class Claim(Write[Hold]):
    """Claim a run that exists, without saving: the token rises by one."""

    key: RunKey
    mark: bytes
    seen: Seen
    epoch: int


@dataclass(frozen=True, slots=True)
class PutWrites(Write[None]):
    """Store pending writes for a checkpoint of the line; it may have successors already."""

    hold: Hold
    line: int
    seq: int
    writes: tuple[WriteRow, ...]
    blobs: tuple[BlobRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewritten:
    """One line after a rewrite.

    Attributes:
        line: The line as it is from now on (its parent may be gone and its depth 0); its id,
            namespace and branch stay.
        seqs: Every checkpoint that stays; pending writes of any other go.
        steps: All unpacked steps; the newest checkpoint is always one of them.
        segments: All segments, those of headers included.
    """

    line: LineRow
    seqs: tuple[int, ...]
    steps: tuple[StepRow, ...]
    segments: tuple[SegmentRow, ...]


@dataclass(frozen=True, slots=True)
class Rewrite(Write[Hold]):
    """Replace all rows of a run by what is given, and let go of everything else that it held.

    The token rises by one, since what other writers remember of the run no longer holds. What
    was let go is in no page, free page or log of the store after it returns; where a reader keeps
    the log, it raises `StoreError` ``store.busy-readers`` though the rows are rewritten.

    Attributes:
        key: The run.
        mark: Keyed hash of its tombstone.
        seen: The incarnation that was read.
        heads: For each line that was read, its id and newest seq; another head is a
            ``conflict.head``.
        lines: What the lines hold from now on; a line that is not here goes.
        blobs: Digests of the large values that stay.
    """

    key: RunKey
    mark: bytes
    seen: Seen
    heads: tuple[tuple[int, int], ...]
    lines: tuple[Rewritten, ...]
    blobs: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Delete(Write[bool]):
    """End a run's incarnation and remove its rows and bytes; False where there was no run.

    A tombstone with `mark` is written either way a run was there, so that a late writer is
    refused. After it returns, no page, free page or log of the store holds the run's bytes; where
    a reader keeps the log, it raises `StoreError` ``store.busy-readers`` though the rows are gone.
    The same plan once more then cleans the log, and gives False.
    """

    key: RunKey
    mark: bytes
    at: int
