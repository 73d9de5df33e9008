"""Contracts: what a state is, and what becomes of each of its fields."""

from __future__ import annotations

from keepset.contracts.check import check
from keepset.contracts.compare import Difference, Differences, compare
from keepset.contracts.contract import Contract, contract, contract_of
from keepset.contracts.fields import Field
from keepset.contracts.order import restore_order
from keepset.contracts.problems import Problem
from keepset.contracts.rules import (
    MISSING,
    Drop,
    Extract,
    Keep,
    Refetch,
    Reopen,
    Rule,
    Scratch,
    Secret,
)
from keepset.contracts.serialisable import serialisable

__all__ = [
    "MISSING",
    "Contract",
    "Difference",
    "Differences",
    "Drop",
    "Extract",
    "Field",
    "Keep",
    "Problem",
    "Refetch",
    "Reopen",
    "Rule",
    "Scratch",
    "Secret",
    "check",
    "compare",
    "contract",
    "contract_of",
    "restore_order",
    "serialisable",
]
