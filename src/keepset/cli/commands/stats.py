"""`keepset stats`: what a store holds and what it costs."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from keepset.cli import output
from keepset.cli.counts import counted
from keepset.cli.options import open_store, store_options
from keepset.plan.rows import HEADER
from keepset.verdict.sentences import size

if TYPE_CHECKING:
    from keepset.plan.reads import Sizes

PARTS = {
    HEADER: "(headers of packed steps)",
    "steps": "(steps not packed yet)",
    "writes": "(pending writes)",
    "blobs": "(large values)",
}
"""What `Sizes` calls the parts of a store that are no field."""

EPILOG = """\b
Example:
  keepset stats --store sqlite:///runs.db
"""


@click.command("stats", epilog=EPILOG)
@store_options()
def command(store_url: str, tenant: str, *, as_json: bool) -> None:
    """Say what a store holds, and which fields take the room.

    The newest steps of a line are stored together, whatever their fields; they are told apart by
    field once they are packed, 16 at a time.
    """
    with open_store(store_url, tenant) as store:
        sizes = store.stats()
    if as_json:
        fields = [{"name": name, "bytes": count} for name, count in sizes.bytes_by_field]
        output.result("stats", {**asdict(sizes), "bytes_by_field": fields})
        return
    stored = sum(count for _, count in sizes.bytes_by_field)
    output.text(f"{counted(sizes.runs, 'run')}, {counted(sizes.checkpoints, 'checkpoint')}")
    output.text(f"{size(sizes.file_bytes)} on disk, {size(sizes.free_bytes)} of it free")
    if sizes.checkpoints:
        output.text(f"{size(round(stored / sizes.checkpoints))} per checkpoint\n")
    if not stored:
        return
    output.table(
        ("what", "bytes", "share"),
        [(name, str(count), f"{count / stored:.0%}") for name, count in _named(sizes) if count],
        right="bytes share",
    )


def _named(sizes: Sizes) -> list[tuple[str, int]]:
    """Name each part; one whose name is that of a field as well keeps it, as the field does."""
    times = Counter(name for name, _ in sizes.bytes_by_field)
    return [
        (PARTS.get(name, name) if times[name] == 1 else name, count)
        for name, count in sizes.bytes_by_field
    ]
