"""`keepset doctor`: is anything about this machine or a store in the way?"""

from __future__ import annotations

from dataclasses import asdict

import click

from keepset.adapters.landing import held_aside
from keepset.backends.driver import drive
from keepset.cli import doctor, output
from keepset.cli.app import FINDINGS
from keepset.cli.options import key_file, open_store, store_options
from keepset.errors import StoreError

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
    if store_url is not None:
        lines += _of_store(store_url, tenant)
    failed = sum(line.state == "fail" for line in lines)
    if as_json:
        output.result("doctor", {"lines": [asdict(line) for line in lines], "failed": failed})
    else:
        output.table(
            ("what", "state", "value", "what to do"),
            [(line.name, line.state, line.value, line.fix) for line in lines],
        )
    return FINDINGS if failed else 0


def _of_store(url: str, tenant: str) -> list[doctor.Line]:
    """Look at a store; at its key file alone where that is why it cannot be opened."""
    try:
        with open_store(url, tenant) as store:
            aside = drive(held_aside(store.services), store.services.backend)
            lines = list(doctor.store(store.settings(), key_file(url)))
            return [*lines, *doctor.taken_over_half(len(aside))]
    except StoreError as error:
        line = doctor.key(key_file(url))
        if error.code != "store.key-file" or line.state != "fail":
            raise
        return [line]
