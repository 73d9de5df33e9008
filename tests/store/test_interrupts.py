"""A process that a user interrupts again and again keeps a store that is whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import keepset as ks
from tests.store.interrupted import Note

PROGRAM = Path(__file__).with_name("interrupted.py")


def test_a_program_that_is_interrupted_at_any_moment_goes_on_saving(tmp_path: Path) -> None:
    """Thirty Ctrl-C at random moments; nothing that was acknowledged is lost, and all is whole."""
    url = f"sqlite:///{tmp_path}/runs.db"
    command = [sys.executable, "-W", "ignore", str(PROGRAM), url]
    pipe = subprocess.PIPE
    chance = random.Random()  # noqa: S311 - any moment will do
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as child:
        assert child.stdout is not None
        for _ in range(30):
            for _ in range(chance.randint(1, 6)):
                child.stdout.readline()
            child.send_signal(signal.SIGINT)
            assert any("interrupted" in line for line in child.stdout), "or two would be one"
        said, wrong = child.communicate("end\n", timeout=60)
    word, problems, interrupts = said.split()[-3:]
    assert (child.returncode, wrong, word, problems) == (0, "", "ended", "0")
    assert int(interrupts) > 10
    with ks.open(url, timeout=1) as store:
        run = store.run(Note, "run")
        state = run.state
        assert len(state["lines"]) == state["number"] == len(run.history())
        run.save("write", state)


GOING = """
import signal
import sys
import keepset as ks
from tests.store.interrupted import Note

dropped = []
sys.unraisablehook = lambda told: dropped.append(repr(told.object))
signal.signal(signal.SIGALRM, signal.default_int_handler)
felt = 0
with ks.open("memory:") as store:
    for number in range(200):
        run = store.run(Note, "run")
        run.save("write", {"number": number, "lines": []})
        try:
            signal.setitimer(signal.ITIMER_REAL, (1 + number % 40) * 1e-6)
            del run
            while not dropped:
                pass
        except KeyboardInterrupt:
            felt += 1
print(felt, dropped)
"""


def test_no_interrupt_is_lost_that_comes_while_a_run_goes_away() -> None:
    """Python drops what is raised in a function that the collector calls; its lock stays taken."""
    child = subprocess.run(
        [sys.executable, "-c", GOING],
        cwd=PROGRAM.parents[2],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(PROGRAM.parents[2]), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (child.stdout, child.stderr) == ("200 []\n", "")
