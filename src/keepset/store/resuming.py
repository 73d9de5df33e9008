"""May this code resume that run? Everything is checked that can be checked without resuming."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepset.codec import Codec, format_path
from keepset.contracts import Contract, Secret
from keepset.errors import DecodeError, IntegrityError, KeepsetError, NotFoundError, UsageError
from keepset.plan.leases import leased
from keepset.plan.requests import Flow
from keepset.plan.rows import ContractRow, RunRow
from keepset.plan.shapes import shape_reasons
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
    reasons = [*lease_reasons(services, row), *shape_reasons(row.contract, contract)]
    values: Mapping[str, Any] = {}
    codec = codec_of(contract)
    try:
        _, _, values = yield from Reader(services, run_id, codec).load()
    except (DecodeError, IntegrityError) as error:
        reasons.append(reason_of(Resume.INCOMPATIBLE, error))
    reasons += value_reasons(services, contract, values, codec)
    return weigh(reasons)


def _unknown(stored: ContractRow) -> Reason:
    return Reason(
        Resume.UNKNOWN,
        "resume.no-contract",
        f"this process knows no contract {stored.name}, so nothing could be checked",
        "Pass it: store.can_resume(run_id, contract=State).",
    )


def lease_reasons(services: Services, run: RunRow | None) -> Iterator[Reason]:
    """Say that another execution works on a run, as far as is known.

    Args:
        services: The store's parts.
        run: The run's row; None where it has none.
    """
    if run is None or run.lease is None or services.leases.is_gone(run.lease, searched=True):
        return
    yield reason_of(Resume.DRAIN, leased(run.key.run_id, run.lease))


def value_reasons(
    services: Services, contract: Contract, values: Mapping[str, Any], codec: Codec
) -> Iterator[Reason]:
    """Say what a run that resumes with these values would miss, and which secrets it cannot get.

    Args:
        services: The store's parts.
        contract: The contract that it would resume with.
        values: Its fields as they are stored.
        codec: Knows the classes of the values.
    """
    stored = {n: v for n, v in values.items() if n in contract.fields}
    stored = {n: v for n, v in stored.items() if contract.fields[n].rule.stored}
    for path, marker in withheld(stored, codec):
        place = format_path(path)
        yield Reason(
            Resume.POLICY,
            "resume.withheld",
            f"{place} was withheld ({marker.kind}) and is not in the store",
            f'Declare it: Annotated[…, Secret("env:…")] for {place}.',
        )
    yield from _secrets(services, contract)


def reason_of(verdict: Resume, error: KeepsetError) -> Reason:
    """Give an error as a reason for a verdict."""
    return Reason(verdict, error.code, error.message, error.hint)


def _secrets(services: Services, contract: Contract) -> Iterator[Reason]:
    for field in contract.fields.values():
        if isinstance(field.rule, Secret):
            try:
                services.resolve(field.rule.reference)
            except (NotFoundError, UsageError) as error:
                yield reason_of(Resume.UNKNOWN, error)
