"""`keepset runs`: the runs in a store."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from keepset.cli import output
from keepset.cli.leases import lease_data, lease_text
from keepset.cli.options import open_store, store_options
from keepset.cli.times import iso
from keepset.verdict.status import Status

if TYPE_CHECKING:
    from keepset.plan.rows import RunSummary

EPILOG = """\b
Example:
  keepset runs --store sqlite:///runs.db --status paused
"""


@click.command("runs", epilog=EPILOG)
@store_options()
@click.option("--status", type=click.Choice([s.value for s in Status]), help="Only such runs.")
@click.option("--contract", metavar="NAME", help="Only runs of this contract.")
@click.option("--subject", metavar="PERSON", help="Only runs that hold this person's data.")
@click.option("--after", default="", metavar="RUN", help="Go on after this run id.")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=100,
    show_default=True,
    help="How many at the most.",
)
def command(store_url: str, tenant: str, limit: int, *, as_json: bool, **chosen: Any) -> None:
    """List the runs in a store, in the order of their ids."""
    with open_store(store_url, tenant) as store:
        found = store.runs(limit=limit + 1, **chosen)
    more, shown = len(found) > limit, found[:limit]
    if as_json:
        output.result("runs", {"runs": [_data(run) for run in shown], "more": more})
        return
    if not shown:
        asked = [name for name in ("status", "contract", "subject", "after") if chosen[name]]
        fitting = f" that fit --{' --'.join(asked)}" if asked else ""
        output.note(f"There are no runs of tenant {tenant}{fitting}.")
        return
    leased = any(found.run.lease for found in shown)
    columns = ("run", "contract", "epoch", "status", "last step", "checkpoints", "updated")
    output.table(
        (*columns, "leased to") if leased else columns,
        [(*_row(run), lease_text(run.run.lease)) if leased else _row(run) for run in shown],
        right="epoch checkpoints",
        whole="status updated",
    )
    if more:
        output.note(f"There are more; go on with --after {shlex.quote(shown[-1].run.key.run_id)}")


def _data(found: RunSummary) -> dict[str, object]:
    return {
        "run": found.run.key.run_id,
        "contract": found.run.contract.name,
        "epoch": found.run.contract.epoch,
        "shape": found.run.contract.shape,
        "status": found.status,
        "step": found.step,
        "checkpoint": found.checkpoint,
        "checkpoints": found.checkpoints,
        "lease": lease_data(found.run.lease),
        "created": iso(found.run.created),
        "updated": iso(found.updated),
    }


def _row(found: RunSummary) -> tuple[str, ...]:
    contract = found.run.contract
    return (
        found.run.key.run_id,
        contract.name,
        str(contract.epoch or "-"),
        found.status,
        found.step,
        str(found.checkpoints),
        iso(found.updated),
    )
