"""May this code resume that run? Everything is checked that can be checked without resuming."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepset.codec import format_path
from keepset.contracts import Contract, Secret, compare
from keepset.errors import DecodeError, IntegrityError, KeepsetError, NotFoundError, UsageError
from keepset.plan.requests import Flow
from keepset.plan.rows import ContractRow
from keepset.plan.withheld import withheld
from keepset.run.reader import Reader
from keepset.run.services import Services, codec_of
from keepset.verdict.resume import Reason, ResumeReport, weigh
from keepset.verdict.status import Resume


def can_resume(
    services: Services, run_id: str, contract: Contract | None, known: Mapping[str, Contract]
) -> Flow[ResumeReport]:
    """Check a run against the contract that this process would resume it with.

    Args:
        services: The store's parts.
        run_id: The run.
        contract: The contract; None for the one in `known` of the name that the run has.
        known: Contracts that this process has used, by name.

    Raises:
        NotFoundError: There is no such run.
    """
    row = yield from Reader(services, run_id, services.inspector).row()
    contract = contract or known.get(row.contract.name)
    if contract is None:
        return weigh([_unknown(row.contract)])
    reasons = list(_shapes(row.contract, contract))
    values: Mapping[str, Any] = {}
    codec = codec_of(contract)
    try:
        _, _, values = yield from Reader(services, run_id, codec).load()
    except (DecodeError, IntegrityError) as error:
        reasons.append(_from(Resume.INCOMPATIBLE, error))
    for path, marker in withheld(values, codec):
        place = format_path(path)
        reasons.append(
            Reason(
                Resume.POLICY,
                "resume.withheld",
                f"{place} was withheld ({marker.kind}) and is not in the store",
                f'Declare it: Annotated[…, Secret("env:…")] for {place}.',
            )
        )
    reasons += _secrets(services, contract)
    return weigh(reasons)


def _unknown(stored: ContractRow) -> Reason:
    return Reason(
        Resume.UNKNOWN,
        "resume.no-contract",
        f"this process knows no contract {stored.name}, so nothing could be checked",
        "Pass it: store.can_resume(run_id, contract=State).",
    )


def _shapes(stored: ContractRow, contract: Contract) -> Iterator[Reason]:
    if stored.name != contract.name:
        yield Reason(
            Resume.INCOMPATIBLE,
            "resume.other-contract",
            f"the run was written with contract {stored.name}, not {contract.name}",
            "Resume it with the code of that contract.",
        )
    elif stored.epoch != contract.epoch:
        yield Reason(
            Resume.INCOMPATIBLE,
            "resume.other-epoch",
            f"the run is at epoch {stored.epoch}, this code at epoch {contract.epoch}",
            "Finish the run with the code of its epoch, or migrate it.",
        )
    elif stored.shape != contract.shape:
        differences = compare(stored.structure, contract)
        verdict = Resume.AS_IS if differences.compatible else Resume.INCOMPATIBLE
        if contract.epoch and differences.compatible:
            verdict = Resume.POLICY
        for sentence in differences.sentences:
            yield Reason(
                verdict,
                "resume.other-shape",
                sentence,
                "Give the contract a new epoch, or finish the run with the code that wrote it.",
            )


def _secrets(services: Services, contract: Contract) -> Iterator[Reason]:
    for field in contract.fields.values():
        if isinstance(field.rule, Secret):
            try:
                services.resolve(field.rule.reference)
            except (NotFoundError, UsageError) as error:
                yield _from(Resume.UNKNOWN, error)


def _from(verdict: Resume, error: KeepsetError) -> Reason:
    return Reason(verdict, error.code, error.message, error.hint)
