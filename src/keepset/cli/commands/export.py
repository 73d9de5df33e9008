"""`keepset export`: take runs out of a store, into LangGraph's own tables or a file of JSON."""

from __future__ import annotations

import importlib
import shlex
from typing import TYPE_CHECKING, Any, Final

import click

from keepset.adapters.jsonl.writing import writing
from keepset.adapters.moved import Outcome
from keepset.cli import output, program
from keepset.cli.aside import printing_aside
from keepset.cli.bar import showing
from keepset.cli.counts import counted
from keepset.cli.moving.named import classes_named, graph_named
from keepset.cli.moving.report import Told, as_data, print_report
from keepset.cli.moving.tally import Tally
from keepset.cli.options import open_store
from keepset.errors import UsageError
from keepset.readers.sources import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import keepset as ks
    from keepset.adapters.moved import Moved

EPILOG = """\b
Examples:
  keepset export runs.db --to sqlite:///checkpoints.sqlite
  keepset export runs.db --to postgresql://localhost/agents --graph app.flow:build --apply
  keepset export runs.db --to runs.jsonl --runs ticket-42 --apply

\b
Exit codes:
  0 all is there
  40 something was left out, or differs from what is there
  50 something could not be read
"""

_PAGE: Final = 500
_LINES: Final = (".jsonl", ".ndjson")
_WORDS: Final = {
    Outcome.TAKEN: "exported",
    Outcome.THERE: "there already",
    Outcome.AHEAD: "there already, and gone on there since",
    Outcome.GROWN: "there already, and gone on here since; left alone",
    Outcome.DIFFERS: "there already and different; left alone",
    Outcome.LEFT: "left out",
    Outcome.UNREAD: "not readable",
}
_WOULD: Final = {**_WORDS, Outcome.TAKEN: "can be exported"}


@click.command("export", epilog=EPILOG)
@click.argument("store_url", metavar="STORE")
@click.option("--to", "place", required=True, metavar="URL|FILE", help="Where the runs go.")
@click.option("--tenant", default="default", show_default=True, help="Whose runs.")
@click.option(
    "--runs", "only", multiple=True, metavar="RUN", help="Only this run; may be repeated."
)
@click.option("--graph", metavar="MODULE:NAME", help="The graph whose threads they are.")
@click.option(
    "--types",
    multiple=True,
    metavar="[NAME=]MODULE:CLASS",
    help="A class that states hold, and the name it is stored under.",
)
@click.option("--restore", is_flag=True, help="Load again what Refetch fields had; needs --graph.")
@click.option(
    "--accept-changes",
    "accept",
    is_flag=True,
    help="Take what the host's saver makes of a value, as of a tuple a list.",
)
@click.option("--replace", is_flag=True, help="Write anew what is there and differs.")
@click.option("--apply", is_flag=True, help="Do it; without, nothing is written.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(store_url: str, place: str, tenant: str, *, as_json: bool, **given: Any) -> int:
    """Take runs out of a store: LangGraph threads into the tables of LangGraph's own savers.

    Each is written whole, read back and compared, or not at all. A FILE.jsonl takes any run, a line
    for each checkpoint. What is there already is never overwritten unless --replace says so.
    """
    _require_sense(place, given)
    tally = Tally()
    with open_store(store_url, tenant) as store, printing_aside():
        opened: AbstractContextManager[Any]
        if _is_lines(place):
            opened = writing(store, place, is_applied=given["apply"], replaces=given["replace"])
        else:
            opened = _threads(store, place, given)
        with opened as one:
            keeps = given["apply"] and not _is_lines(place)  # such a file is there at the end only
            _move(store, given["only"], one, tally, keeps=keeps)
    told = Told(
        source=shown(store_url),
        target=shown(place),
        is_applied=given["apply"],
        words=_WORDS if given["apply"] else _WOULD,
        measured="out of",
        compares=not _is_lines(place),
        tenant=tenant,
        again="" if given["apply"] else shlex.join(_again(store_url, place, tenant, given)),
    )
    if as_json:
        output.result("export", as_data(tally, told))
    else:
        print_report(tally, told)
    return tally.code()


def _require_sense(place: str, given: dict[str, Any]) -> None:
    if given["restore"] and given["graph"] is None:
        raise click.UsageError("--restore needs --graph: the loaders are in its rules")
    if _is_lines(place) and (given["graph"] or given["types"] or given["accept"]):
        raise click.UsageError("a file of JSON needs no --graph, --types or --accept-changes")
    if not _is_lines(place) and "://" not in place and not place.endswith((".sqlite", ".db")):
        raise click.UsageError(f"--to {place}: write sqlite:///FILE, postgresql://… or FILE.jsonl")


def _is_lines(place: str) -> bool:
    return "://" not in place and place.endswith(_LINES)


def _threads(store: ks.Store, place: str, given: dict[str, Any]) -> AbstractContextManager[Any]:
    """Open LangGraph's tables.

    Raises:
        UsageError: ``export.not-installed``.
    """
    try:
        session = importlib.import_module("keepset.adapters.langgraph.exporting_session")
        choices = importlib.import_module("keepset.adapters.langgraph.exporting").Choices
    except ModuleNotFoundError as error:
        raise UsageError(
            f"an export to LangGraph's tables needs {error.name}, which is not installed",
            code="export.not-installed",
            hint='pip install "keepset[langgraph]"; --to FILE.jsonl needs nothing.',
        ) from error
    opened: AbstractContextManager[Any] = session.exporting(
        store,
        place,
        choices(replace=given["replace"], accept=given["accept"]),
        graph=None if given["graph"] is None else graph_named(given["graph"]),
        types=classes_named(given["types"]),
        restores=given["restore"],
        is_applied=given["apply"],
    )
    return opened


def _move(store: ks.Store, only: tuple[str, ...], one: Any, tally: Tally, *, keeps: bool) -> None:
    runs = dict.fromkeys(only)
    run: Callable[[str], Moved] = one.run
    with showing("exporting", len(runs) or None) as bar:
        if not runs and output.may_draw():
            bar.expects(sum(1 for _ in _names(store)))
        try:
            for name in runs or _names(store):
                tally.add(run(name))
                bar.told(tally.runs, tally.size)
        except KeyboardInterrupt:
            if keeps:
                done = counted(tally.outcomes[Outcome.TAKEN], "run")
                output.note(f"{done} exported, each whole; the same command goes on")
            raise


def _names(store: ks.Store) -> Iterator[str]:
    after = ""
    while page := store.runs(after=after, limit=_PAGE):
        yield from (summary.run.key.run_id for summary in page)
        after = page[-1].run.key.run_id


def _again(store_url: str, place: str, tenant: str, given: dict[str, Any]) -> list[str]:
    words = [*program.words(), "export", shown(store_url), "--to", shown(place)]
    words += ["--tenant", tenant] if tenant != "default" else []
    for option in ("only", "types"):
        name = "runs" if option == "only" else option
        words += [word for value in given[option] for word in (f"--{name}", value)]
    words += ["--graph", given["graph"]] if given["graph"] else []
    flags = {"restore": "--restore", "accept": "--accept-changes", "replace": "--replace"}
    words += [flag for name, flag in flags.items() if given[name]]
    return [*words, "--apply"]
