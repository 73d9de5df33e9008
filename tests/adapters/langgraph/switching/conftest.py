"""Where a team's threads lie, and where they go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.langgraph.switching.teams import OLD, old_saver


@pytest.fixture
def url(tmp_path: Path) -> str:
    tmp_path.chmod(0o700)
    return f"sqlite:///{tmp_path}/runs.db"


@pytest.fixture(params=OLD)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    with old_saver(request.param, tmp_path) as saver:
        yield saver
