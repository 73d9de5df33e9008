"""The example is run as a stranger runs it, in processes of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "examples" / "langgraph_agent.py"


def test_the_example_kills_a_process_in_the_middle_and_pays_once(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLE)]
    done = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path, text=True)
    assert done.returncode == 0, done.stderr
    assert [line.strip() for line in done.stdout.splitlines()] == [
        "1. An agent works until it has to pay.",
        "the human is asked: Pay 120 to ACME?",
        "2. A new process gets the human's answer.",
        "the bank pays",
        "kill -9",
        "3. Another one goes on where it stopped.",
        "it stopped before: pay",
        "the bank has paid this already",
        "the agent says: Invoice 17 is paid.",
        "4. What came of it:",
        "payments: 120 to ACME",
        "the bank's key is in the store: no",
    ]
    assert list(tmp_path.iterdir()) == []
