"""`keepset show`: what one checkpoint of a run holds."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from keepset.cli import look, output
from keepset.cli.options import open_store, store_options
from keepset.cli.render import one_line, render
from keepset.cli.times import iso

if TYPE_CHECKING:
    import keepset as ks

WIDTH = 150

EPILOG = """\b
Example:
  keepset show ticket-42 --store sqlite:///runs.db
  keepset show ticket-42 --step 3 --reveal
"""


@click.command("show", epilog=EPILOG)
@click.argument("run_id", metavar="RUN")
@store_options()
@click.option(
    "--step", metavar="N", help="Number of a step or id of a checkpoint; else the newest."
)
@click.option("--reveal", is_flag=True, help="Show personal fields as well.")
def command(run_id: str, store_url: str, tenant: str, *, as_json: bool, **chosen: Any) -> None:
    """Show what a checkpoint holds. Nothing is fetched, opened or resolved for it."""
    with open_store(store_url, tenant) as store:
        run = store.inspect(run_id)
        checkpoint = look.find_checkpoint(run, chosen["step"])
        values = run.at(checkpoint.id).values
        history = run.history()
    personal = look.personal_fields(run.row.contract.structure, values)
    fields = look.rendered(values, () if chosen["reveal"] else personal)
    if as_json:
        found = {
            "run": run_id,
            "contract": {"name": run.row.contract.name, "epoch": run.row.contract.epoch},
            "checkpoint": _data(checkpoint),
            "fields": fields,
            "masked": [] if chosen["reveal"] else sorted(personal),
        }
        output.result("show", found)
        return
    _print(history, checkpoint, fields)


def _data(checkpoint: ks.Checkpoint) -> dict[str, object]:
    data = asdict(checkpoint)
    return {**data, "at": iso(checkpoint.at), "metadata": render(dict(checkpoint.metadata))}


def _print(history: list[ks.Checkpoint], shown: ks.Checkpoint, fields: dict[str, Any]) -> None:
    output.table(
        ("", "step", "name", "status", "at", "checkpoint"),
        [
            (">" if c.id == shown.id else "", str(c.seq), c.step, c.status, iso(c.at), c.id)
            for c in reversed(history)
        ],
        right="step",
    )
    output.text()
    output.table(
        ("field", "value"),
        [(name, one_line(value, WIDTH)) for name, value in fields.items()],
    )
