"""What backends outside this package are tested with: claims that every backend has to keep.

Nothing here imports a test framework. The classes are collected by pytest once a class of your
own, named ``Test...``, inherits from them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keepset.testing.contract import BackendContract

__all__ = ["BackendContract"]


def __getattr__(name: str) -> Any:
    """Load a contract when it is first asked for, so that its assertions explain themselves."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    pytest = sys.modules.get("pytest")
    if pytest is not None:
        pytest.register_assert_rewrite(f"{__name__}.contract")
    return getattr(import_module(f"{__name__}.contract"), name)
