"""`keepset bench`: what a save costs on this machine, beside other savers."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keepset.cli import output
from keepset.cli.aside import printing_aside
from keepset.cli.bench import report, verdicts
from keepset.cli.bench.bars import bars
from keepset.cli.bench.cases import PARTS, programme
from keepset.cli.bench.corpus import cases
from keepset.cli.bench.machine import IN_MEMORY, is_busy, machine
from keepset.cli.bench.measure import Measurement
from keepset.cli.bench.verdicts import judge

if TYPE_CHECKING:
    from keepset.cli.bench.cases import Level

EPILOG = """\b
Examples:
  keepset bench --quick
  keepset bench --only lean --only processes --json
  keepset bench verdicts --corpus tests/corpus
"""


@click.command("bench", epilog=EPILOG)
@click.argument("what", required=False, type=click.Choice(["verdicts"]))
@click.option(
    "--corpus",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("tests/corpus"),
    show_default=True,
    help="Of verdicts: where the labelled workflows are.",
)
@click.option(
    "--jobs",
    type=click.IntRange(0),
    default=0,
    help="Of verdicts: trials at a time.  [default: one a core]",
)
@click.option("--quick", "level", flag_value="quick", help="Less of it: about half a minute.")
@click.option("--full", "level", flag_value="full", help="All of it: some ten minutes.")
@click.option(
    "--only",
    "parts",
    type=click.Choice(PARTS),
    multiple=True,
    help="Measure this part alone; may be given again.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True, writable=True),
    default=Path(),
    help="Where files are made and removed: on the disk that you mean.  [default: here]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(*, what: str | None, corpus: Path, jobs: int, as_json: bool, **given: Any) -> None:
    """Measure bytes and time of a save on this machine, beside other savers.

    LangGraph's SqliteSaver and DBOS are measured where they are installed, and a plain INSERT of
    the same bytes always is. Each figure is of this run; what keepset is held to stands beside
    it. A bar that is not met is no error: the exit code is 0.

    With the word verdicts it is measured how right the verdicts on fields are, before a proof and
    after it, on workflows of which the truth is known.
    """
    if what is None:
        _savers(**given, as_json=as_json)
    else:
        _verdicts(corpus, jobs, as_json=as_json)


def _savers(level: Level | None, parts: tuple[str, ...], folder: Path, *, as_json: bool) -> None:
    chosen = level or "default"
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="keepset-bench-", dir=folder.absolute()) as place:
        about = machine(Path(place))
        if about["file_system"] in IN_MEMORY:
            output.note("this folder lies in memory: what waits for a disk costs nothing here")
        if is_busy(about):
            output.note("this machine is busy with other work: times are told, and not judged")
        measurement = Measurement(Path(place), output.note)
        figures = measurement.run(programme(chosen).only(parts))
    held = bars(figures, busy=is_busy(about))
    if as_json:
        seconds = round(time.monotonic() - begun, 1)
        told = {"level": chosen, "parts": list(parts), "seconds": seconds, "machine": about}
        output.result("bench", report.document(figures, held, measurement.skipped, told))
    else:
        report.show(figures, held)


def _verdicts(corpus: Path, jobs: int, *, as_json: bool) -> None:
    with printing_aside():
        found = cases(corpus, jobs)
        judged = judge(found, lambda n, case: output.note(f"{n} of {len(found)}: {case.name}"))
    if as_json:
        output.result("bench", verdicts.document(judged))
    else:
        verdicts.show(verdicts.document(judged))
