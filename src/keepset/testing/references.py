"""Import a user's object by ``MODULE:NAME``."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from importlib.machinery import PathFinder
from pathlib import Path

from keepset.errors import UsageError


def load(reference: str) -> object:
    """Import the object that ``MODULE:NAME`` names; the current folder is looked in first.

    Args:
        reference: A dotted module, a colon, and a name in it that may have dots itself.

    Raises:
        UsageError: ``reference.syntax`` where there is no colon or a file in place of the module,
            ``reference.import`` where the module cannot be imported or ends the program (with the
            cause's type and place), ``reference.name`` where it has no such name.
    """
    module_name, colon, name = reference.partition(":")
    if not (module_name and colon and name):
        raise _syntax(reference, "Write for example app.state:Ticket.")
    if module_name.endswith(".py") or os.sep in module_name:
        module = module_name.removesuffix(".py").strip("./").replace(os.sep, ".")
        raise _syntax(reference, f"Name the module, not its file: {module}:{name}")
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
        except Exception as cause:  # a module may have a __getattr__ of its own
            what = f"{name} of {module_name} cannot be read"
            raise _failed(what, module_name, cause) from cause
    return value


def reference_of(named: object) -> str | None:
    """Give the name by which another process can import an object; None where there is none.

    Args:
        named: A function of a module's top level, or a name, which is given back.
    """
    if isinstance(named, str):
        return named
    module, name = getattr(named, "__module__", None), getattr(named, "__qualname__", None)
    if not module or not name or module == "__main__" or "<" in name:
        return None
    found: object = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}:{name}" if found is named and _is_on_the_path(module) else None


def _is_on_the_path(module: str) -> bool:
    """Say whether a fresh process would find a module, whatever this one has imported."""
    names = module.split(".")
    path: list[str] | None = None
    for end in range(1, len(names) + 1):
        spec = PathFinder.find_spec(".".join(names[:end]), path)
        if spec is None:
            return False
        path = list(spec.submodule_search_locations or ())
    return True


def _module(name: str) -> object:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as cause:  # `sys.exit()` in a module is no end of this program
        raise _failed(f"{name} cannot be imported", name, cause) from cause


def _failed(what: str, module: str, cause: BaseException) -> UsageError:
    """Say by type and place why something failed; the words of the error may hold a value."""
    hint = f"Try it alone: python -c 'import {module}'"
    why = f"{type(cause).__name__} at {_place(cause)}"
    if isinstance(cause, SystemExit):
        hint = "Importing it ends the program: put that under `if __name__ == '__main__'`."
    if isinstance(cause, ImportError) and cause.name:
        why = f"{why}: {_missing(cause)} {cause.name}"
        if isinstance(cause, ModuleNotFoundError) and _is_or_holds(cause.name, module):
            why = f"there is no module {cause.name}"
            hint = "Go to the folder that it lies in, or add that folder to PYTHONPATH."
    return UsageError(f"{what}: {why}", code="reference.import", hint=hint)


def _missing(cause: ImportError) -> str:
    return "no module" if isinstance(cause, ModuleNotFoundError) else "something is missing in"


def _is_or_holds(package: str, module: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _place(cause: BaseException) -> str:
    """Say where an import failed: the last line outside the import machinery."""
    if isinstance(cause, SyntaxError) and cause.filename:
        return f"{cause.filename}:{cause.lineno}"
    frames = [
        frame
        for frame in traceback.extract_tb(cause.__traceback__)
        if not frame.filename.startswith("<frozen") and frame.filename != importlib.__file__
    ]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if len(frames) > 1 else "its own name"


def _syntax(reference: str, hint: str) -> UsageError:
    return UsageError(f"{reference!r} is not MODULE:NAME", code="reference.syntax", hint=hint)
