"""Runs of a host that names its checkpoints and their parents itself.

A run that a user holds (`keepset.run.core`) has one line and one user at a time. A host has many:
it writes to several namespaces at once, from any thread or event loop, says of each checkpoint
which one it follows, and begins anew or in the past when it likes. What is remembered of a line is
a value that nobody changes, kept under the id of the line's newest checkpoint: two writers may use
it at a time, and the store lets one of them land.
"""

from keepset.run.hosted.known import HostStep, Known, Stored, Surface
from keepset.run.hosted.reading import HostReader, Spot
from keepset.run.hosted.tracing import Trace, trace
from keepset.run.hosted.writing import HostWriter

__all__ = [
    "HostReader",
    "HostStep",
    "HostWriter",
    "Known",
    "Spot",
    "Stored",
    "Surface",
    "Trace",
    "trace",
]
