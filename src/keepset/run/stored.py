"""A run and a contract as a writer and the store know them."""

from __future__ import annotations

from keepset.contracts import Contract
from keepset.plan.reads import Loaded
from keepset.plan.requests import Seen
from keepset.plan.rows import ContractRow


def seen_in(loaded: Loaded) -> Seen:
    """What a writer has seen of a run that it loaded."""
    run, deletions = loaded.found.run, loaded.found.deletions
    return Seen(run.incarnation, deletions, run.layout) if run else Seen(None, deletions)


def contract_row(contract: Contract) -> ContractRow:
    """A contract as it is stored."""
    return ContractRow(contract.name, contract.epoch, contract.shape, contract.structure)
