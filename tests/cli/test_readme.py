"""The README promises nothing that does not happen."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.cli.terminal import ROOT, start

if TYPE_CHECKING:
    from pathlib import Path

README = (ROOT / "README.md").read_text("utf-8")
SIZE = re.compile(r"\d+(\.\d+)? [KMGT]?B\b")
"""Sizes depend on the Python release, whose documents the demo reads."""


def _example(folder: Path) -> Path:
    [code] = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    path = folder / "app.py"
    path.write_text(code, "utf-8")
    return path


def test_the_code_example_runs_twice_and_what_it_stored_can_be_looked_at(tmp_path: Path) -> None:
    path = _example(tmp_path)
    for _ in range(2):
        subprocess.run([sys.executable, path], cwd=tmp_path, check=True, timeout=60)
    lines = re.findall(r"^    keepset (.+)$", README, re.MULTILINE)
    assert len(lines) > 2
    for line in lines:
        said = start(*shlex.split(line), folder=tmp_path)
        assert said.code == 0, said.err
    shown = start("show", "ticket-42", "--store", "runs.db", "--json", folder=tmp_path)
    fields = shown.result("show")["fields"]
    assert fields["doc_ids"] == ["reset"]
    assert fields["charged"] is True
    assert "docs" not in fields


def test_the_table_is_the_one_that_the_demo_prints(tmp_path: Path) -> None:
    found = start("demo", "--json", "--clean", folder=tmp_path).result("demo")
    printed = [
        (f["field"], "yes" if f["keep"] else "no", SIZE.sub("#", f["why"]), f["evidence"])
        for f in found["fields"]
    ]
    rows = [tuple(cell.strip() for cell in row.split("|")[1:-1]) for row in README.splitlines()]
    table = [
        (row[0], row[1], SIZE.sub("#", row[2]), row[3])
        for row in rows
        if len(row) == 4 and row[1] in ("yes", "no")
    ]
    assert table == printed
    assert f"{found['kept']} of {found['of']} belong" in README
