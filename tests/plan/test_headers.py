"""Headers of packed steps come back as they were."""

from __future__ import annotations

import uuid
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from keepset.plan.headers import PackedHeaders, packed_beside, unpack_headers
from keepset.plan.rows import StepRow
from keepset.providers.ids import new_id

NOW = 1_790_000_000_000
IDS = (
    st.text()
    | st.uuids().map(str)
    | st.uuids().map(lambda one: str(one).upper())
    | st.uuids().map(lambda one: one.hex)
    | st.integers(-(2**50), 2**50).map(lambda now: new_id(max(now, 0)))
    | st.sampled_from([NOW, NOW + 1]).map(new_id)
)
ROWS = st.lists(
    st.tuples(
        IDS,
        st.none() | IDS,
        st.text(),
        st.sampled_from([NOW, NOW + 1]) | st.integers(-(2**62), 2**62),
        st.binary(max_size=9),
    ),
    min_size=1,
    max_size=9,
)


def rows_of(drawn: list[Any]) -> list[StepRow]:
    rows: list[StepRow] = []
    for seq, (own, parent, name, at, metadata) in enumerate(drawn, start=5):
        before = rows[-1].checkpoint if rows else ""
        after = before if parent is None else parent
        rows.append(StepRow(seq, own, after, name, "running", at, metadata, b"", b""))
    return rows


@given(first=ROWS, second=ROWS, compressed=st.booleans())
def test_headers_come_back_whatever_the_host_calls_its_checkpoints(
    *, first: list[Any], second: list[Any], compressed: bool
) -> None:
    rows = rows_of([*first, *second])
    ahead, behind = rows[: len(first)], rows[len(first) :]
    headers = PackedHeaders.of(ahead, {"a": 5, "b": ahead[-1].seq})
    headers = headers.with_more(PackedHeaders.of(behind, {"b": behind[-1].seq}))
    segment = headers.pack(compressed=compressed)
    assert unpack_headers(segment) == rows
    assert packed_beside(segment) == {"a": 5, "b": rows[-1].seq}


def test_an_id_of_keepset_takes_ten_bytes_beside_the_time_of_its_step() -> None:
    rows = rows_of([(new_id(NOW + n), None, "step", NOW + n, b"") for n in range(60)])
    others = [row._replace(checkpoint=str(uuid.uuid4())) for row in rows]
    own = len(PackedHeaders.of(rows, {}).pack(compressed=True).data)
    assert own < 60 * 11 + 150
    other = len(PackedHeaders.of(others, {}).pack(compressed=True).data)
    assert other - own > 60 * 5
