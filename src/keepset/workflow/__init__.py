"""A plain list of steps with a save after each, for people without a framework."""

from keepset.workflow.workflow import Workflow

__all__ = ["Workflow"]
