"""Import a user's object by ``MODULE:NAME``."""

from __future__ import annotations

import importlib
import sys
import traceback
from pathlib import Path

from keepset.errors import UsageError


def load(reference: str) -> object:
    """Import the object that ``MODULE:NAME`` names; the current folder is looked in first.

    Args:
        reference: A dotted module, a colon, and a name in it that may have dots itself.

    Raises:
        UsageError: ``reference.syntax`` where there is no colon, ``reference.import`` where the
            module cannot be imported (with the cause's type and place), ``reference.name`` where
            it has no such name.
    """
    module_name, colon, name = reference.partition(":")
    if not (module_name and colon and name):
        raise UsageError(
            f"{reference!r} is not MODULE:NAME",
            code="reference.syntax",
            hint="Write for example app.state:Ticket.",
        )
    value: object = _module(module_name)
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            raise UsageError(
                f"{module_name} has no {name}",
                code="reference.name",
                hint="Look for the name at the top level of the module.",
            ) from None
    return value


def _module(name: str) -> object:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except Exception as cause:
        raise UsageError(
            f"{name} cannot be imported: {type(cause).__name__} at {_place(cause)}",
            code="reference.import",
            hint=f"Try it alone: python -c 'import {name}'",
        ) from cause


def _place(cause: Exception) -> str:
    """Say where an import failed: the last line outside the import machinery."""
    if isinstance(cause, SyntaxError) and cause.filename:
        return f"{cause.filename}:{cause.lineno}"
    frames = [
        frame
        for frame in traceback.extract_tb(cause.__traceback__)
        if not frame.filename.startswith("<frozen") and frame.filename != importlib.__file__
    ]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if len(frames) > 1 else "its own name"
