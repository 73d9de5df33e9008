"""What is not stored here, as far as a loader gives it again: on request it leaves as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NoReturn

from keepset.adapters.langgraph.exporting_versions import Versions
from keepset.adapters.langgraph.restoring import restored
from keepset.contracts import Contract, Refetch
from keepset.plan.project import is_pin
from keepset.plan.requests import Flow
from keepset.run.hosted import Stored, Surface


class Refetched:
    """Loads what `Refetch` fields had, once for each version of a channel.

    A checkpoint whose field has the version of its parent's gets what was loaded for that one.
    """

    def values(
        self,
        stored: Stored,
        made: Mapping[str, Any],
        versions: Versions,
        before: Versions | None,
        surface: Surface,
    ) -> Flow[dict[str, Any]]:
        """Give the channels of a checkpoint with what loaders give put in.

        Args:
            stored: The checkpoint, pinned digests among its values.
            made: LangGraph's own form of it.
            versions: Its versions; what is loaded is remembered in them.
            before: Those of its parent.
            surface: What the values of its namespace go through.

        Raises:
            NotFoundError: A loader failed.
            IntegrityError: A loader gave other documents than those asked for.
        """
        contract = surface.contract
        wanted = {
            name
            for name, field in contract.fields.items()
            if isinstance(field.rule, Refetch) and name in versions.channels
        }
        values = dict(made["channel_values"])
        known = before.restored if before else {}
        for name in wanted - versions.new:
            if name in known:
                values.setdefault(name, known[name])
        pins = {name: value for name, value in stored.values.items() if is_pin(name)}
        filled = {**pins, **values}
        part = _only(contract, wanted)
        yield from restored(part, filled, surface.guard.codec, _no_secret)
        versions.restored.update({name: filled[name] for name in wanted if name in filled})
        return filled


def _only(contract: Contract, wanted: set[str]) -> Contract:
    """Give a contract without what is neither stored nor to be loaded."""
    fields = {
        name: field
        for name, field in contract.fields.items()
        if name in wanted or field.rule.stored
    }
    return replace(contract, fields=MappingProxyType(fields))


def _no_secret(reference: str) -> NoReturn:
    """Resolve nothing: fields with a secret are not among those that are restored."""
    raise AssertionError(reference)
