"""A run's stored contract against the one that it is opened with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from keepset.contracts import Contract, compare
from keepset.errors import SchemaError
from keepset.plan.guard import Mode
from keepset.plan.rows import ContractRow
from keepset.verdict.resume import Reason, weigh
from keepset.verdict.status import Resume

_OLD_CODE: Final = "Undo the change, or finish the run with the code that wrote it."
_NOTHING: Final = "Nothing is to be done: the run goes on with this code."
_POLICY: Final = (
    "The run can be read as it is. A strict store goes on only with the code that wrote it; "
    "a new epoch is for new runs."
)

_WAYS: Final = {Resume.AS_IS: _NOTHING, Resume.POLICY: _POLICY}


def shape_reasons(stored: ContractRow, contract: Contract) -> Iterator[Reason]:
    """Say what stands between a stored contract and one in the code; nothing where they agree."""
    if stored.name != contract.name:
        yield Reason(
            Resume.INCOMPATIBLE,
            "resume.other-contract",
            f"the run was written with contract {stored.name}, not {contract.name}",
            "Resume it with the code of that contract, or give this run another id.",
        )
    elif stored.epoch != contract.epoch:
        yield Reason(
            Resume.INCOMPATIBLE,
            "resume.other-epoch",
            f"the run is at epoch {stored.epoch}, this code at epoch {contract.epoch}",
            "Finish the run with the code of its epoch.",
        )
    elif stored.shape != contract.shape:
        yield from _changes(stored, contract)


def _changes(stored: ContractRow, contract: Contract) -> Iterator[Reason]:
    differences = compare(stored.structure, contract)
    verdict = Resume.AS_IS if differences.compatible else Resume.INCOMPATIBLE
    if contract.epoch and differences.compatible:
        verdict = Resume.POLICY
    for difference in differences.ordered:
        usual = _WAYS.get(verdict, _OLD_CODE)
        reason = f"{difference.name}: {difference.reason}"
        yield Reason(verdict, "resume.other-shape", reason, difference.hint or usual)


def require_contract(stored: ContractRow, contract: Contract, mode: Mode) -> None:
    """Refuse to go on with a run under a contract that does not fit it.

    A shape that changed compatibly within an epoch is refused in `strict` mode only.

    Raises:
        SchemaError: The contracts do not fit.
    """
    report = weigh(shape_reasons(stored, contract))
    limit = Resume.POLICY if mode is Mode.STRICT else Resume.UNKNOWN
    refused = report.verdict is Resume.INCOMPATIBLE or report.verdict >= limit
    if refused:
        worst = report.reasons[0]
        raise SchemaError(worst.message, code=worst.code, hint=worst.hint)
