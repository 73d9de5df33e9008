"""Verdicts: on a field (does it belong?) and on a run (may this code resume it?)."""
