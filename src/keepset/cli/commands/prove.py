"""`keepset prove`: would resuming be wrong without this field?"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keepset.cli import output
from keepset.cli.app import FINDINGS
from keepset.cli.aside import printing_aside
from keepset.cli.counts import counted
from keepset.cli.options import REPLACE
from keepset.cli.page import is_page
from keepset.cli.prove.contract import IN_PLACE, module_of, write_contract
from keepset.cli.prove.given import given_by, named
from keepset.cli.prove.junit import is_junit, junit
from keepset.cli.prove.page import page
from keepset.cli.prove.progress import showing
from keepset.cli.prove.report import print_report
from keepset.prove.data import as_data
from keepset.prove.findings import findings
from keepset.prove.pins import PINS
from keepset.providers.files import Wanted, require_all
from keepset.testing.experiments import Recipe
from keepset.testing.proving import AUTO, Options, prover
from keepset.verdict.status import Resume

if TYPE_CHECKING:
    from keepset.prove.proof import Proof
    from keepset.prove.search import Looked

EPILOG = """\b
Examples:
  keepset prove app.flow:build --input ticket.json --output answer
  keepset prove app.flow:build --input app.flow:INPUT --observe app.checks:ledger --crash
  keepset prove app.flow:build --input '{"question": "Why?"}' --field docs --at "after find"
  keepset prove app.flow:build --input app.flow:INPUT --output answer --write-contract

\b
Exit codes:
  0 resuming is right by the declared rules
  40 something is not stored and needed, or a rule goes wrong
  50 it could not be measured
