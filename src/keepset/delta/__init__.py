"""Differences: what changed of a field from one step to the next, exactly and in few bytes."""

from __future__ import annotations

from keepset.delta.apply import MISSING, Missing, apply, blob_refs, stands_alone
from keepset.delta.change import ABSENT, LARGE, Change, whole
from keepset.delta.diff import diff
from keepset.delta.frozen import Frozen, extends, freeze
from keepset.delta.rolled import Rolled, appended, roll

__all__ = [
    "ABSENT",
    "LARGE",
    "MISSING",
    "Change",
    "Frozen",
    "Missing",
    "Rolled",
    "appended",
    "apply",
    "blob_refs",
    "diff",
    "extends",
    "freeze",
    "roll",
    "stands_alone",
    "whole",
]
