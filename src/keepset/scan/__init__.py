"""Detectors for what does not belong in a checkpoint. Pure: values in, findings out."""

from keepset.scan.finding import Finding, Path
from keepset.scan.known import KnownValues
from keepset.scan.masking import substitutes
from keepset.scan.reasons import REASONS, SECRET_KINDS, oversize
from keepset.scan.scanner import Scanner

__all__ = [
    "REASONS",
    "SECRET_KINDS",
    "Finding",
    "KnownValues",
    "Path",
    "Scanner",
    "oversize",
    "substitutes",
]
