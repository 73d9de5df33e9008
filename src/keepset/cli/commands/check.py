"""`keepset check`: is a contract sound?"""

from __future__ import annotations

from dataclasses import asdict

import click

from keepset.cli import output
from keepset.cli.app import FINDINGS
from keepset.cli.load import load
from keepset.contracts import check, contract_of

EPILOG = """\b
Example:
  keepset check app.state:Ticket
"""


@click.command("check", epilog=EPILOG)
@click.argument("state", metavar="MODULE:STATE")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(state: str, *, as_json: bool) -> int:
    """Say whether the contract of a state is sound, before anything runs.

    Exits with 40 where something is wrong, and with 0 where there are warnings only.
    """
    contract = contract_of(load(state))
    problems = check(contract)
    errors = [problem for problem in problems if problem.severity == "error"]
    if as_json:
        found = {
            "contract": {
                "name": contract.name,
                "epoch": contract.epoch,
                "shape": contract.shape,
            },
            "fields": [
                {"name": f.name, "rule": type(f.rule).__name__, "declared": f.declared}
                for f in contract.fields.values()
            ],
            "problems": [asdict(problem) for problem in problems],
            "errors": len(errors),
            "warnings": len(problems) - len(errors),
        }
        output.result("check", found)
    else:
        for problem in problems:
            output.text(f"{problem.severity}: {problem.path}: {problem.message} [{problem.code}]")
            output.text(f"  {problem.hint}")
        counted = f"{len(errors)} errors, {len(problems) - len(errors)} warnings"
        output.text(f"{contract.name}, epoch {contract.epoch}: {counted}")
    return FINDINGS if errors else 0
