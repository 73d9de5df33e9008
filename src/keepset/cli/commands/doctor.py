"""`keepset doctor`: is anything about this machine or a store in the way?"""

from __future__ import annotations

from dataclasses import asdict

import click

from keepset.cli import doctor, output
from keepset.cli.app import FINDINGS
from keepset.cli.options import open_store, store_options

EPILOG = """\b
Example:
  keepset doctor --store sqlite:///runs.db
"""


@click.command("doctor", epilog=EPILOG)
@store_options(required=False)
def command(store_url: str | None, tenant: str, *, as_json: bool) -> int:
    """Look at versions, settings, permissions and room, and say what to put right.

    Without a store it looks at this machine only. Exits with 40 where a line says fail.
    """
    lines = list(doctor.surroundings())
    if store_url:
        with open_store(store_url, tenant) as store:
            lines += doctor.store(store.settings())
    failed = sum(line.state == "fail" for line in lines)
    if as_json:
        output.result("doctor", {"lines": [asdict(line) for line in lines], "failed": failed})
    else:
        output.table(
            ("what", "state", "value", "what to do"),
            [(line.name, line.state, line.value, line.fix) for line in lines],
        )
    return FINDINGS if failed else 0
