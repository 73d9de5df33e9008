"""What changed of a long text is found in its bytes, exactly, and is as little as it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.delta import MISSING, apply, diff, whole
from keepset.delta.long_texts import LONG, MOST, spliced
from keepset.delta.script import strip
from tests.delta.values import CODEC, picture, same

TEXTS = st.lists(
    st.sampled_from(["a", "ab", "é", "è", "中", "丮", "\U0001f600", "\U0001f601"])
).map("".join)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_it_is_what_is_found_in_the_texts(head: str, old: str, new: str, tail: str) -> None:
    before, after = head + old + tail, head + new + tail
    first, last = strip(before, after)
    assert spliced(picture(before), picture(after)) == (
        first,
        before[first : len(before) - last],
        after[first : len(after) - last],
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + "more",
        lambda text: "first " + text,
        lambda text: text[:150_000] + "中" + text[150_000:],
        lambda text: text[:1000] + text[1100:-1000] + "é" + text[-1000:],
        lambda text: text[: len(text) // 2],
    ],
)
def test_a_change_of_a_long_text_takes_what_has_changed(change: Any) -> None:
    old = "".join(f"line {n} of a dräft\n" for n in range(20_000))
    new = change(old)
    found = diff(picture(old), picture(new))
    assert found is not None
    assert len(picture(old).data) > LONG
    assert not found.is_whole
    assert len(found.op) < 400
    made = apply(MISSING, CODEC.unpack(whole(picture(old)).op), {})
    assert same(apply(made, CODEC.unpack(found.op), {}), new)


def test_a_text_of_which_very_much_has_changed_is_written_whole() -> None:
    old, new = "a" * (MOST + 2), "a" + "b" * (MOST + 1) + "a" * 9
    assert spliced(picture(old), picture(new)) is None
    found = diff(picture(old), picture(new))
    assert found is not None
    assert found.is_whole
