"""Stores for threads over which one graph after another is deployed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.langgraph.graph.deploys import Deploys


@pytest.fixture(params=["sync memory", "sync disk", "async memory", "async disk"])
def deploys(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Deploys]:
    how, where = request.param.split()
    made = Deploys("memory:" if where == "memory" else f"sqlite:///{tmp_path}/runs.db", how)
    yield made
    made.close()


@pytest.fixture
def on_disk(tmp_path: Path) -> Iterator[Deploys]:
    made = Deploys(f"sqlite:///{tmp_path}/runs.db")
    yield made
    made.close()
