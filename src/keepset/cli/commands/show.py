"""`keepset show`: what one checkpoint of a run holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from keepset.cli import look, output
from keepset.cli.counts import counted
from keepset.cli.leases import lease_data, lease_text
from keepset.cli.lines import Lines, read_lines, short
from keepset.cli.options import open_store, store_options
from keepset.cli.render import MASKED, one_line
from keepset.cli.times import iso

if TYPE_CHECKING:
    import keepset as ks
    from keepset.plan.rows import RunRow

WIDTH = 150
OWN = "#"
"""Stands in the names of fields that a host's adapter keeps beside those of the state."""
LISTED = 20
"""Checkpoints that are listed where not all are asked for."""

EPILOG = """\b
Examples:
  keepset show ticket-42 --store sqlite:///runs.db
  keepset show ticket-42 --step 3 --reveal
  keepset show ticket-42 --line 0 --all
"""


@dataclass(frozen=True)
class Shown:
    """One checkpoint as it is printed.

    Attributes:
        run: The run.
        lines: Its lines.
        checkpoint: The checkpoint.
        branch: The line that it is looked at on.
        fields: Its rendered values by field.
        masked: The fields that are not shown.
        absent: The rules of the fields that are not stored, by field.
        metadata: Its rendered metadata, or the mark of what is masked.
        listed: The checkpoints that are listed, newest first.
    """

    run: RunRow
    lines: Lines
    checkpoint: ks.Checkpoint
    branch: int
    fields: dict[str, Any]
    masked: list[str]
    absent: dict[str, dict[str, Any]]
    metadata: dict[str, Any]
    listed: list[ks.Checkpoint]

    @property
    def earlier(self) -> int:
        """How many checkpoints are older than those that are listed."""
        return len(self.lines.history(self.branch)) - len(self.listed)


@click.command("show", epilog=EPILOG)
@click.argument("run_id", metavar="RUN")
@store_options()
@click.option(
    "--step",
    metavar="N",
    help="Number of a step, or the id of a checkpoint (its last 8 characters do); else the newest.",
)
@click.option("--line", "branch", type=int, metavar="N", help="Which line; else the newest's.")
@click.option("--all", "every", is_flag=True, help="List all checkpoints, not the newest 20 only.")
@click.option("--reveal", is_flag=True, help="Show personal fields and metadata as well.")
def command(run_id: str, store_url: str, tenant: str, *, as_json: bool, **chosen: Any) -> None:
    """Show what a checkpoint holds. Nothing is fetched, opened or resolved for it.

    A run that was forked has several lines. Without --line it is the one that a resume goes on
    with.
    """
    with open_store(store_url, tenant) as store:
        run = store.inspect(run_id)
        lines = read_lines(run, chosen["branch"])
        checkpoint = lines.find(chosen["step"])
        values = run.at(checkpoint.id).values
    reveal, every = chosen["reveal"], chosen["every"]
    shown = _shown(run.row, lines, checkpoint, values, reveal=reveal, every=every)
    if as_json:
        output.result("show", _as_data(shown))
    else:
        _print(shown)


def _shown(  # noqa: PLR0913 - what was read, and how it is to be shown
    row: RunRow,
    lines: Lines,
    checkpoint: ks.Checkpoint,
    values: Any,
    *,
    reveal: bool,
    every: bool,
) -> Shown:
    masked = [] if reveal else sorted(look.personal_fields(row.contract.structure, values))
    on_chosen = any(c.id == checkpoint.id for c in lines.history(lines.chosen))
    branch = lines.chosen if on_chosen else checkpoint.branch
    history = lines.history(branch)
    return Shown(
        run=row,
        lines=lines,
        checkpoint=checkpoint,
        branch=branch,
        fields=look.rendered(values, masked),
        masked=masked,
        absent=look.absent_fields(row.contract.structure, values),
        metadata=look.metadata(checkpoint.metadata, reveal=reveal),
        listed=history if every else history[:LISTED],
    )


