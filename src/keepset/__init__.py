"""keepset: the checkpoint layer for agent and LLM workflows.

It decides what belongs in a checkpoint, proves it, stores only that, and gives it a lifetime.
"""

from keepset.codec import BlobRef, StoredError, Withheld, decode, encode, register
from keepset.contracts import (
    Contract,
    Drop,
    Extract,
    Keep,
    Refetch,
    Reopen,
    Scratch,
    Secret,
    check,
    contract,
    contract_of,
)
from keepset.run import AsyncRun, Checkpoint, Run, View
from keepset.scan import Finding
from keepset.store import AsyncStore, Store, aopen
from keepset.store import open_store as open  # noqa: A004 - so that `ks.open(url)` reads like `open(path)`
from keepset.verdict.field import FieldVerdict, Verdicts
from keepset.verdict.resume import Reason, ResumeReport
from keepset.verdict.status import Resume, Status
from keepset.workflow import Workflow

__version__ = "0.1.0"

__all__ = [
    "AsyncRun",
    "AsyncStore",
    "BlobRef",
    "Checkpoint",
    "Contract",
    "Drop",
    "Extract",
    "FieldVerdict",
    "Finding",
    "Keep",
    "Reason",
    "Refetch",
    "Reopen",
    "Resume",
    "ResumeReport",
    "Run",
    "Scratch",
    "Secret",
    "Status",
    "Store",
    "StoredError",
    "Verdicts",
    "View",
    "Withheld",
    "Workflow",
    "aopen",
    "check",
    "contract",
    "contract_of",
    "decode",
    "encode",
    "open",
    "register",
]
