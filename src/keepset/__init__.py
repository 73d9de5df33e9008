"""keepset: the checkpoint layer for agent and LLM workflows.

It decides what belongs in a checkpoint, proves it, stores only that, and gives it a lifetime.
"""

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from keepset import langgraph as langgraph
    from keepset import testing as testing
else:

    def __getattr__(name: str) -> object:
        """Import a public module when it is first asked for: only some programs need it."""
        if name not in ("langgraph", "testing"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415 - the same

        return import_module(f"{__name__}.{name}")


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
