"""What a run needs from the store that it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from keepset.backends.port import Backend
from keepset.codec import GLOBAL, Codec
from keepset.contracts import Contract
from keepset.errors import PolicyError, StoreError
from keepset.plan.guard import Guard, Mode
from keepset.plan.rows import RunKey
from keepset.providers import HashKey
from keepset.run.leasing import Leases
from keepset.run.retention import Retention
from keepset.scan import KnownValues, Scanner


@dataclass(frozen=True, slots=True)
class Services:
    """A store's parts, as its runs use them.

    Attributes:
        backend: Where bytes live.
        tenant: Whose runs these are.
        role: ``writer``, or ``viewer``, which may only look.
        mode: What becomes of a value that does not belong.
        key: Key for hashes of names; None where a viewer's store has lost it.
        known: Values of secrets that are looked for wherever they turn up.
        scanner: The detectors.
        resolve: Reads a secret by its reference.
        now: The clock, milliseconds.
        new_id: Makes a sortable id from a time.
        inspector: A codec that shows objects as opaque, for reading without a contract.
        leases: Who works on which run here.
        compressed: Whether segments and large values are compressed.
        retention: The bound on what the runs remember.
    """

    backend: Backend
    tenant: str
    role: str
    mode: Mode
    key: HashKey | None
    known: KnownValues
    scanner: Scanner
    resolve: Callable[[str], str]
    now: Callable[[], int]
    new_id: Callable[[int], str]
    inspector: Codec
    leases: Leases
    compressed: bool = True
    retention: Retention = field(default_factory=Retention)

    def mark(self, key: RunKey) -> bytes:
        """Keyed hash of a run, as its tombstone holds it; empty for a viewer without the key."""
        return b"" if self.key is None else self.key.digest("run", key.tenant, key.run_id)

    def subject(self, name: str) -> bytes:
        """Keyed hash of a person's name.

        Raises:
            StoreError: The key is lost, so nobody can be found by name.
        """
        if self.key is None:
            raise StoreError(
                "the store's key file is missing, so runs cannot be found by a person's name",
                code="store.key-file",
                hint="Put the key file back from a backup.",
            )
        return self.key.digest("subject", self.tenant, name)

    def may_write(self) -> None:
        """Refuse a viewer.

        Raises:
            PolicyError: The store was opened to look only.
        """
        if self.role != "writer":
            raise PolicyError(
                f"a {self.role} may not write",
                code="role.read-only",
                hint='Open the store with role="writer".',
            )

    def close(self) -> None:
        """Give back all leases, finish what waits to be written and let go of the files."""
        self.leases.close()
        self.backend.close()

    def guard(self, contract: Contract) -> Guard:
        """The detectors with the codec of a contract."""
        return Guard(self.scanner, codec_of(contract), self.mode)


def codec_of(contract: Contract) -> Codec:
    """The codec that knows a contract's classes beside the registered ones."""
    return Codec(GLOBAL.with_classes(contract.classes))
