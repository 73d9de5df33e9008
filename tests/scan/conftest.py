from __future__ import annotations

import pytest

from keepset.scan import KnownValues, Scanner


@pytest.fixture
def scanner() -> Scanner:
    return Scanner(KnownValues(), ("/scratch",))
