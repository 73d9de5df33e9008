"""From stored rows to the states at several positions of a line, each made from the one before it.

What is loaded for one position holds what many before it consist of as well. A listing so unpacks
each difference once, and not once for each of its states.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any

from keepset.codec import Codec, array_header
from keepset.delta import IN_PLACE, MISSING, apply_all, blob_refs, stands_alone
from keepset.plan.chains import bounded, broken
from keepset.plan.columns import OpenColumn
from keepset.plan.reads import Loaded
from keepset.plan.rows import StepRow
from keepset.plan.steps import split_changes

_ATOMS = frozenset({type(None), bool, int, float, str, bytes})


@dataclass(slots=True)
class _Course:
    """One field's differences that were loaded, and the value as far as they were applied.

    Attributes:
        name: The field.
        previous: Seq of the difference before the first one here; 0 for none.
        seqs: Where they lie, rising.
        ops: The differences, unpacked; each is applied once.
        wholes: Indices of those that stand alone.
        plain: Whether they surely hold values of plain types alone.
        done: How many were applied, or passed over.
        value: The value after these.
    """

    name: str
    previous: int = 0
    seqs: list[int] = field(default_factory=list)
    ops: list[Any] = field(default_factory=list)
    wholes: list[int] = field(default_factory=list)
    plain: bool = True
    done: int = 0
    value: Any = MISSING

    def extend(self, previous: int, seqs: Sequence[int], ops: Sequence[Any]) -> None:
        """Add neighbouring differences, which stand on the last one or have a whole value.

        Where those on which they stand were not loaded, what was is of no use, up to that value:
        what lies in between is not known.

        Raises:
            IntegrityError: They do neither, or are no differences.
        """
        if not {list}.issuperset(map(type, ops)) or not all(ops):
            raise broken(self.name)
        alone = [at for at, op in enumerate(ops) if _may_be_whole(op) and stands_alone(op)]
        if self.seqs and previous != self.seqs[-1]:
            if not alone:
                raise broken(self.name)
            self.seqs, self.ops, self.wholes = [], [], []
            cut = alone[0]
            previous = seqs[cut - 1] if cut else previous
            seqs, ops, alone = seqs[cut:], ops[cut:], [at - cut for at in alone]
        start = len(self.ops)
        if not start:
            self.previous = previous
        self.wholes += [start + at for at in alone]
        self.seqs += seqs
        self.ops += ops

    def begin(self, seq: int) -> bool:
        """Tell whether the value at a position, and at all after it, can be made from this."""
        until = bisect_right(self.seqs, seq)
        if not until:
            return not self.previous
        before = bisect_right(self.wholes, until - 1)
        self.done = self.wholes[before - 1] if before else 0
        return before > 0

    def go_on(self, seq: int, blobs: Mapping[bytes, Any]) -> Any:
        """Give the value at a position that no earlier one is asked for after."""
        until = bisect_right(self.seqs, seq)
        if until > self.done:
            self.value = apply_all(self.value, self.ops[self.done : until], blobs)
            self.done = until
        return self.value

    def refs(self) -> dict[bytes, int]:
        """The large values that are still to be applied: size by digest."""
        ops = [] if self.plain else self.ops[self.done :]
        doubtful = [op for op in ops if op[0] not in IN_PLACE]
        return {ref.digest: ref.size for op in doubtful for ref in blob_refs(op)}


def _may_be_whole(op: list[Any]) -> bool:
    return type(op[0]) is not int or op[0] not in IN_PLACE


class Span:
    """The states at some positions of a line, of which the rows for the last one were loaded.

    Attributes:
        seqs: Those of the positions whose states these rows hold, rising; the last one is always
            among them.
    """

    def __init__(self, loaded: Loaded, seqs: Sequence[int], codec: Codec) -> None:
        """Unpack the differences, each once.

        Args:
            loaded: What was loaded at the last position.
            seqs: The positions, rising; all lie on the line itself.
            codec: Knows the classes of the values.

        Raises:
            IntegrityError: A row is damaged, or a difference has no whole value to stand on.
            DecodeError: The codec cannot read a value.
        """
        self._codec = codec
        self._courses: dict[str, _Course] = {}
        for past, until in reversed(bounded(loaded)):
            for name, rows in groupby(past.segments, attrgetter("field")):
                column = OpenColumn(tuple(rows), until)
                course = self._course(name)
                for segment in column.needed(codec, seqs[0]):
                    course.extend(segment.previous, segment.seqs, segment.ops)
                    course.plain = course.plain and segment.plain
            self._add_steps(past.steps)
        self.seqs = self._held(seqs)

    def _held(self, seqs: Sequence[int]) -> Sequence[int]:
        """Give the positions whose states are held; that of the last one has to be."""
        courses = list(self._courses.values())
        for at, seq in enumerate(seqs):
            if all(course.begin(seq) for course in courses):
                return seqs[at:]
        raise broken(next(course.name for course in courses if not course.begin(seqs[-1])))

    def _course(self, name: str) -> _Course:
        course = self._courses.get(name)
        if course is None:
            course = self._courses[name] = _Course(name)
        return course

    def _add_steps(self, steps: Sequence[StepRow]) -> None:
        """Add the differences of unpacked steps; those of a field are unpacked in one call."""
        loose: dict[str, list[tuple[int, int, bytes]]] = {}
        for step in steps:
            for name, (previous, packed) in split_changes(step).items():
                loose.setdefault(name, []).append((step.seq, previous, packed))
        for name, found in loose.items():
            course = self._course(name)
            joined = b"".join((array_header(len(found)), *[packed for *_, packed in found]))
            ops, plain = self._codec.unpack_noting(joined)
            for (seq, previous, _), op in zip(found, ops, strict=True):
                course.extend(previous, (seq,), (op,))
            course.plain = course.plain and plain

    def refs(self) -> dict[bytes, int]:
        """The large values that the states refer to: size by digest."""
        return {d: size for c in self._courses.values() for d, size in c.refs().items()}

    def states(self, blobs: Mapping[bytes, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Give each position with its state, the oldest first; to be called once.

        No two states have anything in common that could change.

        Args:
            blobs: The large values; each look-up gives one of its own.

        Raises:
            IntegrityError: A difference does not fit the value that it stands on.
        """
        copy, last = self._codec.copy, self.seqs[-1]
        for seq in self.seqs:
            state: dict[str, Any] = {}
            for name, course in self._courses.items():
                value = course.go_on(seq, blobs)
                if value is not MISSING:
                    own = type(value) in _ATOMS or seq == last
                    state[name] = value if own else copy(value)
            yield seq, state
