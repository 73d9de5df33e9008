"""`keepset audit`: what is in this store that does not belong, and what does it cost?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from keepset.audit.data import as_data
from keepset.audit.deep import Deep
from keepset.audit.detectors import detectors
from keepset.audit.ours.opener import OurOpener, is_ours
from keepset.audit.personal import Personal
from keepset.audit.report import audited, weighed
from keepset.audit.resuming import Keeping
from keepset.audit.sampling import GIGABYTE, Plan
from keepset.audit.surveying import Around, survey
from keepset.cli import output, program
from keepset.cli.app import FINDINGS
from keepset.cli.audit.amounts import AMOUNT, SAMPLE
from keepset.cli.audit.contract import write_contract
from keepset.cli.audit.page import page
from keepset.cli.audit.report import print_report
from keepset.cli.bar import Shown, showing
from keepset.cli.options import REPLACE
from keepset.cli.page import is_page
from keepset.errors import UsageError
from keepset.providers.files import Wanted, require_all
from keepset.readers import Columns, recognise, table_opener
from keepset.readers.sources import shown
from keepset.verdict.status import Resume

if TYPE_CHECKING:
    from keepset.audit.eyes import Eye
    from keepset.audit.report import Audit
    from keepset.audit.survey import Survey
    from keepset.audit.tally import Tally
    from keepset.readers.ports import Opener, Reader

EPILOG = """\b
Examples:
  keepset audit checkpoints.sqlite
  keepset audit runs.db --all
  keepset audit checkpoints.sqlite --html audit.html --write-contract state.py
  keepset audit postgresql://replica/agents --sample 5%
  keepset audit checkpoints.sqlite --deep --pii
  keepset audit checkpoints.sqlite --limit-time 600 --resume audit.part
  keepset audit app.db --table history --run chat_id --step id --value messages

\b
Exit codes:
  0 clean: all was read, and nothing has to be done
  40 there is something that does not belong
  50 something could not be read, or a sample was read and nothing was found in it
