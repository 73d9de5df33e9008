"""Look at a value once: detectors, types, leftovers. What comes again is known by its bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any, Final

from keepset.audit.eyes import Closer, Eye
from keepset.audit.places import place
from keepset.audit.seen import LEFTOVER, Seen, Spot, is_flags, kind_of, together
from keepset.audit.taking import Taken, packed, take
from keepset.audit.texts import Path
from keepset.readers.ports import Foreign
from keepset.scan import Finding, Scanner
from keepset.verdict import reasons

MOST_KNOWN: Final = 20_000
"""Values that are remembered; the oldest half is forgotten when there are more."""

_MOST_KEYS: Final = 2_000
_MOST_LISTS: Final = 64
"""Lists that are kept to be compared with the next step's; each field has one."""
ID: Final = "run"
"""Where something lies that is in the id of a run."""
_NOTHING: Final[dict[str, Seen]] = {}

_Look = tuple[Seen, int | None]
"""What was seen in a value, and its digest."""


class Looker:
    """Looks at values; what it remembers is bounded, and holds no value."""

    def __init__(self, scanner: Scanner, eyes: Sequence[Eye] = ()) -> None:
        """Take the detectors, and eyes that look closer."""
        self._scanner = scanner
        self._closer = Closer(eyes, scanner)
        self._known: dict[bytes, Seen] = {}
        self._keys: dict[tuple[str, int], bytes] = {}
        self._told: dict[tuple[str, ...], str] = {}
        self._lists: dict[tuple[str, str], tuple[list[Any], list[_Look]]] = {}

    def look(self, field: str, value: object, beside: str = "") -> _Look:
        """Look at the value of a field.

        Args:
            field: Its name.
            value: The value, as a reader gives it.
            beside: What tells it from other values of that name in a run: its surface and graph.

        Returns:
            What was seen in it, and a digest by which an equal value is known; None where the
            value has none.
        """
        if type(value) is list and value:
            return self._list(field, value, beside)
        return self._one(field, value, (field,))

    def look_at_id(self, run: str) -> Mapping[Spot, int]:
        """Look closer at the id of a run, which may be an address; only eyes do so."""
        if not self._closer.has_eyes:
            return {}
        path = (ID,)
        found = self._scanner.leaves(run, path, name=ID, parts=_no_parts)
        return self._counted(self._closer.look(run, path, found))

    def told(self, name: str, *above: str) -> str:
        """Give a name as it may be told: of what any detector that looks has found, a mark alone.

        Args:
            name: The name of a run, a field, a type …
            above: The names that it stands under.
        """
        key = (*above, name)
        told = self._told.get(key)
        if told is None:
            told = self._scanner.text(name)
            told = "*" if self._closer.look_at_name(told, above) else told
            if len(self._told) >= _MOST_KEYS:
                self._told.clear()
            self._told[key] = told
        return told

    def shown(self, name: str) -> str:
        """Give the name of a field as it is told: with a star for an address as well."""
        told = self.told(name)
        return "*" if "@" in told else told

    def look_at_name(self, name: str) -> Mapping[Spot, int]:
        """Look for secrets in the name of a field, which of a mapping of one's own is data."""
        found = self._scanner.leaves({name: None}, (ID,), name="", parts=_no_parts)
        found += self._closer.look_at_name(self._scanner.text(name), ())
        return {Spot(one.kind, self.shown(name), one.detail): 1 for one in found}

    def forget_run(self) -> None:
        """Let go of the lists of a run that was read; what was seen in values is kept."""
        self._lists.clear()

    def beside(self, values: Mapping[str, object]) -> list[Finding]:
        """Look across the fields of a state for content whose ids stand beside it."""
        return self._scanner.beside(values)

    def _list(self, field: str, items: list[Any], beside: str) -> _Look:
        """Look at each item by itself: in the next step most of them are there again."""
        looks = self._looks(field, items, beside)
        whole: int | None = len(items)
        digests = blake2b(digest_size=8)
        for _, digest in looks:
            if digest is None:
                whole = None
            else:
                digests.update(digest.to_bytes(8, "big"))
        parts = [seen for seen, _ in looks]
        if any(part.spots or part.types or part.unreadable or part.metadata for part in parts):
            seen = together(parts, "list")
        else:
            seen = _nothing("list")
        seen = self._pair(field, items, seen)
        return seen, None if whole is None else int.from_bytes(digests.digest(), "big")

    def _looks(self, field: str, items: list[Any], beside: str) -> list[_Look]:
        """Look at items; one that is the same object as in the step before is known by that."""
        key = field, beside
        before, known = self._lists.get(key, ([], []))
        same = min(len(before), len(items))
        looks = [
            known[index]
            if index < same and before[index] is item
            else self._one(field, item, (field, index))
            for index, item in enumerate(items)
        ]
        if len(self._lists) >= _MOST_LISTS:
            self._lists.clear()
        self._lists[key] = items, looks
        return looks

    def _pair(self, field: str, items: list[Any], seen: Seen) -> Seen:
        """Look at what only two items side by side give away."""
        found = self._scanner.container(items, (field,), parts=_no_parts)
        if not found:
            return seen
        return Seen(
            {**seen.spots, **self._counted(found)},
            seen.against,
            seen.types,
            seen.unreadable,
            seen.metadata,
            seen.kind,
        )

    def _one(self, field: str, value: object, path: tuple[str | int, ...]) -> _Look:
        data = packed(value)
        if data is None:
            return self._fresh(field, value, path), None
        # What a text means depends on the field that it stands in, and on being an item there.
        key = blake2b(data, digest_size=16, key=self._key(field, len(path))).digest()
        digest = int.from_bytes(key[:8], "big")
        seen = self._known.get(key)
        if seen is None:
            seen = self._fresh(field, value, path)
            self._remember(key, seen)
        return seen, digest

    def _key(self, field: str, depth: int) -> bytes:
        found = self._keys.get((field, depth))
        if found is None:
            name = field.encode("utf-8", "surrogatepass")
            found = blake2b(name, digest_size=32).digest() + depth.to_bytes(2, "big")
            if len(self._keys) >= _MOST_KEYS:
                self._keys.clear()
            self._keys[field, depth] = found
        return found

    def _remember(self, key: bytes, seen: Seen) -> None:
        if len(self._known) >= MOST_KNOWN:
            for old in list(islice(self._known, MOST_KNOWN // 2)):
                del self._known[old]
        self._known[key] = seen

    def _fresh(self, field: str, value: object, path: tuple[str | int, ...]) -> Seen:
        taken = take(value, path)
        taken.leftovers = [(at, self.told(named), whole) for at, named, whole in taken.leftovers]
        found = self._scanner.leaves(taken.value, path, name=field, parts=_no_parts)
        closer = self._closer.look(taken.value, path, found)
        found += closer
        kind = "object" if type(value) is Foreign else kind_of(taken.value)
        if not (found or taken.types or taken.unreadable or taken.metadata or taken.leftovers):
            if kind in {"flag", "mapping"} or not taken.value:
                return _plain(taken.value, kind)
            return _nothing(kind)
        return Seen(
            spots=self._counted(found, taken.leftovers, {one.path for one in closer if one.in_key}),
            against=_against(found, taken, path),
            types={self.told(name): times for name, times in taken.types.items()},
            unreadable=dict(taken.unreadable),
            metadata=dict(taken.metadata),
            kind=kind,
            is_flags=is_flags(taken.value),
            is_empty=_is_empty(taken.value),
        )

    def _counted(
        self,
        found: Iterable[Finding],
        leftovers: Iterable[tuple[Path, str, bool]] = (),
        hidden: Collection[Path] = (),
    ) -> dict[Spot, int]:
        every = [(one.kind, one.path, one.detail) for one in found]
        every += [(LEFTOVER, where, named) for where, named, _ in leftovers]
        spots: dict[Spot, int] = {}  # a Counter takes three times as long, for one or two
        for kind, path, detail in every:
            spot = Spot(kind, self._place(path, hidden), detail)
            spots[spot] = spots.get(spot, 0) + 1
        return spots

    def _place(self, path: Path, hidden: Collection[Path]) -> str:
        """Write a path without the keys in it that hold what is not to be told."""
        steps = [
            "*"
            if at
            and isinstance(step, str)
            and (path[: at + 1] in hidden or self.told(step) != step)
            else step
            for at, step in enumerate(path)
        ]
        return place(tuple(steps))


def _no_parts(value: object) -> None:
    """Say that nothing but plain containers has parts: all else was taken apart before."""
    del value


def _nothing(kind: str) -> Seen:
    """Give what is seen in a value in which there is nothing; most values share it."""
    if kind not in _NOTHING:
        _NOTHING[kind] = Seen({}, {}, {}, {}, {}, kind)
    return _NOTHING[kind]


def _plain(value: object, kind: str) -> Seen:
    flags, empty = is_flags(value), _is_empty(value)
    if not flags and not empty:
        return _nothing(kind)
    return Seen({}, {}, {}, {}, {}, kind, is_flags=flags, is_empty=empty)


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str | bytes | list | tuple | dict) and not value)


def _against(found: Iterable[Finding], taken: Taken, path: tuple[str | int, ...]) -> dict[str, str]:
    """Give what speaks against a value as a whole: it itself, or each of what it consists of."""
    by_kind: dict[str, set[str | int]] = {}
    against: dict[str, str] = {}
    details: dict[str, str] = {}
    depth = len(path)
    for finding in found:
        if not finding.whole:
            continue
        details.setdefault(finding.kind, finding.detail)
        if len(finding.path) == depth:
            against.setdefault(finding.kind, finding.detail)
        else:
            by_kind.setdefault(finding.kind, set()).add(finding.path[depth])
    for where, named, whole in taken.leftovers:
        if whole and len(where) == depth:
            against.setdefault(reasons.HANDLE, named)
    children = _children(taken.value)
    for kind, hit in by_kind.items():
        if children and hit >= children:
            against.setdefault(kind, details[kind])
    return against


def _children(value: object) -> set[str | int]:
    if type(value) is dict:
        return {key for key in value if isinstance(key, str | int)}
    if isinstance(value, list | tuple):
        return set(range(len(value)))
    return set()
