"""What backends outside this package are tested with: claims that every backend has to keep.

Nothing here imports a test framework. pytest collects the claims once a class of your own, named
``Test...``, inherits from them.
"""

from __future__ import annotations

import sys

if "pytest" in sys.modules:  # so that a failed claim shows what it compared
    sys.modules["pytest"].register_assert_rewrite(f"{__name__}.contract")

from keepset.testing.contract import BackendContract

__all__ = ["BackendContract"]
