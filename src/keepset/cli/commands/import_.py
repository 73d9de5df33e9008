"""`keepset import`: take the runs of another tool's store over into one of keepset's own."""

from __future__ import annotations

import contextlib
import logging
import shlex
from typing import TYPE_CHECKING, Any, Final

import click

import keepset as ks
from keepset.adapters.landing import sweep
from keepset.adapters.moved import Outcome
from keepset.backends.driver import drive
from keepset.backends.sqlite import is_to_be_made, locate
from keepset.cli import output, program
from keepset.cli.aside import printing_aside
from keepset.cli.bar import showing
from keepset.cli.counts import counted
from keepset.cli.moving.report import Told, as_data, print_report
from keepset.cli.moving.sources import Asked, importing
from keepset.cli.moving.tally import Tally
from keepset.cli.options import path_named
from keepset.readers.sources import shown
from keepset.store.places import SQLITE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from keepset.cli.moving.sources import Make

EPILOG = """\b
Examples:
  keepset import checkpoints.sqlite --into runs.db
  keepset import checkpoints.sqlite --into runs.db --graph app.flow:build --apply
  keepset import postgresql://replica/agents --into runs.db --types app.models:Order
  keepset import sessions.db --into runs.db --runs user-7 --apply

\b
Exit codes:
  0 all runs are there
  40 something was left out, or differs from what is there
  50 something could not be read, or not be verified
"""

_WORDS: Final = {
    Outcome.TAKEN: "taken over",
    Outcome.THERE: "there already",
    Outcome.AHEAD: "there already, and gone on here since",
    Outcome.GROWN: "there already, and gone on where it comes from; left alone",
    Outcome.DIFFERS: "there already and different; left alone",
    Outcome.LEFT: "left out",
    Outcome.UNREAD: "not read or not verified; left out",
}
_WOULD: Final = {**_WORDS, Outcome.TAKEN: "can be taken over"}


@click.command("import", epilog=EPILOG)
@click.argument("place", metavar="FILE|URL")
@click.option("--into", "into", required=True, metavar="STORE", help="The store that they go to.")
@click.option("--tenant", default="default", show_default=True, help="Whose runs they become.")
@click.option(
    "--runs", "only", multiple=True, metavar="RUN", help="Only this run; may be repeated."
)
@click.option("--graph", metavar="MODULE:NAME", help="The graph that wrote them: its rules apply.")
@click.option(
    "--types",
    multiple=True,
    metavar="[NAME=]MODULE:CLASS",
    help="A class that states hold, and the name it is stored under.",
)
@click.option(
    "--moved",
    multiple=True,
    metavar="OLD=MODULE:CLASS",
    help="A class that lay elsewhere when they were written, by the name that it had there.",
)
@click.option(
    "--metadata-keys", multiple=True, metavar="KEY", help="Take this key of the metadata as well."
)
@click.option("--skip-values", "skips", is_flag=True, help="Leave out values, and not their runs.")
@click.option("--again", is_flag=True, help="Take a run anew that has gone on where it comes from.")
@click.option("--apply", "applies", is_flag=True, help="Do it; without, nothing is written.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(place: str, into: str, tenant: str, *, as_json: bool, **given: Any) -> int:
    """Take LangGraph threads, or sessions of OpenAI Agents, over into a store.

    They are read as data: nothing that a store holds is run. Each run is taken over whole, read
    back and compared, or not at all. What is there already is compared, and never overwritten. The
    same command goes on after an interrupt.
    """
    asked = Asked(
        given["graph"],
        given["types"],
        given["moved"],
        given["metadata_keys"],
        given["skips"],
        given["again"],
    )
    target = path_named(into)
    tally = Tally()
    with printing_aside(), _quiet(), importing(place, asked) as make:
        _run(make, target, tenant, tally, given)
    told = Told(
        source=shown(place),
        target=f"{SQLITE}{target}",
        is_applied=given["applies"],
        words=_WORDS if given["applies"] else _WOULD,
        again="" if given["applies"] else shlex.join(_again(place, into, tenant, asked, given)),
    )
    if as_json:
        output.result("import", as_data(tally, told))
    else:
        print_report(tally, told)
    return tally.code()


def _run(make: Make, path: Path, tenant: str, tally: Tally, given: dict[str, Any]) -> None:
    with contextlib.ExitStack() as opened:
        if given["applies"]:
            # A crash may cost the last runs, each of them whole: the same command takes them again
            store = opened.enter_context(ks.open(path, tenant=tenant, durability="normal"))
            drive(sweep(store.services), store.services.backend)
            _move(make, store, store, tally, given["only"])
            return
        target = None
        if not is_to_be_made(locate(path)):  # what would be refused in the end is refused here
            target = opened.enter_context(ks.open(path, tenant=tenant, role="viewer"))
        store = opened.enter_context(ks.open("memory:", tenant=tenant))
        _move(make, store, target, tally, given["only"])


def _move(
    make: Make, store: ks.Store, target: ks.Store | None, tally: Tally, only: tuple[str, ...]
) -> None:
    runs = dict.fromkeys(only)
    with showing("importing", len(runs) or None) as bar:
        importer = make(store, target, lambda size: bar.told(tally.runs, tally.size + size))
        if not runs and output.may_draw():
            bar.expects(sum(1 for _ in importer.runs()))
        try:
            for run in runs or importer.runs():
                tally.add(importer.move(run))
                bar.told(tally.runs, tally.size)
        except KeyboardInterrupt:
            if store is target:  # of a dry run nothing is there
                done = counted(tally.outcomes[Outcome.TAKEN], "run")
                output.note(f"{done} taken over, each whole; the same command goes on")
            raise


def _again(place: str, into: str, tenant: str, asked: Asked, given: dict[str, Any]) -> list[str]:
    """Give the words of the command line that does it, without a password."""
    words = [*program.words(), "import", shown(place), "--into", into]
    words += ["--tenant", tenant] if tenant != "default" else []
    words += ["--graph", asked.graph] if asked.graph else []
    for option, values in (
        ("--runs", given["only"]),
        ("--types", asked.types),
        ("--moved", asked.moved),
        ("--metadata-keys", asked.metadata_keys),
    ):
        for value in values:
            words += [option, value]
    words += ["--skip-values"] if asked.skips else []
    words += ["--again"] if asked.again else []
    return [*words, "--apply"]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep what the detectors log to the report, which counts it."""
    log = logging.getLogger("keepset")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
