"""Every write that a store can be asked for, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass

from keepset.plan.bundled import Bundle
from keepset.plan.leases import Leasing
from keepset.plan.requests import Fence, Seen, Write
from keepset.plan.rows import (
    BlobRow,
    ContractRow,
    LineRow,
    RunKey,
    SegmentRow,
    StepRow,
    WriteRow,
)


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save gives back: the claim to present next time, and the line."""

    fence: Fence
    line: LineRow


@dataclass(frozen=True, slots=True)
class Begin:
    """Where a line begins that is created beside those that its namespace has.

    Attributes:
        parent: The line that it is forked from, which holds the fork point itself; None for one
            more root line.
        seq: Seq of the fork point; 0 for a root line.
        depth: See `LineRow.depth`; 0 where the first step holds every field whole.
    """

    parent: int | None = None
    seq: int = 0
    depth: int = 0


@dataclass(slots=True)
class Save(Write[Saved]):
    """Save one checkpoint.

    Nobody changes it, like any plan; that it is not frozen spares every save a part of its time.

    Attributes:
        key: The run.
        mark: Keyed hash of its tombstone.
        claim: The claim that the writer has, or what it saw where it has none yet: then the run
            is created, or claimed with a token one higher.
        incarnation: Id for the new incarnation, where the run is created.
        contract: The writer's contract.
        subject: Keyed hash of the person whose data the run holds, or None.
        line: The line to append to; None for one that is created: the first root line of
            `namespace`, or the one that `begin` describes.
        known: The row of `line` where the writer has it; a backend then need not read it again.
        namespace: Namespace of a line to be created.
        head: Seq of the newest checkpoint on the line itself that the writer knows; 0 for none,
            as on a fresh fork.
        step: The step; its seq is above `head`.
        segments: Segments to add; one takes the place of a segment of the line with its field and
            first seq. All unpacked steps up to `packed` are taken out.
        packed: Seq of the last step that the segments hold; 0 for none.
        blobs: Large values; one that is already there is left as it is.
        begin: Where the line begins that is created beside others.
        bundle: Pending writes of the line that are to lie in one row.
        leasing: What the writer wants of the run's lease; None where it has what it needs, or
            works without one.
    """

    key: RunKey
    mark: bytes
    claim: Fence | Seen
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
    known: LineRow | None = None
    begin: Begin | None = None
    bundle: Bundle | None = None
    leasing: Leasing | None = None


DEEPEST = 4
"""Forks of forks down to this depth stand on the lines before them; the next stands alone."""


@dataclass(frozen=True, slots=True)
class Fork(Write[LineRow]):
    """Begin a new line in the namespace of `parent` whose past ends at `seq`.

    Where `seq` lies in the past of `parent`, the line that holds it becomes the parent.
    The depth of the new line is one more than its parent's; above `deepest` it is 0 and the first
    save on it must hold every field whole.
    """

    fence: Fence
    parent: int
    seq: int
    deepest: int = DEEPEST


@dataclass(frozen=True, slots=True)
class Claim(Write[Fence]):
    """Claim a run that exists, without saving: the token rises by one.

    With `leasing`, a run that another execution works on is refused.
    """

    key: RunKey
    mark: bytes
    seen: Seen
    epoch: int
    leasing: Leasing | None = None


@dataclass(frozen=True, slots=True)
class PutWrites(Write[None]):
    """Store pending writes for a checkpoint of the line; it may have successors already."""

    fence: Fence
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
class Rewrite(Write[None]):
    """Replace all rows of a run by what is given, and let go of everything else that it held.

    The run's writer keeps its claim; the layout rises by one, so that it loads its line again. What
    was let go is in no page, free page or log of the store after it returns; where a reader keeps
    the log, it raises `StoreError` ``store.busy-readers`` though the rows are rewritten.

    Attributes:
        key: The run.
        mark: Keyed hash of its tombstone.
        seen: The incarnation that was read.
        heads: For each line that was read, its id and newest seq; another head is a
            ``conflict.head``.
        written: Digests of all pending writes that were read, in order of the digests; others are a
            ``conflict.head``, since what they refer to would be lost.
        restored: The pending writes of bundles, which all go, and those that lie in later steps,
            with line and seq.
        lines: What the lines hold from now on; a line that is not here goes.
        stay: Digests of the large values that stay.
        blobs: Large values to add; one that is already there is left as it is.
    """

    key: RunKey
    mark: bytes
    seen: Seen
    heads: tuple[tuple[int, int], ...]
    lines: tuple[Rewritten, ...]
    stay: tuple[bytes, ...]
    blobs: tuple[BlobRow, ...] = ()
    written: tuple[bytes, ...] = ()
    restored: tuple[tuple[int, int, WriteRow], ...] = ()


@dataclass(frozen=True, slots=True)
class Delete(Write[bool]):
    """End a run's incarnation and remove its rows and bytes; False where there was no run.

    Where there was one, a tombstone with `mark` counts the deletion, so that a writer who loaded
    the run before is refused. After it returns, no page, free page or log of the store holds the
    run's bytes; where a reader keeps the log, it raises `StoreError` ``store.busy-readers`` though
    the rows are gone.
    The same plan once more then cleans the log, and gives False.
    """

    key: RunKey
    mark: bytes
    at: int


@dataclass(frozen=True, slots=True)
class Copy(Write[None]):
    """Copy a whole run, with its lines, checkpoints, pending writes and people, to another id.

    A source that is not there is a `NotFoundError` ``run.not-found``, a target that is there a
    `ConflictError` ``conflict.exists``. The copy is a run of its own: nothing is shared.

    Attributes:
        source: The run to copy.
        target: What the copy is called; a run that was deleted under this name stays deleted.
        incarnation: Id for the copy's incarnation.
        at: When it begins.
        mark: Keyed hash of the target's tombstone, where a name under which a run was deleted
            refuses the copy (``conflict.deleted``); None where it takes one.
    """

    source: RunKey
    target: RunKey
    incarnation: bytes
    at: int
    mark: bytes | None = None


@dataclass(frozen=True, slots=True)
class Rename(Write[None]):
    """Give a run another id, with all that it holds; under the old one there is nothing after it.

    A run that is not there is a `NotFoundError` ``run.not-found``, a target that is there a
    `ConflictError` ``conflict.exists``, one that was deleted a ``conflict.deleted``.

    Attributes:
        source: The run.
        target: What it is called from now on.
        incarnation: Id for its new incarnation: who has written under the old id is refused.
        mark: Keyed hash of the target's tombstone.
    """

    source: RunKey
    target: RunKey
    incarnation: bytes
    mark: bytes


@dataclass(frozen=True, slots=True)
class Replace(Write[None]):
    """Put a run in place of another one, whose rows and bytes go, as with `Rewrite`.

    Who has written to the run that goes is refused from then on. One that is leased, or has other
    checkpoints or pending writes than were read, stays: a `ConflictError` ``run.leased`` or
    ``conflict.head``.

    Attributes:
        source: The run that takes the place.
        target: The run that goes.
        incarnation: Id for the new incarnation.
        mark: Keyed hash of the target's tombstone.
        seen: The incarnation of the target that was read.
        heads: For each line of it that was read, its id and newest seq.
        written: Digests of all its pending writes that were read, in order of the digests.
    """

    source: RunKey
    target: RunKey
    incarnation: bytes
    mark: bytes
    seen: Seen
    heads: tuple[tuple[int, int], ...]
    written: tuple[bytes, ...]