def _as_data(shown: Shown) -> dict[str, object]:
    contract, lines = shown.run.contract, shown.lines
    return {
        "run": shown.run.key.run_id,
        "contract": {"name": contract.name, "epoch": contract.epoch},
        "lease": lease_data(shown.run.lease),
        "checkpoint": {**_header(shown.checkpoint), "metadata": shown.metadata},
        "fields": shown.fields,
        "masked": shown.masked,
        "not_stored": shown.absent,
        "line": shown.branch,
        "lines": [_line(lines, branch) for branch in lines.histories],
        "checkpoints": [_header(checkpoint) for checkpoint in shown.listed],
        "earlier": shown.earlier,
    }


def _header(checkpoint: ks.Checkpoint) -> dict[str, object]:
    return {
        "id": checkpoint.id,
        "seq": checkpoint.seq,
        "step": checkpoint.step,
        "status": checkpoint.status,
        "at": iso(checkpoint.at),
        "parent": checkpoint.parent,
        "branch": checkpoint.branch,
    }


def _line(lines: Lines, branch: int) -> dict[str, object]:
    fork, history = lines.forked_after(branch), lines.history(branch)
    return {
        "line": branch,
        "forked_after": fork.id if fork else None,
        "checkpoints": len(lines.own(branch)),
        "newest": history[0].id if history else None,
        "resumes": branch == lines.resuming,
    }


def _print(shown: Shown) -> None:
    checkpoint, contract = shown.checkpoint, shown.run.contract
    line = f" of line {shown.branch}" if len(shown.lines.histories) > 1 else ""
    version = f"epoch {contract.epoch}" if contract.epoch else "unversioned"
    output.text(f"run {output.one_row(shown.run.key.run_id)}")
    output.text(f"contract {output.one_row(contract.name)}, {version}")
    if held := lease_text(shown.run.lease):
        output.text(f"leased to {output.one_row(held)}")
    output.text(
        f"step {checkpoint.seq}{line}, {checkpoint.status}, {iso(checkpoint.at)},"
        f" {output.one_row(checkpoint.step)}\n"
    )
    output.table(("field", "value"), _rows(shown))
    _print_lines(shown)
    _print_checkpoints(shown)


def _rows(shown: Shown) -> list[tuple[str, str]]:
    """Give fields and values; what a host's adapter keeps for itself is one row until revealed."""
    own = [name for name in shown.masked if OWN in name]
    rows = [(n, one_line(v, WIDTH)) for n, v in shown.fields.items() if n not in own]
    if own:
        host = own[0].partition(OWN)[0]
        rows.append(
            (f"({host})", f"({counted(len(own), 'field')} of its own; --reveal shows them)")
        )
    rows += [(name, f"(not stored: {look.named_rule(r)})") for name, r in shown.absent.items()]
    if shown.metadata == MASKED:
        rows.append(("(metadata)", "(masked; --reveal shows it)"))
    elif shown.metadata:
        rows.append(("(metadata)", one_line(shown.metadata, WIDTH)))
    return rows


def _print_lines(shown: Shown) -> None:
    lines = shown.lines
    if len(lines.histories) == 1:
        return
    output.text()
    output.table(
        ("", "line", "forked after", "own steps", "newest step"),
        [
            (
                ">" if branch == shown.branch else "",
                str(branch),
                f"step {fork.seq} of line {fork.branch}" if fork else "",
                str(len(lines.own(branch))),
                f"{history[0].seq} {history[0].step}, {history[0].status}" if history else "",
            )
            for branch, history in lines.histories.items()
            for fork in (lines.forked_after(branch),)
        ],
        right="line",
    )
    output.note(
        f"A resume goes on with line {lines.resuming}, or with that of store.run(…, branch=N).\n"
        "--line N shows another line."
    )


def _print_checkpoints(shown: Shown) -> None:
    several = len(shown.lines.histories) > 1
    output.text()
    output.table(
        ("", "step", "name", "status", "at", "checkpoint", *(["line"] if several else [])),
        [
            (
                ">" if c.id == shown.checkpoint.id else "",
                str(c.seq),
                c.step,
                c.status,
                iso(c.at),
                short(c.id),
                *([str(c.branch)] if several else []),
            )
            for c in reversed(shown.listed)
        ],
        right="step line",
        whole="status at checkpoint",
    )
    if shown.earlier:
        output.note(f"There are {counted(shown.earlier, 'earlier checkpoint')}; --all lists them.")
