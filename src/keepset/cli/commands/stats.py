"""`keepset stats`: what a store holds and what it costs."""

from __future__ import annotations

from dataclasses import asdict

import click

from keepset.cli import output
from keepset.cli.options import open_store, store_options
from keepset.verdict.sentences import size

EPILOG = """\b
Example:
  keepset stats --store sqlite:///runs.db
"""


@click.command("stats", epilog=EPILOG)
@store_options()
def command(store_url: str, tenant: str, *, as_json: bool) -> None:
    """Say what a store holds, and which fields take the room."""
    with open_store(store_url, tenant) as store:
        sizes = store.stats()
    if as_json:
        fields = [{"name": name, "bytes": count} for name, count in sizes.bytes_by_field]
        output.result("stats", {**asdict(sizes), "bytes_by_field": fields})
        return
    stored = sum(count for _, count in sizes.bytes_by_field)
    output.text(f"{sizes.runs} runs, {sizes.checkpoints} checkpoints")
    output.text(f"{size(sizes.file_bytes)} on disk, {size(sizes.free_bytes)} of it free")
    if sizes.checkpoints:
        output.text(f"{size(round(stored / sizes.checkpoints))} per checkpoint\n")
    output.table(
        ("what", "bytes", "share"),
        [
            (name or "(step headers)", str(count), f"{count / stored:.0%}")
            for name, count in sizes.bytes_by_field
            if count
        ],
        right="bytes share",
    )