"""


@click.command("prove", epilog=EPILOG)
@click.argument("target", metavar="MODULE:NAME")
@click.option(
    "--input",
    "given",
    metavar="FILE|JSON|MODULE:NAME",
    help="What the run begins with; a list is one input for each turn.",
)
@click.option(
    "--answers", metavar="FILE|JSON|MODULE:NAME", help="What a human answers, in order: a list."
)
@click.option("--world", metavar="MODULE:NAME", help="Makes the world before a trial.")
@click.option("--observe", metavar="MODULE:NAME", help="Tells what happened in the world.")
@click.option("--between", metavar="MODULE:NAME", help="Changes the world before a resume.")
@click.option("--output", "outputs", multiple=True, help="A field that a caller reads at the end.")
@click.option(
    "--pin",
    "pins",
    type=click.Choice([AUTO, *PINS, "none"]),
    multiple=True,
    default=(AUTO,),
    show_default=True,
    help="Hold still what makes two runs differ; auto does where they do.",
)
@click.option("--crash", is_flag=True, help="End each first life with SIGKILL, and its process.")
@click.option("--at", "points", multiple=True, help="Try this point alone, as 'after find'.")
@click.option("--field", "fields", multiple=True, help="Try this field alone.")
@click.option("--jobs", type=click.IntRange(0), default=0, help="At a time.  [default: all cores]")
@click.option(
    "--timeout",
    type=click.FloatRange(0.1),
    default=60.0,
    show_default=True,
    help="Seconds a trial.",
)
@click.option(
    "--most",
    type=click.IntRange(0),
    default=1_000,
    show_default=True,
    help="Trials of single fields above which fields are left out in groups.",
)
@click.option("--dry-run", is_flag=True, help="Say how many runs it would take, and end.")
@click.option("--show-prints", is_flag=True, help="Let the workflow print, on stderr.")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write a page there.")
@click.option(
    "--junit", "xml", type=click.Path(dir_okay=False, path_type=Path), help="Write JUnit XML there."
)
@click.option(
    "--write-contract",
    "contract",
    is_flag=False,
    flag_value=IN_PLACE,
    metavar="[FILE]",
    help="Show what the class should declare, or write it out to a new file.",
)
@click.option("--apply", is_flag=True, help="With --write-contract: change the class's own module.")
@click.option("--replace", is_flag=True, help=REPLACE)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(**given: Any) -> int:
    """Say which fields a checkpoint needs, by resuming without them.

    MODULE:NAME is a ks.Workflow, a LangGraph graph or builder, or a function that makes one. It
    is run once without an end, and then ended at every checkpoint and resumed without each
    field: the final state, the steps, errors, and what --observe tells are compared. Each trial
    has a process, an empty current folder and a store of its own; what your code does elsewhere
    it does again and again, so let it meet a world of its own, made by --world.
    """
    _require_sense(given)
    files = _files(given)
    recipe = Recipe(
        target=given["target"],
        inputs=given_by(given["given"], "--input"),
        answers=given_by(given["answers"], "--answers"),
        world=given["world"],
        observe=given["observe"],
        between=given["between"],
    )
    options = _options(given)
    with printing_aside(), prover(recipe, options) as proving, showing() as progress:
        if given["contract"] == IN_PLACE:
            files["module"] = module_of(proving.experiment.target)
            if given["apply"]:
                require_all(files.values())
        looked = proving.look(progress.told)
        if not given["dry_run"]:
            output.note(_plan(looked, options))
            progress.plan(looked.planned)
            proof = proving.measure(looked, progress.told)
            experiment = proving.experiment
    if given["dry_run"]:
        return _planned(looked, options, as_json=given["as_json"])
    code = _report(proof, given, files)
    if given["contract"] is not None:
        file = files.get("contract")
        place, apply = (file, None) if file else (files["module"], given["apply"])
        write_contract(proof, experiment.target, experiment.script.inputs, place, apply=apply)
    return code


def _require_sense(given: dict[str, Any]) -> None:
    """Refuse options that do not go together before anything is run."""
    if given["apply"] and given["contract"] != IN_PLACE:
        raise click.UsageError("--apply goes with --write-contract that names no file")
    if given["contract"] is None:
        return
    if given["points"] or given["fields"]:
        raise click.UsageError("a contract follows from all points and fields: leave --at, --field")


def _files(given: dict[str, Any]) -> dict[str, Wanted]:
    """Give the files that are asked for, by what they are; none is refused in the end alone.

    Raises:
        UsageError: ``file.there``, ``file.twice`` …
        StoreError: ``file.cannot-write``.
    """
    replaces, contract = given["replace"], given["contract"]
    if contract is not None and contract != IN_PLACE:
        contract = Wanted(Path(contract), replaces=replaces)
    files = {
        "html": given["html"] and Wanted(given["html"], replaces=replaces, is_ours=is_page),
        "junit": given["xml"] and Wanted(given["xml"], replaces=replaces, is_ours=is_junit),
        "contract": contract,
    }
    wanted = {name: file for name, file in files.items() if isinstance(file, Wanted)}
    require_all(wanted.values())
    return wanted


def _options(given: dict[str, Any]) -> Options:
    return Options(
        outputs=given["outputs"],
        pins=() if "none" in given["pins"] else given["pins"],
        crash=given["crash"],
        jobs=given["jobs"],
        timeout=given["timeout"],
        most=given["most"],
        quiet=not given["show_prints"],
        fields=given["fields"],
        points=given["points"],
    )


def _plan(looked: Looked, options: Options) -> str:
    points, fields = len(looked.points), len(looked.tries.fields)
    if not looked.can_be_proven:
        return "there is nothing that could be tried"
    how = ", fields in groups" if looked.is_grouped else ""
    crash = ", each with a SIGKILL" if options.crash else ""
    return (
        f"{counted(points, 'point')} x {counted(fields, 'field')}: "
        f"about {counted(looked.planned, 'run')}{how}{crash}"
    )


def _planned(looked: Looked, options: Options, *, as_json: bool) -> int:
    if as_json:
        plan = {
            "points": list(looked.points),
            "fields": looked.tries.fields,
            "runs": looked.planned if looked.can_be_proven else looked.tries.resumes,
            "grouped": looked.is_grouped,
        }
        output.result("prove", {"plan": plan})
    else:
        output.text(_plan(looked, options))
    return 0


def _report(proof: Proof, given: dict[str, Any], files: dict[str, Wanted]) -> int:
    again = _again(given)
    if html := files.get("html"):
        way = "another process, after SIGKILL" if given["crash"] else "one process"
        html.write(page(proof, again, [("resumes in", way)]))
    if xml := files.get("junit"):
        xml.write(junit(proof))
    if given["as_json"]:
        output.result("prove", as_data(proof))
    else:
        print_report(proof, again)
    if not proof.is_conclusive:
        return Resume.UNKNOWN
    return FINDINGS if any(f.severity == "error" for f in findings(proof)) else 0


def _again(given: dict[str, Any]) -> str:
    """Write the command line anew, without what is printed and where."""
    words = ["keepset", "prove", given["target"]]
    single = {"given": "--input", "answers": "", "world": "", "observe": "", "between": ""}
    for name, option in single.items():
        if given[name] is not None:
            words += [option or f"--{name}", named(given[name], option or f"--{name}")]
    for name, option in {"outputs": "--output", "points": "--at", "fields": "--field"}.items():
        for value in given[name]:
            words += [option, value]
    for name in ("timeout", "most"):
        if given[name] != getattr(Options(), name):
            words += [f"--{name}", f"{given[name]:g}"]
    for pin in given["pins"]:
        words += [] if pin == AUTO else ["--pin", pin]
    return shlex.join([*words, *(["--crash"] if given["crash"] else [])])
