"""The detectors behind one door: what a store calls on every value before it is encoded."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from keepset.scan.below import name_above
from keepset.scan.beside import beside_ids
from keepset.scan.clean import Asked, Clean, CleanKeys
from keepset.scan.finding import Finding, Path, Span
from keepset.scan.known import SHORTEST, KnownValues
from keepset.scan.labels import PAIR, VALUE, labelled
from keepset.scan.leaves import Leaves
from keepset.scan.names import credential
from keepset.scan.places import Places
from keepset.scan.plain import LEAST, Plain
from keepset.scan.reasons import advice
from keepset.scan.responses import TRIGGERS, response
from keepset.scan.texts import masked, secrets
from keepset.scan.walk import Parts

_NUMBERS = frozenset({type(None), bool, int, float, complex})
_CONTAINERS = frozenset({dict, list, tuple, set, frozenset})


class Scanner:
    """Looks at values before they are encoded.

    It keeps nothing of what it sees but digests, and keys of mappings that hold nothing.

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
        self._plain = Plain(known, self._places)
        self._clean = Clean(known, made_paths)
        self._names = Clean(known, made_paths)
        self._keys = CleanKeys(known)
        self._made = made_paths
        self._items = False

    def leaves(
        self,
        value: object,
        path: Path,
        *,
        name: str,
        parts: Parts,
        packed: bytes | memoryview | None = None,
    ) -> list[Finding]:
        """Look at every leaf of a value: secrets, live handles, temporary paths, model responses.

        Args:
            value: The value.
            path: Where it is. Where a mapping key in it is itself a secret, that is all that is
                reported, at the path of the mapping: look at the mapping as a whole then.
            name: Name of the field that it belongs to.
            parts: Gives the children of an object with their path elements, None for a leaf, and
                raises PolicyError for what cannot be stored. Plain containers are walked without.
            packed: The value's packed bytes, where they are known: a value that held nothing is
                then known again.

        Returns:
            What was found, in no particular order; empty for nothing.
        """
        found = self._in_path(path)
        if found or type(value) in _NUMBERS or (type(value) in _CONTAINERS and not value):
            return found
        if packed is not None:
            self._items = self._items or type(path[-1]) is int
            asked = self._asked(path, name, packed)
            if asked.clean:
                return []
            found = self._leaves(value, path, name, parts)
            if not found:
                asked.note()
            return found
        return self._leaves(value, path, name, parts)

    @property
    def knowledge(self) -> tuple[int, int]:
        """How much is looked for; what was found while it was less is looked for anew."""
        return len(self._known), len(self._made)

    @property
    def remembers(self) -> bool:
        """Whether an item of a list was looked at that may be known again by its packed bytes."""
        return self._items

    def is_clean(self, path: Path, *, name: str, packed: bytes | memoryview) -> bool:
        """Tell whether `leaves` has lately looked at a value of these bytes and found nothing."""
        return not self._in_path(path) and self._asked(path, name, packed).clean

    def _asked(self, path: Path, name: str, packed: bytes | memoryview) -> Asked:
        names = [name, *(element for element in path[1:] if isinstance(element, str))]
        return self._clean.asked("\0".join(names), packed)

    def _leaves(self, value: object, path: Path, name: str, parts: Parts) -> list[Finding]:
        above = ""
        for element in path[1:]:
            if isinstance(element, str):
                name, above = element, name_above(name, above)
        if not above and not credential(name):
            plain = self._plain.look(value, path)
            if plain is not None:
                return plain
        walk = Leaves(parts, self._known, self._places)
        walk.run(value, path, name, above)
        return walk.found()

    def container(self, value: object, path: Path, *, parts: Parts) -> list[Finding]:
        """Look at one container alone: what only several of its parts together give away.

        `leaves` does the same on its way. It is for a value of which only some parts are new: each
        of these was looked at by itself, where its neighbours are not seen.

        Args:
            value: A mapping, a list or an object; nothing below it is looked at.
            path: Where it is.
            parts: Gives the children of an object, as in `leaves`.

        Returns:
            A value that stands beside the name of a credential (``secret.name``, at the value's
            own path), and a value that is a model response as a whole (``response.object``).
        """
        if is_bare(value) or self._in_path(path):
            return []
        found = []
        beside = labelled(value, path, parts)
        if beside is not None:
            found.append(replace(beside, advice=advice(beside.kind, beside.path)))
        whole = response(value, path)
        return found if whole is None else [*found, whole]

    def beside(self, fields: Mapping[str, object]) -> list[Finding]:
        """Look across the fields of a state for content whose ids stand beside it.

        Args:
            fields: Values of the state by field.
        """
        return beside_ids(fields)

    def text(self, text: str) -> str:
        """Give a text with every secret in it masked, for a message or a log."""
        if len(text) < LEAST:
            return text
        return masked(text, self._secrets(text))

    def _secrets(self, text: str) -> list[Span]:
        """Find the secrets in a name, which is most often one that was seen before."""
        asked = self._names.asked("", text.encode("utf-8", "surrogatepass"))
        if asked.clean:
            return []
        spans = secrets(text, self._known)
        if not spans:
            asked.note()
        return spans

    def _in_path(self, path: Path) -> list[Finding]:
        for position, element in enumerate(path):
            if position and isinstance(element, str) and len(element) >= SHORTEST:
                spans = self._in_key(element)
                if spans:
                    above, kind = path[:position], spans[0].kind
                    said = advice(kind, above, in_key=True)
                    return [Finding(kind, above, spans[0].detail, said, in_key=True)]
        return []

    def _in_key(self, key: str) -> list[Span]:
        if self._keys.knows(key):
            return []
        forms = self._keys.forms
        spans = secrets(key, self._known)
        if not spans:
            self._keys.note(key, forms)
        return spans


def is_bare(value: object) -> bool:
    """Tell at a glance whether a plain container surely gives away nothing by what it consists of.

    Args:
        value: Anything.
    """
    if type(value) is list:
        return len(value) != PAIR
    return type(value) is dict and VALUE not in value and value.keys().isdisjoint(TRIGGERS)
