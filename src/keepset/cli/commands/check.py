"""`keepset check`: is a contract sound?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import click

from keepset.cli import output
from keepset.cli.app import FINDINGS
from keepset.cli.aside import printing_aside
from keepset.cli.counts import counted
from keepset.contracts import Contract, Problem, check, contract_of
from keepset.errors import SchemaError
from keepset.plan.guard import Mode
from keepset.store.opening import mode_in_force
from keepset.testing.references import load

EPILOG = """\b
Examples:
  keepset check app.state:Ticket
  keepset check app.state:Ticket --strict
"""


@click.command("check", epilog=EPILOG)
@click.argument("state", metavar="MODULE:STATE")
@click.option(
    "--strict", is_flag=True, help="A field without a rule is an error; so in KEEPSET_MODE=strict."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(state: str, *, as_json: bool, strict: bool) -> int:
    """Say whether the contract of a state is sound, before anything runs.

    Exits with 40 where something is wrong, and with 0 where there are warnings only.
    """
    strict = mode_in_force("protect") is Mode.STRICT or strict
    with printing_aside():
        named = load(state)
        problems = check(named, strict=strict)
        errors = [problem for problem in problems if problem.severity == "error"]
        contract = _contract(named, sound=not errors)
    if as_json:
        output.result("check", _as_data(contract, problems, len(errors)))
    else:
        for problem in problems:
            output.text(f"{problem.severity}: {problem.path}: {problem.message} [{problem.code}]")
            output.text(f"  {problem.hint}")
        warnings = counted(len(problems) - len(errors), "warning")
        output.text(f"{_title(contract, named)}: {counted(len(errors), 'error')}, {warnings}")
    return FINDINGS if errors else 0


def _contract(named: object, *, sound: bool) -> Contract | None:
    """Give the contract; None where the findings are such that none can be made."""
    try:
        return contract_of(named)
    except SchemaError:
        if sound:
            raise
        return None


def _title(contract: Contract | None, named: object) -> str:
    if contract is None:
        return getattr(named, "__qualname__", type(named).__qualname__)
    return f"{contract.name}, {f'epoch {contract.epoch}' if contract.epoch else 'unversioned'}"


def _as_data(
    contract: Contract | None, problems: Sequence[Problem], errors: int
) -> dict[str, object]:
    about = None
    if contract:
        about = {"name": contract.name, "epoch": contract.epoch, "shape": contract.shape}
    fields = contract.fields.values() if contract else ()
    return {
        "contract": about,
        "fields": [
            {"name": f.name, "rule": type(f.rule).__name__, "declared": f.declared} for f in fields
        ],
        "problems": [asdict(problem) for problem in problems],
        "errors": errors,
        "warnings": len(problems) - errors,
    }
