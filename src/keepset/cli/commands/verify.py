"""`keepset verify`: is everything that a store holds intact?"""

from __future__ import annotations

from dataclasses import asdict

import click

from keepset.cli import output
from keepset.cli.counts import counted
from keepset.cli.options import open_store, store_options
from keepset.errors import IntegrityError

EPILOG = """\b
Example:
  keepset verify --store sqlite:///runs.db
"""


@click.command("verify", epilog=EPILOG)
@click.argument("run_id", metavar="[RUN]", required=False)
@store_options()
def command(run_id: str | None, store_url: str, tenant: str, *, as_json: bool) -> int:
    """Read everything again, one run or all of them, and check each digest.

    Exits with 7 where something is damaged.
    """
    with open_store(store_url, tenant) as store:
        verified = store.verify(run_id)
    if as_json:
        output.result("verify", asdict(verified))
    else:
        for problem in verified.problems:
            output.text(f"{output.one_row(problem.run_id)}: {problem.message} [{problem.code}]")
        found = f"{len(verified.problems)} damaged" if verified.problems else "intact"
        runs = counted(verified.runs, "run")
        checkpoints = counted(verified.checkpoints, "checkpoint")
        output.text(f"{found}: {runs}, {checkpoints}")
    return IntegrityError.exit_code if verified.problems else 0
