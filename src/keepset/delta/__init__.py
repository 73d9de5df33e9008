"""Differences: what changed of a field from one step to the next, exactly and in few bytes."""

from __future__ import annotations

from keepset.delta.apply import (
    IN_PLACE,
    MISSING,
    Missing,
    apply,
    apply_all,
    blob_refs,
    stands_alone,
)
from keepset.delta.change import ABSENT, LARGE, Change, whole
from keepset.delta.diff import diff
from keepset.delta.flat import Flat, flatten
from keepset.delta.frozen import Frozen, Kind, extends, freeze
from keepset.delta.growth import only_adds
from keepset.delta.hashed import FEW, Hashed, hashed
from keepset.delta.joined import begins_alone, brought_in, joined
from keepset.delta.rolled import CHUNK, Rolled, appended, roll

__all__ = [
    "ABSENT",
    "CHUNK",
    "FEW",
    "IN_PLACE",
    "LARGE",
    "MISSING",
    "Change",
    "Flat",
    "Frozen",
    "Hashed",
    "Kind",
    "Missing",
    "Rolled",
    "appended",
    "apply",
    "apply_all",
    "begins_alone",
    "blob_refs",
    "brought_in",
    "diff",
    "extends",
    "flatten",
    "freeze",
    "hashed",
    "joined",
    "only_adds",
    "roll",
    "stands_alone",
    "whole",
]
