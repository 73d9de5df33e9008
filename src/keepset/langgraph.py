"""keepset for LangGraph: ``pip install "keepset[langgraph]"``."""

from typing import Final

from keepset.errors import UsageError

_NEEDED: Final = frozenset({"langchain_core", "langgraph", "xxhash"})
"""What the extra brings."""


class NotInstalledError(UsageError, ImportError):
    """The extra is missing; whoever expects an `ImportError` where a package is, finds one."""


try:
    from keepset.adapters.langgraph.compiling import (
        compile_graph as compile,  # noqa: A004 - so that `keepset.langgraph.compile` reads as one line
    )
    from keepset.adapters.langgraph.saver import KeepsetSaver
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in _NEEDED:
        raise
    said = UsageError(
        f"keepset.langgraph needs {error.name}, which is not installed",
        code="langgraph.not-installed",
        hint='Install it: pip install "keepset[langgraph]".',
    )
    raise NotInstalledError(said.message, code=said.code, hint=said.hint) from error

__all__ = ["KeepsetSaver", "compile"]
