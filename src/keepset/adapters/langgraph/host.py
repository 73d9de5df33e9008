"""Classes that older releases of LangGraph do not have: there, nothing is an instance of one."""

from __future__ import annotations

from typing import Any, Final

from langgraph import channels, types


class _Absent:
    """Stands for a class that the installed release lacks."""


Overwrite: Final[Any] = getattr(types, "Overwrite", _Absent)
DeltaChannel: Final[Any] = getattr(channels, "DeltaChannel", _Absent)
