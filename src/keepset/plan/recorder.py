"""What changed of each field, and what of it may be stored: one field of one save at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from keepset.codec import Path, array_header, pack_plain, portions_of
from keepset.contracts import Field
from keepset.delta import (
    CHUNK,
    LARGE,
    Change,
    Flat,
    Frozen,
    Hashed,
    Rolled,
    appended,
    diff,
    extends,
    freeze,
    whole,
)
from keepset.errors import PolicyError
from keepset.plan.guard import Guard, has_budget
from keepset.plan.large import Large
from keepset.plan.memory import NEVER, FieldMemory, LineMemory, Picture, Shown
from keepset.plan.pictured import Pictured
from keepset.scan import Finding

_PAIR = 2


class Recorder:
    """Records the fields of one save.

    Attributes:
        guard: The detectors and what becomes of what they find.
        codec: The codec of the contract.
        memory: What the writer remembers of the line.
        compressed: Whether large values and segments are compressed.
        findings: What was found so far.
        large: The large values that were taken out so far.
    """

    __slots__ = ("codec", "compressed", "findings", "guard", "large", "memory")

    def __init__(self, guard: Guard, memory: LineMemory, compressed: bool = True) -> None:  # noqa: FBT001, FBT002 - made once a save
        """Begin with the large values that the writer knows to be stored."""
        self.guard = guard
        self.codec = guard.codec
        self.memory = memory
        self.compressed = compressed
        self.findings: list[Finding] = []
        self.large = Large(guard.codec, memory.blobs, compressed=compressed)

    def record(self, spec: Field, value: Any) -> tuple[FieldMemory, Change | None]:
        """Record one field that the state has.

        Returns:
            The field's memory after the save, and the difference; None where nothing changed.

        Raises:
            PolicyError: The value cannot be stored or does not belong.
        """
        before = self.memory.fields.get(spec.name)
        if isinstance(value, Pictured):
            return self._pictured(spec, value, before)
        if before is not None and before.stored is not None and not self.memory.whole:
            if before.held is value:
                return before, None
            way = _WAYS.get(type(value))  # None where only whole pictures can tell
            quickly = way(self, spec, value, before) if way else None
            quickly = quickly or self._unchanged(value, before)
            if quickly is not None:
                return quickly
        after, change = self._whole_picture(spec, value, before, self._picture(spec, value))
        # Of what may only grow, all that was there has to be looked at.
        return (after if self.guard.trusts(spec) else after.flat(value)), change

    def _counted(
        self, spec: Field, value: Any, before: FieldMemory
    ) -> tuple[FieldMemory, Change | None] | None:
        """Record a number, in which there is nothing to find."""
        known = before.raw
        if known is not before.stored or not isinstance(known, Frozen) or self.guard.trusts(spec):
            return None
        data = pack_plain(value)
        if data == known.data:
            return before, None
        now = Frozen(data)
        return self._kept(spec, before, now, now, whole(now))

    def _whole_picture(
        self, spec: Field, value: Any, before: FieldMemory | None, raw: Frozen | None
    ) -> tuple[FieldMemory, Change | None]:
        """Record a value by a picture of the whole of it."""
        old = before.raw.frozen if before and before.raw else None
        known = before.raw if before and not self._whole(before) else None
        if before and raw and isinstance(known, Hashed) and known.shows((raw.data,)):
            return before, None
        if not old or not raw:
            return self._stored_anew(spec, value, before, raw)
        if extends(raw, old):
            after, change = self._compared(spec, value, before or NEVER, old, raw)
            return after.rolled(), change
        if self.guard.trusts(spec):  # a marker may stand where the state has the secret again
            return self._stored_anew(spec, value, before, raw)
        return self._compared(spec, value, before or NEVER, old, raw)

    def _pictured(
        self, spec: Field, value: Pictured, before: FieldMemory | None
    ) -> tuple[FieldMemory, Change | None]:
        """Record a value of which somebody took a picture before it could change."""
        now = value.picture
        if before and not self._whole(before):
            if now is before.raw:
                return before, None
            if isinstance(now, Rolled) and isinstance(before.raw, Rolled):
                fresh = now.beyond(before.raw)
                clean = fresh is not None and self._is_clean(spec, fresh, now.count)
                items = None if clean else value.value
                grown = fresh and self._more(spec, items, before, fresh, now)
                if grown:
                    return grown
        after, change = self._whole_picture(spec, value.value, before, now.frozen)
        # The same object as the next one is made of, so that the two are compared at a glance.
        stored = now if after.stored is after.raw else after.stored
        return after._replace(raw=now, stored=stored), change

    def _compared(
        self, spec: Field, value: Any, before: FieldMemory, old: Frozen, raw: Frozen
    ) -> tuple[FieldMemory, Change | None]:
        """Record a value of which the whole picture was taken, before and now."""
        if not self._whole(before):
            seen = self.large.apart() if raw.size > LARGE else None
            change = diff(old, raw, move=seen.move if seen else None)
            if change is None:
                return before, None
            if before.raw is before.stored and not self._withholds(spec, value, change, raw):
                if seen:
                    self.large.take(seen)
                return self._kept(spec, before, raw, raw, change)
        return self._stored_anew(spec, value, before, raw)

    def _entries(
        self, spec: Field, value: dict[Any, Any], before: FieldMemory
    ) -> tuple[FieldMemory, Change | None] | None:
        """Record a flat mapping of which at most some entries were set."""
        known = before.raw
        if not isinstance(known, Flat) or known is not before.stored:
            return None
        try:
            found = known.compared(value)
        except PolicyError:  # what is said of the whole mapping has the right path
            return None
        if found is None:
            return None
        now, change = found
        if change is None:
            return before, None
        if self._withholds(spec, value, change, None):
            return None
        return self._kept(spec, before, now, now, change)

    def _grown(
        self, spec: Field, value: list[Any], before: FieldMemory
    ) -> tuple[FieldMemory, Change | None] | None:
        """Record a long list that has at most grown; None where only the whole picture can tell.

        A list that is declared to grow only is compared by samples.
        """
        trusted = self.guard.trusts(spec)
        if trusted:
            before = before.rolled()
        raw, stored = before.raw, before.stored
        if not isinstance(raw, Rolled) or not isinstance(stored, Rolled):
            return None
        sample = self.memory.seq if trusted else None
        if not raw.begins(value, self.codec.begins_as, sample):
            return None
        if len(value) == raw.count:
            return before, None
        try:
            fresh = freeze(value[raw.count :], self.codec.pack)
        except PolicyError:  # what is said of the whole list has the right path
            return None
        now = raw.grown(fresh, wide=not trusted)
        return self._more(spec, value, before, fresh, now)

    def _is_clean(self, spec: Field, fresh: Frozen, count: int) -> bool:
        """Tell whether the last items of a list were looked at before, and held nothing.

        Of a list of two the items together may give away what none does alone.
        """
        packed = parts_of(fresh)
        return (
            packed is not None
            and count > _PAIR
            and all(self.guard.knows(spec, (spec.name,), data) for data in packed)
        )

    def _more(
        self, spec: Field, value: list[Any] | None, before: FieldMemory, fresh: Frozen, now: Rolled
    ) -> tuple[FieldMemory, Change | None] | None:
        """Record the items that have come to a long list, of which `now` is the whole picture.

        The list itself is None where they are known to be clean.
        """
        raw, stored = before.raw, before.stored
        if not fresh.count:
            return before._replace(raw=now, stored=now if raw is stored else stored), None
        kept, findings = self._added(spec, value, now.count - fresh.count, fresh)
        if kept is None or not isinstance(stored, Rolled):
            return None
        then = now if raw is stored and kept is fresh else stored.grown(kept)
        change = appended(stored.count, kept, self.large.move)
        return self._kept(spec, before, now, then, change, findings=findings)

    def _added(
        self, spec: Field, value: list[Any] | None, start: int, fresh: Frozen
    ) -> tuple[Frozen | None, list[Finding]]:
        """Look at items at the end of a list; give what is stored of them, and the findings.

        Nothing of them is stored alone where a finding is about more than they are.
        """
        if value is None:
            return fresh, []
        findings = self.guard.look_around(spec, value) if len(value) == _PAIR else []
        # What a task has written was looked at then; without tasks there is nothing to know again.
        packed = parts_of(fresh) if self.guard.scanner.remembers else None
        for index in range(start, len(value)):
            data = packed[index - start] if packed else None
            findings += self.guard.look(spec, value[index], (spec.name, index), data)
        put = self.guard.decide(spec, value, (spec.name,), findings)
        if not put:
            return fresh, findings
        pieces = [array_header(fresh.count)]
        for index in range(start, len(value)):
            path = (spec.name, index)
            pieces.append(self.codec.pack(value[index], path, substitute=put))
        inside = all(len(path) > 1 and path[1] in range(start, len(value)) for path in put)
        return (Frozen(b"".join(pieces)) if inside else None), findings

    def _unchanged(self, value: Any, before: FieldMemory) -> tuple[FieldMemory, None] | None:
        """Record a value that is what it was, without a picture of it; None for any other."""
        raw = before.raw
        if isinstance(raw, Hashed):
            return (before, None) if self._shows(value, raw) else None
        if not isinstance(raw, Frozen) or not self.codec.packs_as(value, raw.data):
            return None
        if type(value) is list and raw.size >= CHUNK:
            return before.rolled(), None
        return before.holding(value), None

    def _shows(self, value: Any, raw: Hashed) -> bool:
        """Tell whether a value is what it was, of which there is a picture by digest alone."""
        try:
            return raw.shows(portions_of(value, self.codec.pack))
        except PolicyError:  # what is said of the whole value has the right path
            return False

    def _picture(self, spec: Field, value: Any) -> Frozen | None:
        """Freeze the value as it stands; None where only a part of it can be stored."""
        codec, name = self.codec, spec.name
        try:
            return freeze(value, lambda child, path: codec.pack(child, (name, *path)))
        except PolicyError as error:
            if error.code != "codec.secret-type":
                raise
            return None

    def _withholds(self, spec: Field, value: Any, change: Change, raw: Frozen | None) -> bool:
        """Look at what is new; tell whether there is a secret, so that all is looked at again."""
        findings = self.guard.look_around(spec, value) if () not in change.touched else []
        for path in change.touched:
            packed = raw.data if raw and not path else None
            findings += self.guard.look(spec, _at(value, path), (spec.name, *path), packed)
        if not findings:
            return False
        if any(finding.kind.startswith("secret.") for finding in findings):
            return True
        self.guard.decide(spec, value, (spec.name,), findings)
        self.findings += findings
        return False

    def _stored_anew(
        self, spec: Field, value: Any, before: FieldMemory | None, raw: Frozen | None
    ) -> tuple[FieldMemory, Change | None]:
        """Look at the whole value, put markers in place of secrets, and compare what is stored."""
        path: Path = (spec.name,)
        findings = self._looked(spec, value, raw)
        put = self.guard.decide(spec, value, path, findings)
        codec = self.codec
        if put.get(path) is not None:
            stored = freeze(put[path], lambda child, rest: codec.pack(child, (*path, *rest)))
        elif put or raw is None:
            stored = freeze(
                value, lambda child, rest: codec.pack(child, (*path, *rest), substitute=put)
            )
        else:
            stored = raw
        self._note(spec, stored, findings)  # before what has to grow is refused
        past = before.stored.frozen if before and before.stored else None
        shrunk = before.stored if before and isinstance(before.stored, Hashed) else None
        if (past and not extends(stored, past)) or (shrunk and not shrunk.begins(stored)):
            self.guard.require_growth(spec)
        old = None if self.memory.whole else past
        change = diff(old, stored, move=self.large.move) if old else whole(stored, self.large.move)
        if change is None and before:
            return before._replace(raw=raw, stored=stored), None
        change = change or whole(stored, self.large.move)
        return (before or NEVER).after(raw, stored, change, self.memory.seq + 1, self.large)

    def _looked(self, spec: Field, value: Any, raw: Frozen | None) -> list[Finding]:
        """Look at a whole value; of a list of large items, at those that were not seen lately."""
        path = (spec.name,)
        large = type(value) is list and raw and raw.size > LARGE * len(value) > LARGE * _PAIR
        packed = parts_of(raw) if large and raw else None
        if packed:
            found = self.guard.look_around(spec, value)
            for index, data in enumerate(packed):
                found += self.guard.look(spec, value[index], (*path, index), data)
            if not found:
                return []
        return self.guard.look(spec, value, path, raw.data if raw else None)

    def _kept(  # noqa: PLR0913 - a field before and after
        self,
        spec: Field,
        before: FieldMemory,
        raw: Picture,
        stored: Shown,
        change: Change,
        *,
        findings: Sequence[Finding] = (),
    ) -> tuple[FieldMemory, Change]:
        if findings or has_budget(spec):
            self._note(spec, stored, findings)
        return before.after(raw, stored, change, self.memory.seq + 1, self.large)

    def _whole(self, before: FieldMemory) -> bool:
        return self.memory.whole or before.stored is None

    def _note(self, spec: Field, stored: Picture, findings: Sequence[Finding]) -> None:
        self.findings += findings
        self.findings += self.guard.weigh(spec, stored.size)


_WAYS: Final[Mapping[type, Callable[..., tuple[FieldMemory, Change | None] | None]]] = {
    **dict.fromkeys((type(None), bool, int, float), Recorder._counted),  # noqa: SLF001 - its own
    list: Recorder._grown,  # noqa: SLF001 - its own
    dict: Recorder._entries,  # noqa: SLF001 - its own
}
"""How values of kinds that change often are recorded; None comes of it where that cannot tell."""


def parts_of(picture: Frozen) -> list[memoryview] | None:
    """Give the packed items of a list; None where they cannot be told apart."""
    if picture.count == 1:
        return [memoryview(picture.data)[picture.start :]]
    items = picture.items()
    return None if items is None else [memoryview(item) for item in items]


def _at(value: Any, path: Path) -> Any:
    for element in path:
        value = value[element]
    return value
