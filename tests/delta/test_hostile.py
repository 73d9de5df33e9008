"""An op that does not fit, or is none, is an IntegrityError and nothing else."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepset.codec import BlobRef
from keepset.delta import MISSING, apply, blob_refs, stands_alone
from keepset.errors import IntegrityError
from tests.delta.values import CODEC, STATES, VALUES, changed, mutated, replay, same

REF = BlobRef(b"\x02" * 32, 9)
PARTS = st.recursive(
    st.integers(-2, 9) | VALUES | st.just(REF),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=12,
)
OPS = st.lists(PARTS, max_size=7).flatmap(
    lambda parts: st.integers(-1, 10).map(lambda code: [code, *parts])
)


def refused(value: object, op: object) -> IntegrityError:
    with pytest.raises(IntegrityError) as caught:
        apply(value, op, {})
    assert caught.value.code == "delta.mismatch"
    assert caught.value.hint
    return caught.value


@settings(max_examples=300, deadline=None)
@given(STATES | st.just(MISSING), OPS | PARTS)
def test_made_up_ops_are_applied_or_refused(value: Any, op: Any) -> None:
    with contextlib.suppress(IntegrityError):
        blob_refs(op)
    with contextlib.suppress(IntegrityError):
        apply(value, op, {REF.digest: 1})


@settings(max_examples=200, deadline=None)
@given(STATES, STATES, st.data())
def test_real_ops_on_another_value_or_with_an_edit_are_applied_or_refused(
    old: Any, other: Any, data: Any
) -> None:
    new = mutated(data.draw, old)
    if not same(old, new):
        op: Any = CODEC.unpack(changed(old, new).op)
        for value, tried in ((other, op), (old, mutated(data.draw, op))):
            with contextlib.suppress(IntegrityError):
                apply(CODEC.unpack(CODEC.pack(value)), CODEC.unpack(CODEC.pack(tried)), {})


@pytest.mark.parametrize(
    ("value", "op"),
    [
        ([1], [2, 2, 0, [5]]),
        ([1], [2, 0, 2, []]),
        ([1], [2, -1, 1, []]),
        ([1], [2, 0, -1, []]),
        ([1], [2, 0, 0, "text"]),
        ([1], [2, True, 0, []]),
        ([1], [2, 0, 0]),
        ([1], [2]),
        ([1, 2], [2, 1, 1, [], 0, 1, []]),
        ([1, 2], [2, 0, 2, [], 1, 1, []]),
        ((1,), [2, 0, 0, [5]]),
        ({"a": 1}, [3, ["b"], {}]),
        ({"a": 1}, [3, [["a"]], {}]),
        ({"a": 1}, [3, "a", {}]),
        ({"a": 1}, [3, [], {1: 2}]),
        ({"a": 1}, [3, [], {}, ["b"]]),
        ({"a": 1}, [3, ["a", "a"], {}]),
        ("abc", [4, 2, 2, ""]),
        ("abc", [4, 0, 0, b"x"]),
        ([[1]], [5, 1, [2, 0, 1, []]]),
        ([[1]], [5, -1, [2, 0, 1, []]]),
        ([[1]], [5, 0, [1]]),
        ([[1]], [5, 0]),
        ({"a": 1}, [5, 0, [0, 1]]),
        ([1], [8, 0, [0, 1]]),
        ([1], [8, 0, REF]),
        ([1], [7, REF]),
        ([1], [7]),
        ([1], [0]),
        (1, [1, 1]),
        (MISSING, [2, 0, 0, [1]]),
        ([1], [9]),
        ([1], [-1]),
        ([1], [True]),
        ([1], [[0]]),
        ([1], []),
        ([1], {0: 1}),
        ([1], None),
    ],
)
def test_an_op_that_does_not_fit_is_refused(value: Any, op: Any) -> None:
    refused(value, op)


def test_the_error_names_the_kind_of_op_and_no_value() -> None:
    error = refused(["private"], [3, ["private"], {"private": "private"}])
    assert "MAP" in error.message
    assert "private" not in str(error)


@pytest.mark.parametrize("wrap", [lambda op: [6, op], lambda op: [5, 0, op]])
def test_ops_nested_without_end_are_refused(wrap: Any) -> None:
    op: list[Any] = [0, 1]
    value: list[Any] = [1]
    for _ in range(250):
        op, value = wrap(op), [value]
    refused(value, op)
    with pytest.raises(IntegrityError):
        blob_refs(op)


def test_what_is_not_an_op_neither_stands_alone_nor_has_references() -> None:
    for op in (None, [], [[0]], [99]):
        with pytest.raises(IntegrityError):
            stands_alone(op)
        with pytest.raises(IntegrityError):
            blob_refs(op)


@pytest.mark.parametrize("levels", [1, 7, 8, 9, 40])
def test_a_change_at_any_depth_gives_an_op_that_is_applied(levels: int) -> None:
    def nested(leaf: str) -> list[Any]:
        value: list[Any] = [leaf, "a" * 200, leaf]
        for _ in range(levels):
            value = [value, "b" * 200, leaf]
        return value

    assert same(replay(nested("1"), changed(nested("1"), nested("2"))), nested("2"))
