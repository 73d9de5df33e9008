"""`keepset demo`: the worked example, run for real."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from keepset.cli import output
from keepset.cli.demo import experiment, harness, report, steps

EPILOG = """\b
Examples:
  keepset demo
  keepset demo --kill-after read --folder try --clean
  keepset demo --kill-in charge
"""


@click.command("demo", epilog=EPILOG)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("keepset-demo"),
    show_default=True,
    help="Where everything is written; nothing is written outside it.",
)
@click.option(
    "--kill-after",
    type=click.Choice(steps.NAMES),
    help="Kill the process once this step is saved, before the next one.  [default: charge]",
)
@click.option(
    "--kill-in",
    type=click.Choice(steps.NAMES),
    help="Kill it when this step has done its work and is not saved yet.",
)
@click.option(
    "--prove/--no-prove",
    "is_proven",
    default=True,
    help="Prove which fields are needed as well, or leave that out: it takes most of the time.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--keep/--clean", default=True, help="Keep the folder, or remove it at the end.")
def command(  # noqa: PLR0913 - its options
    folder: Path,
    kill_after: str | None,
    kill_in: str | None,
    *,
    is_proven: bool,
    as_json: bool,
    keep: bool,
) -> None:
    """Run the worked example: seven fields, a kill, a resume, the table.

    A workflow answers a question from documents that come with Python, and charges for it. It
    runs twice, once with a saver that stores all it can and once with a contract; each time its
    process is killed with SIGKILL and a new one resumes it. Then it is run many times more, each
    time resumed without one field or more, to prove which fields a checkpoint needs.
    """
    if kill_after and kill_in:
        raise click.UsageError("a process is killed once: give --kill-after or --kill-in")
    point = f"in:{kill_in}" if kill_in else f"after:{kill_after or 'charge'}"
    place = folder.absolute()
    harness.prepare(place)
    try:
        stories = {}
        for way in ("naive", "contract"):
            output.note(f"{way}: running, killing {point.replace(':', ' ')}, resuming …")
            stories[way] = harness.live(place, way, point)
        proof = None
        if is_proven:
            output.note("contract: proving, by resuming without each field …")
            proof = experiment.prove()
        found = report.result(place, stories, proof, point, keep=keep)
    finally:
        if not keep:
            shutil.rmtree(place, ignore_errors=True)
    if as_json:
        output.result("demo", found)
    else:
        report.show(found)
