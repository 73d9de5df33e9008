"""What the claims share: how a store is opened, how a run is written, what a refusal is."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from keepset.backends import Backend
from keepset.errors import KeepsetError
from keepset.plan.reads import FindRun, Load, Loaded
from keepset.plan.requests import Fence, Seen
from keepset.plan.rows import (
    HEADER,
    BlobRow,
    ContractRow,
    LineRow,
    RunKey,
    SegmentRow,
    StepRow,
)
from keepset.plan.writes import Fork, Save, Saved

CONTRACT = ContractRow("ticket", 1, "0a", '{"fields":{}}')
TENANT = "tenant"


class Claims(ABC):
    """The base of all claims.

    Attributes:
        lasting: Whether a store opened again on the same folder holds what it held.
    """

    lasting: ClassVar[bool] = True

    @abstractmethod
    def open(self, folder: Path) -> Backend:
        """Open the store that lies in a folder; make it where there is none."""

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Backend]:
        """Open the store and close it at the end of the block."""
        backend = self.open(folder)
        try:
            yield backend
        finally:
            backend.close()


@contextmanager
def refused(kind: type[KeepsetError], code: str) -> Iterator[None]:
    """Expect one error of our tree, by class and code."""
    caught: KeepsetError | None = None
    try:
        yield
    except KeepsetError as error:
        caught = error
    assert caught is not None, f"nothing was refused, where {code} was expected"
    assert (type(caught), caught.code) == (kind, code), caught


def mark(key: RunKey) -> bytes:
    """Stand for the keyed hash that a run's tombstone would have."""
    return hashlib.sha256("\0".join(key).encode("utf-8", "surrogatepass")).digest()[:16]


def step(seq: int, *, status: str = "running", changes: bytes = b"", at: int = 0) -> StepRow:
    """Make a step whose columns all differ."""
    parent = f"checkpoint-{seq - 1}" if seq > 1 else ""
    name, meta, digest = f"name-{seq}", b"meta-%d" % seq, b"digest-%d" % seq
    body = changes or b"changes-%d" % seq
    return StepRow(
        seq, f"checkpoint-{seq}", parent, name, status, at or 1000 + seq, meta, body, digest
    )


def segment(name: str, first: int, last: int, base: int | None = None) -> SegmentRow:
    """Make a segment; without a base it stands on its own."""
    data, digest = f"{name}:{first}-{last}".encode(), b"digest-%d" % first
    return SegmentRow(name, first, last, first if base is None else base, first, data, digest)


def headers(first: int, last: int) -> SegmentRow:
    """Make a segment of headers."""
    return segment(HEADER, first, last)


def blob(data: bytes) -> BlobRow:
    """Make a large value that is not large."""
    return BlobRow(hashlib.sha256(data).digest(), len(data), data)


@dataclass
class Scribe:
    """A writer of one line, which remembers what a real one would.

    Attributes:
        backend: Where it writes.
        run_id: The run.
        tenant: Whose run it is.
        namespace: The namespace of the line.
        contract: The contract that it writes under.
        subject: Keyed hash of the run's subject.
        claim: Its claim, or what it has seen.
        line: The line, once there is one.
        head: The newest checkpoint on the line that it knows.
        seq: The seq of its last checkpoint, on the line or in its past.
    """

    backend: Backend
    run_id: str = "run"
    tenant: str = TENANT
    namespace: str = ""
    contract: ContractRow = CONTRACT
    subject: bytes | None = None
    claim: Fence | Seen = field(default_factory=lambda: Seen(None, 0))
    line: LineRow | None = None
    head: int = 0
    seq: int = 0

    @property
    def key(self) -> RunKey:
        """The run's key."""
        return RunKey(self.tenant, self.run_id)

    @property
    def fence(self) -> Fence:
        """The claim, once there is one."""
        assert isinstance(self.claim, Fence)
        return self.claim

    @property
    def line_id(self) -> int:
        """The number of the line, once there is one."""
        assert self.line is not None
        return self.line.id

    def look(self) -> Scribe:
        """See what there is of the run, as one who resumes it does."""
        loaded = self.load()
        run = loaded.found.run
        self.claim = Seen(None, loaded.found.deletions)
        if run:
            self.claim = Seen(run.incarnation, loaded.found.deletions, run.layout)
        self.line, self.seq = loaded.line, loaded.seq
        fresh = self.line is None or self.seq <= self.line.parent_seq
        self.head = 0 if fresh else self.seq
        return self

    def plan(self, row: StepRow | None = None) -> Save:
        """Make the plan of the next save; only a part of it is then changed by a test."""
        return Save(
            key=self.key,
            mark=mark(self.key),
            claim=self.claim,
            incarnation=b"incarnation-of-%s" % self.run_id.encode(),
            contract=self.contract,
            subject=self.subject,
            line=self.line.id if self.line else None,
            namespace=self.namespace,
            head=self.head,
            step=row or step(self.seq + 1),
            known=self.line,
        )

    def save(self, row: StepRow | None = None, **parts: object) -> Saved:
        """Save one checkpoint and remember what a writer does."""
        plan = replace(self.plan(row), **parts)  # type: ignore[arg-type] # fields of Save by name
        saved = self.backend.execute(plan)
        self.claim, self.line = saved.fence, saved.line
        self.head = self.seq = plan.step.seq
        return saved

    def save_many(self, count: int) -> Scribe:
        """Save some checkpoints one after the other."""
        for _ in range(count):
            self.save()
        return self

    def pack(self, *segments: SegmentRow) -> Saved:
        """Save a checkpoint that packs all before it."""
        return self.save(segments=segments, packed=self.head)

    def fork(self, seq: int, deepest: int = 4) -> Scribe:
        """Begin a new line and give a writer of it, which has this one's claim."""
        line = self.backend.execute(Fork(self.fence, self.line_id, seq, deepest))
        return replace(self, line=line, head=0, seq=seq)

    def find(self) -> FindRun:
        """Make the plan that finds the run."""
        return FindRun(self.key, mark(self.key))

    def load(self, *, branch: int | None = None, seq: int | None = None) -> Loaded:
        """Load a position of the run."""
        return self.backend.execute(
            Load(self.key, mark(self.key), self.namespace, branch=branch, seq=seq)
        )
