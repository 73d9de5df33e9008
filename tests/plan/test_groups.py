"""How the differences of a field become segments, and come back from them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.codec import Codec
from keepset.errors import IntegrityError
from keepset.plan import groups
from keepset.plan.columns import FieldSegment, OpenColumn, read_column
from keepset.plan.groups import Body, Group
from keepset.plan.rows import SegmentRow

CODEC = Codec()
LIMITS = {"SMALL": 60, "LEAST": 64, "WINDOW": 400, "OBSOLETE": 250, "MOST_STEPS": 6}


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    """Everything that takes kilobytes takes tens of bytes here."""
    with pytest.MonkeyPatch.context() as patch:
        for name, limit in LIMITS.items():
            patch.setattr(groups, name, limit)
        yield


class Line:
    """A field of a line as it is written: its segments by first seq, and what its writer knows."""

    def __init__(self) -> None:
        self.rows: dict[int, SegmentRow] = {}
        self.group: Group | None = None
        self.said: list[tuple[int, int, Any]] = []
        self.base = 0

    def add(self, texts: list[tuple[str, bool]], *, skip: int = 0) -> None:
        """Pack differences of neighbouring steps; those that are whole stand alone."""
        seqs, ops = [], []
        previous = self.said[-1][0] if self.said else 0
        bases = []
        for at, (text, whole) in enumerate(texts):
            seq = previous + 1 + at + skip
            op = [0, text] if whole or not self.base else [2, 0, 0, [text]]
            self.base = seq if op[0] == 0 else self.base
            bases.append(self.base)
            self.said.append((seq, self.base, op))
            seqs.append(seq)
            ops.append(CODEC.pack(op))
        body = Body.of(seqs, bases[0], previous, *ops)
        self.group = self.group.after(body) if self.group else Group.beginning(body)
        row = self.group.pack("field", compressed=True)
        self.rows[row.first] = row

    def needed(self, newest: SegmentRow) -> list[SegmentRow]:
        """The rows that a backend gives a reader whose position lies in `newest`."""
        before = [row for row in self.rows.values() if row.first <= newest.base]
        start = before[-1].start if before else 0
        return [row for row in self.rows.values() if start <= row.first <= newest.first]


def pairs_of(segments: list[FieldSegment]) -> list[tuple[int, Any]]:
    return [pair for segment in segments for pair in zip(segment.seqs, segment.ops, strict=True)]


PACKS = st.lists(
    st.tuples(
        st.lists(
            st.tuples(st.sampled_from("abcd").map(lambda one: one * 30) | st.text(), st.booleans()),
            min_size=1,
            max_size=4,
        ),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=25,
)


def line_of(packs: list[tuple[list[tuple[str, bool]], int]]) -> Line:
    line = Line()
    for texts, skip in packs:
        line.add(texts, skip=skip)
    return line


@given(PACKS)
def test_all_that_was_packed_is_read_back(packs: list[Any]) -> None:
    line = line_of(packs)
    read = read_column(tuple(line.rows.values()), CODEC)
    assert pairs_of(read) == [(seq, op) for seq, _, op in line.said]
    links = [segment.previous for segment in read]
    assert links == [0, *(segment.seqs[-1] for segment in read[:-1])]


@given(PACKS)
def test_every_position_is_read_from_the_rows_that_its_newest_one_asks_for(
    packs: list[Any],
) -> None:
    line = line_of(packs)
    for newest in line.rows.values():
        for until in range(newest.first, newest.last + 1):
            pairs = pairs_of(OpenColumn(line.needed(newest), until).needed(CODEC))
            base = max(base for seq, base, _ in line.said if seq <= until)
            wanted = [(seq, op) for seq, _, op in line.said if base <= seq <= until]
            assert [pair for pair in pairs if pair[0] >= base] == wanted


@given(PACKS, PACKS)
def test_who_has_read_goes_on_like_who_has_written(packs: list[Any], more: list[Any]) -> None:
    """And reads no more than it needs to for that."""
    line = line_of(packs)
    newest = list(line.rows.values())[-1]
    again = line_of(packs)
    again.group = OpenColumn(line.needed(newest), newest.last).group(CODEC)
    for texts, skip in more:
        line.add(texts, skip=skip)
        again.add(texts, skip=skip)
    assert line.rows == again.rows


def long_line() -> Line:
    line, chance = Line(), random.Random(3)  # noqa: S311 - text for a test, no secret
    words = [f"{chance.randrange(1 << 30):x}" for _ in range(12)]
    for _ in range(14):
        line.add([(" ".join(chance.choices(words, k=8)), not line.said)])
    return line


def test_a_segment_that_later_ones_repeat_is_missed_by_them() -> None:
    line = long_line()
    rows = tuple(line.rows.values())
    assert rows[-1].data[:1] == groups.REFERS, "control: it does repeat bytes of others"
    assert {row.start for row in rows} == {1}
    for gone in range(len(rows) - 2):
        left = [row for at, row in enumerate(rows) if at != gone]
        with pytest.raises(IntegrityError) as caught:
            read_column(left, CODEC)
        assert "field" in caught.value.message


def test_a_row_that_was_changed_is_named_and_no_other() -> None:
    rows = tuple(long_line().rows.values())
    for at, row in enumerate(rows):
        flipped = replace(row, data=row.data[:-1] + bytes([row.data[-1] ^ 1]))
        alone = replace(row, start=row.first if at else 2)
        for changed in (flipped, alone):
            with pytest.raises(IntegrityError) as caught:
                read_column([*rows[:at], changed, *rows[at + 1 :]], CODEC)
            assert f"segment field from step {row.first} " in caught.value.message


def test_a_group_ends_when_what_is_obsolete_outgrows_what_may_be_unpacked_for_nothing() -> None:
    line = Line()
    for number in range(30):
        line.add([(f"{number}" * 40, True)])
    for newest in line.rows.values():
        unpacked = sum(len(row.data) for row in line.needed(newest)[:-1])
        assert unpacked <= LIMITS["OBSOLETE"] + 100
    assert len({row.start for row in line.rows.values()}) > 3


def test_a_list_that_only_grows_is_one_group() -> None:
    line = Line()
    for number in range(60):
        line.add([(f"{number}" * 40, number == 0)])
    assert {row.start for row in line.rows.values()} == {1}


def test_the_newest_segment_is_written_again_only_while_it_is_small() -> None:
    line = Line()
    line.add([("a", True)])
    line.add([("b", False)])
    assert list(line.rows) == [1]
    line.add([("c" * 100, False)])
    line.add([("d", False)])
    assert list(line.rows) == [1, 4]


def test_a_store_that_does_not_compress_writes_the_bytes_as_they_are() -> None:
    group = long_line().group
    assert group is not None
    assert group.reference is not None
    assert group.pack("field", compressed=False).data == b"\x00" + group.newest.data
