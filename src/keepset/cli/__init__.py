"""The command line: the one place that reads arguments, the environment and the terminal."""

from keepset.cli.app import main

__all__ = ["main"]
