"""What happens to a state's values before they are recorded."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from keepset.codec import Codec
from keepset.contracts import Contract, Drop, Extract, Keep, Secret
from keepset.errors import NotFoundError, PolicyError, UsageError
from keepset.plan.memory import LineMemory
from keepset.run.services import Services

_log = logging.getLogger("keepset")


class Entering:
    """Shapes the values of one contract's states by their rules, and learns the secrets in them."""

    def __init__(self, services: Services, contract: Contract, codec: Codec) -> None:
        """Begin with no secret learnt."""
        self._services = services
        self._contract = contract
        self._codec = codec
        self._tried: set[str] = set()
        self._handed: dict[str, Any] = {}
        rules = {name: spec.rule for name, spec in contract.fields.items()}
        self._extracted = {name for name, rule in rules.items() if isinstance(rule, Extract)}
        self._secrets = {n: rule for n, rule in rules.items() if isinstance(rule, Secret)}
        self._people = [r.subject for r in rules.values() if isinstance(r, Keep) and r.subject]
        self._shapes = any(
            isinstance(rule, Extract | Drop) or (isinstance(rule, Keep) and rule.without)
            for rule in rules.values()
        )

    def handed(self, values: Mapping[str, Any]) -> None:
        """Note values that were handed out: what is in them was extracted, even if it changes."""
        self._handed = {name: value for name, value in values.items() if name in self._extracted}

    def take_over(self, other: Entering) -> None:
        """Know what another run of the same contract has handed out, as at a fork."""
        self._handed = dict(other._handed)

    def values(
        self, values: dict[str, Any], memory: LineMemory, *, admitted: bool
    ) -> dict[str, Any]:
        """Give the values with `Extract`, `Drop` and `without` applied.

        Args:
            values: The values of a state.
            memory: What the writer remembers, to tell what was extracted before.
            admitted: Whether the rules were applied already.
        """
        if self._secrets:
            self.learn(values)
        if admitted or not self._shapes:
            return values
        changed = {n for n, value in values.items() if not self._is_stored(n, value, memory)}
        return self._contract.admit(values, changed)

    def subject(self, values: Mapping[str, Any]) -> str | None:
        """The person whom a ``Keep(subject=…)`` of the contract names, where the state has one."""
        for subject in self._people:
            person = values.get(subject)
            if isinstance(person, str) and person:
                return person
        return None

    def resolve(self, reference: str) -> str:
        """Read a secret, and look for its value in everything that is stored from now on."""
        value = self._services.resolve(reference)
        self._know(value, reference)
        return value

    def learn(self, values: Mapping[str, Any]) -> None:
        """Learn the secrets that the contract names, so that they are found wherever they are.

        Args:
            values: Values of a state, which may hold secrets; none where only references are.
        """
        for name, rule in self._secrets.items():
            value = _revealed(values.get(name))
            if value:
                self._know(value, name)
            self._try(rule.reference)

    def _try(self, reference: str) -> None:
        """Resolve a reference until it is known; only the environment is asked again."""
        if reference in self._tried:
            return
        try:
            self.resolve(reference)
        except (NotFoundError, UsageError):
            if reference.startswith("env:"):
                return
        self._tried.add(reference)

    def _know(self, value: str, name: str) -> None:
        known = self._services.known
        if name in known.ignored:
            return
        known.add(value, name)
        if name in known.ignored:
            _log.warning("the secret %s is too short to be looked for in what is stored", name)

    def _is_stored(self, name: str, value: Any, memory: LineMemory) -> bool:
        """Tell whether a value is what the store holds of the field, so that it is extracted."""
        if name in self._handed and self._handed[name] is value:
            return True
        before = memory.fields.get(name)
        if name not in self._extracted or not before:
            return False
        try:
            packed = self._codec.pack(value, (name,))
        except PolicyError:
            return False
        return before.holds(packed)


def _revealed(value: Any) -> str | None:
    """Give the text of a secret, whatever it is wrapped in."""
    if hasattr(value, "get_secret_value"):
        value = value.get_secret_value()
    if isinstance(value, bytes | bytearray):
        value = bytes(value).decode("utf-8", "replace")
    return value if isinstance(value, str) else None
