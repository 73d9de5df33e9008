"""What users test with: how a workflow resumes, and the claims that every backend has to keep.

`assert_resumes` and `prove` measure which fields of a workflow's state a checkpoint needs;
`keepset.testing.plugin` makes tests of it. pytest collects the claims of `BackendContract` once a
class of your own, named ``Test...``, inherits from them. Nothing but the plugin imports a test
framework.
"""

from __future__ import annotations

import sys

if "pytest" in sys.modules:  # so that a failed claim shows what it compared
    sys.modules["pytest"].register_assert_rewrite(f"{__name__}.contract")

from keepset.testing.asserting import assert_resumes
from keepset.testing.contract import BackendContract
from keepset.testing.proving import Options, prove

__all__ = ["BackendContract", "Options", "assert_resumes", "prove"]
