"""Prove: would resuming be wrong without a field? Measured, by resuming without it."""
