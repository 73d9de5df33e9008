"""The guide runs as it stands, from the top to the bottom, each block after the one before it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).parents[3] / "docs" / "langgraph.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_every_block_of_the_guide_runs(tmp_path: Path) -> None:
    blocks = BLOCK.findall(GUIDE.read_text("utf-8"))
    assert len(blocks) >= 8
    tmp_path.chmod(0o700)
    program = tmp_path / "guide.py"
    program.write_text("\n\n".join([*blocks, 'print("the end")']), "utf-8")
    command = [sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path, text=True)
    assert (done.returncode, done.stdout) == (0, "the end\n"), done.stderr
