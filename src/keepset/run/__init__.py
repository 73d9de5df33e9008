"""Runs: what a user saves to, resumes from and looks into."""

from keepset.run.checkpoint import Checkpoint, View
from keepset.run.inspection import AsyncInspection, Inspection
from keepset.run.pending import PendingWrite
from keepset.run.run import AsyncRun, Run

__all__ = ["AsyncInspection", "AsyncRun", "Checkpoint", "Inspection", "PendingWrite", "Run", "View"]
