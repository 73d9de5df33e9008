"""The demo's workflow as something that can be proven, in a world of its own for each trial."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import keepset as ks
from keepset.cli.demo import index, state, steps
from keepset.cli.demo.gateway import LEDGER, lines
from keepset.prove.proof import Proof
from keepset.testing.experiments import Recipe
from keepset.testing.proving import Options, prover

INPUT = state.asked()
ORDER = "proof"
INDEX = "index.db"


def build() -> ks.Workflow:
    """Make the workflow."""
    return ks.Workflow(state.Research, steps=steps.STEPS)


def world() -> None:
    """Make the index as it is before the kill, and the surroundings of a deployed worker."""
    index.create(Path(INDEX))
    given = {state.FOLDER: str(Path.cwd()), state.ORDER: ORDER}
    os.environ.update(given | {state.API_KEY: "0" * 32})


def between() -> None:
    """Publish new documents, and lose the temporary files, as a restart does."""
    index.publish_late(Path(INDEX))
    folder = Path(tempfile.gettempdir())
    shutil.rmtree(folder)
    folder.mkdir()


def observe() -> dict[str, Any]:
    """Give what the customer was charged, and the answer that was delivered."""
    return {"charges": lines(Path(LEDGER)), "answer": lines(Path(f"{ORDER}.answer.txt"))}


def prove() -> Proof:
    """Prove which fields the workflow needs, with a SIGKILL in each trial.

    Raises:
        StoreError: ``prove.worker`` where a process that carries out trials has died.
    """
    names = {name: f"{__name__}:{name}" for name in ("world", "observe", "between")}
    recipe = Recipe(f"{__name__}:build", (INPUT,), **names)
    with prover(recipe, Options(crash=True)) as found:
        return found.measure(found.look())