"""

_COLUMNS: Final = ("table", "run", "step", "value")


@click.command("audit", epilog=EPILOG)
@click.argument("place", metavar="FILE|URL")
@click.option("--table", metavar="NAME", help="Read this table; the next three say how.")
@click.option("--run", metavar="COLUMN", help="The column that says of which run a row is.")
@click.option("--step", metavar="COLUMN", help="The column that orders the rows of a run.")
@click.option("--value", metavar="COLUMN", help="The column with JSON, text or bytes.")
@click.option("--tenant", help="Of a store of keepset's own: read the runs of this tenant alone.")
@click.option("--sample", type=SAMPLE, metavar="N|P%", help="Read so many runs, by chance.")
@click.option(
    "--all-below",
    type=AMOUNT,
    default="1GB",
    show_default=True,
    help="Read a store of up to so many bytes whole, and a sample of a larger one.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another one: another sample.")
@click.option(
    "--limit-time", type=click.FloatRange(0), metavar="SECONDS", help="Stop after so long."
)
@click.option(
    "--resume",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Keep what is counted there, and go on from it after an interrupt.",
)
@click.option(
    "--deep",
    is_flag=True,
    help="Look for secrets of hundreds more kinds, offline; needs keepset[deep].",
)
@click.option("--pii", is_flag=True, help="Look for personal data as well; needs keepset[audit].")
@click.option(
    "--measure/--no-measure",
    default=True,
    show_default=True,
    help="Write a few runs to a temporary store, to say what they would take in keepset.",
)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write a page there.")
@click.option(
    "--write-contract",
    "contract",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the contract that it would recommend to a new file.",
)
@click.option("--replace", is_flag=True, help=REPLACE)
@click.option(
    "--all", "every", is_flag=True, help="Show every place and field, not the worst only."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(place: str, *, as_json: bool, **given: Any) -> int:
    """Say what is in a store that does not belong there, and what it costs.

    The store is that of another tool or of keepset, or a file of JSON; it is only read, and nothing
    in it is run. It is told by its content which tool wrote it.
    """
    files = _files(given)
    plan = Plan(
        all_below=given["all_below"],
        runs=given["sample"].runs if given["sample"] else None,
        share=given["sample"].share if given["sample"] else None,
        seconds=given["limit_time"],
        seed=given["seed"],
    )
    eyes = _eyes(given)
    with _opener(place, given).open(place) as reader, showing("reading") as progress:
        around = Around(told=partial(_told, progress), eyes=eyes)
        found = _surveyed(reader, place, plan, around, given)
        audit = audited(found)
        if given["measure"] and not found.is_ours:
            audit = weighed(audit, reader)
    _report(audit, _again(place, given), files, every=given["every"], as_json=as_json)
    if audit.has_findings and audit.is_readable:
        return FINDINGS
    return 0 if audit.is_complete else Resume.UNKNOWN


def _told(bar: Shown, tally: Tally, planned: int) -> None:
    bar.expects(planned)
    bar.told(tally.read, sum(tally.value_bytes.values()))


def _files(given: dict[str, Any]) -> dict[str, Wanted]:
    """Give the files that are asked for, by what they are; none is refused in the end alone.

    Raises:
        UsageError: ``file.there``, ``file.twice`` …
        StoreError: ``file.cannot-write``.
    """
    replaces = given["replace"]
    files = {
        "html": given["html"] and Wanted(given["html"], replaces=replaces, is_ours=is_page),
        "contract": given["contract"] and Wanted(given["contract"], replaces=replaces),
    }
    wanted = {name: file for name, file in files.items() if file is not None}
    kept = given["resume"] and Wanted(given["resume"], replaces=True)  # its content is looked at
    require_all([*wanted.values(), *([kept] if kept else [])])
    return wanted


def _eyes(given: dict[str, Any]) -> list[Eye]:
    """Make those eyes ready that were asked for; one that is not installed is told at once."""
    made: list[Eye] = []
    if given["deep"]:
        made.append(Deep())
    if given["pii"]:
        made.append(Personal())
    return made


def _surveyed(
    reader: Reader, place: str, plan: Plan, around: Around, given: dict[str, Any]
) -> Survey:
    """Read the store, and keep what is counted where a file is named for that."""
    if given["resume"] is None:
        return survey(reader, shown(place), detectors(), plan, around)
    names = tuple(eye.name for eye in around.eyes)
    chosen = [f"--{name} {given[name]}" for name in (*_COLUMNS, "tenant") if given[name]]
    what = " ".join([shown(place), *chosen])
    keeping = Keeping(given["resume"], what, plan, around.clock.elapsed, names)
    around = replace(around, kept=keeping.keep, before=keeping.before())
    try:
        found = survey(reader, shown(place), detectors(), plan, around)
    except KeyboardInterrupt:
        if given["resume"].exists():
            output.note(f"{given['resume']}: what was counted is kept; the same command goes on")
        raise
    keeping.end(found.tally, is_done=found.is_done)
    return found


def _opener(place: str, given: dict[str, Any]) -> Opener:
    """Recognise a store, or take the table that was named.

    Raises:
        UsageError: ``audit.columns`` where only some of the four were named; ``audit.tenant``.
    """
    columns = [given[name] for name in _COLUMNS]
    if not any(columns) and is_ours(place):
        return OurOpener(given["tenant"])
    if given["tenant"] is not None:
        raise UsageError(
            f"{shown(place)} is no store of keepset's own: it has no tenants",
            code="audit.tenant",
            hint="Leave --tenant out.",
        )
    if not any(columns):
        return recognise(place)
    if not all(columns):
        missing = ", ".join(
            f"--{name}" for name, column in zip(_COLUMNS, columns, strict=True) if not column
        )
        raise UsageError(
            f"a table is read by four names, and these are missing: {missing}",
            code="audit.columns",
            hint="Write --table T --run COLUMN --step COLUMN --value COLUMN.",
        )
    return table_opener(Columns(*columns))


def _report(
    audit: Audit, again: list[str], files: dict[str, Wanted], *, every: bool, as_json: bool
) -> None:
    if html := files.get("html"):
        html.write(page(audit, again))
        output.note(f"{html.path}: written")
    if contract := files.get("contract"):
        write_contract(audit, contract)
    if as_json:
        output.result("audit", as_data(audit))
    else:
        options = {"html": "--html", "contract": "--write-contract"}
        done = {options[name]: file.path for name, file in files.items()}
        print_report(audit, again, done, every=every)


def _again(place: str, given: dict[str, Any]) -> list[str]:
    """Give the words of the command line anew, without a password and without where it prints."""
    words = [*program.words(), "audit", shown(place)]
    for name in (*_COLUMNS, "tenant"):
        words += [f"--{name}", given[name]] if given[name] else []
    words += [f"--{name}" for name in ("deep", "pii") if given[name]]
    if given["sample"]:
        words += ["--sample", str(given["sample"])]
    words += ["--seed", str(given["seed"])] if given["seed"] else []
    words += ["--all-below", str(given["all_below"])] if given["all_below"] != GIGABYTE else []
    words += [] if given["measure"] else ["--no-measure"]
    return words
