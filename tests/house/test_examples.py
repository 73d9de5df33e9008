"""The examples on the pages are run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(block, id=f"{page}-{number}")
    for page in ("docs/stores.md",)
    for number, block in enumerate(BLOCK.findall((ROOT / page).read_text("utf-8")))
]


@pytest.mark.parametrize("source", EXAMPLES)
def test_an_example_on_a_page_runs_as_it_stands(source: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", source],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
