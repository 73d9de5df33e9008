"""The contract of `keepset.backends.Backend` as tests, one module a topic."""

from __future__ import annotations

from keepset.errors import UsageError
from keepset.testing.contract.concurrency import ConcurrencyClaims
from keepset.testing.contract.copying import CopyingClaims
from keepset.testing.contract.forking import ForkingClaims
from keepset.testing.contract.leasing import LeasingClaims
from keepset.testing.contract.listing import ListingClaims
from keepset.testing.contract.loading import LoadingClaims
from keepset.testing.contract.removing import RemovingClaims
from keepset.testing.contract.renaming import RenamingClaims
from keepset.testing.contract.rewriting import RewritingClaims
from keepset.testing.contract.saving import SavingClaims
from keepset.testing.contract.seeking import SeekingClaims
from keepset.testing.contract.writes import WritesClaims


class BackendContract(
    SavingClaims,
    LoadingClaims,
    SeekingClaims,
    ForkingClaims,
    CopyingClaims,
    RenamingClaims,
    WritesClaims,
    LeasingClaims,
    ListingClaims,
    RemovingClaims,
    RewritingClaims,
    ConcurrencyClaims,
):
    """Every claim that a backend has to keep.

    Inherit from it in a class named ``Test...`` and say how the backend is opened::

        class TestMine(BackendContract):
            def open(self, folder):
                return MyBackend(folder / "store")

    A subclass may add tests; it cannot change or leave out one of these.
    """

    def __init_subclass__(cls) -> None:
        """Refuse a subclass that would change a claim.

        Raises:
            UsageError: ``contract.overridden``.
        """
        super().__init_subclass__()
        for name in dir(BackendContract):
            claim = getattr(BackendContract, name)
            if name.startswith("test_") and getattr(cls, name) is not claim:
                raise UsageError(
                    f"{cls.__name__}.{name} changes what every backend has to keep",
                    code="contract.overridden",
                    hint="Mend the backend, or give your own test another name.",
                )


__all__ = ["BackendContract"]
