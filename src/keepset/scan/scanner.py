"""The detectors behind one door: what a store calls on every value before it is encoded."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from keepset.scan.beside import beside_ids
from keepset.scan.finding import Finding, Path
from keepset.scan.known import SHORTEST, KnownValues
from keepset.scan.leaves import Leaves
from keepset.scan.places import Places
from keepset.scan.reasons import advice
from keepset.scan.texts import masked, secrets
from keepset.scan.walk import Parts


class Scanner:
    """Looks at values before they are encoded. It keeps nothing of what it sees.

    Any thread may use it at any time.

    Args:
        known: Registered secret values.
        temporary_roots: Temporary folders, absolute and normalised.
        made_paths: Paths that this process made for a while; may grow while it is in use.
    """

    def __init__(
        self,
        known: KnownValues,
        temporary_roots: tuple[str, ...],
        made_paths: Collection[str] = (),
    ) -> None:
        """Take what the environment knows; nothing is read from it here."""
        self._known = known
        self._places = Places(temporary_roots, made_paths)

    def leaves(self, value: object, path: Path, *, name: str, parts: Parts) -> list[Finding]:
        """Look at every leaf of a value: secrets, live handles, temporary paths, model responses.

        Args:
            value: The value.
            path: Where it is. Where a mapping key in it is itself a secret, that is all that is
                reported, at the path of the mapping: look at the mapping as a whole then.
            name: Name of the field that it belongs to.
            parts: Gives the children of an object with their path elements, None for a leaf, and
                raises PolicyError for what cannot be stored. Plain containers are walked without.

        Returns:
            What was found, in no particular order; empty for nothing.
        """
        found = self._in_path(path)
        if found:
            return found
        below = [element for element in path[1:] if isinstance(element, str)]
        walk = Leaves(parts, self._known, self._places)
        walk.run(value, path, below[-1] if below else name)
        return walk.found()

    def beside(self, fields: Mapping[str, object]) -> list[Finding]:
        """Look across the fields of a state for content whose ids stand beside it.

        Args:
            fields: Values of the state by field.
        """
        return beside_ids(fields)

    def text(self, text: str) -> str:
        """Give a text with every secret in it masked, for a message or a log."""
        return masked(text, secrets(text, self._known))

    def _in_path(self, path: Path) -> list[Finding]:
        for position, element in enumerate(path):
            if position and isinstance(element, str) and len(element) >= SHORTEST:
                spans = secrets(element, self._known)
                if spans:
                    above, kind = path[:position], spans[0].kind
                    said = advice(kind, above, in_key=True)
                    return [Finding(kind, above, spans[0].detail, said, in_key=True)]
        return []
