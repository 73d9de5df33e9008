"""The detectors behind one door: what a store calls on every value before it is encoded."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from keepset.scan.beside import beside_ids
from keepset.scan.finding import Finding, Path
from keepset.scan.known import SHORTEST, KnownValues
from keepset.scan.leaves import Leaves
from keepset.scan.places import Places
from keepset.scan.reasons import RESPONSE_OBJECT, advice
from keepset.scan.responses import response
from keepset.scan.texts import masked, secrets
from keepset.scan.walk import Children, Parts, Walk


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
        """Look at every leaf of a value: secrets, live handles, temporary paths.

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

    def structure(self, fields: Mapping[str, object], parts: Parts) -> list[Finding]:
        """Look at the shape of a state: model responses kept whole, content beside its ids.

        Args:
            fields: Values of the state by field.
            parts: As in `leaves`.
        """
        walk = _Responses(parts)
        for name, value in fields.items():
            walk.run(value, (name,), name)
        return beside_ids(fields) + [self._safe(finding) for finding in walk.found]

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

    def _safe(self, finding: Finding) -> Finding:
        """Report a response under a key that is a secret at the path of the mapping."""
        hidden = self._in_path(finding.path)
        if not hidden:
            return finding
        return Finding(RESPONSE_OBJECT, hidden[0].path, finding.detail, finding.advice)


class _Responses(Walk):
    """Finds model responses; what is inside one is part of it."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.found: list[Finding] = []

    def text(self, text: str, parent: Path, element: str | int | None, name: str) -> None:
        """Pass by: no text is a response."""

    def children(self, value: object, path: Path, name: str) -> Children | None:
        del name
        finding = response(value, path)
        if finding is None:
            children = self.plain(value, path)
            return self.opened(value) if children is None else children
        self.found.append(finding)
        return None
