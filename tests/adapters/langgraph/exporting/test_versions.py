"""Versions of channels in another saver: texts that rise, and never one for two values."""

from __future__ import annotations

from typing import Any

import pytest

from keepset.adapters.langgraph.exporting_versions import Lineage
from keepset.errors import DecodeError

OTHER = "00000000000000000000000000000007.0.4213"
OURS = "00000000000000000000000000000008.0000000000000000"


def _follow(*steps: tuple[str, str, dict[str, Any], dict[str, dict[str, Any]]]) -> dict[str, Any]:
    lineage = Lineage(("", parent) for _, parent, _, _ in steps)
    return {
        own: lineage.follow(("", own), parent, versions, seen)
        for own, parent, versions, seen in steps
    }


def test_a_number_becomes_a_text_that_rises_and_stays_the_same_in_what_follows() -> None:
    made = _follow(
        ("1", "", {"a": 1}, {"n": {}}),
        ("2", "1", {"a": 2, "b": 2}, {"n": {"a": 1}}),
        ("3", "2", {"a": 2, "b": 11}, {"n": {"a": 2}}),
    )
    first, second, third = (made[name].channels for name in "123")
    assert first["a"] < second["a"] == third["a"]
    assert second["b"] < third["b"]
    assert made["2"].seen == {"n": {"a": first["a"]}}
    assert made["3"].seen == {"n": {"a": second["a"]}}
    assert [made[name].new for name in "123"] == [{"a"}, {"a", "b"}, {"b"}]
    assert all(len(text.partition(".")[0]) == 32 for text in (*second.values(), *third.values()))


def test_two_lines_that_count_alike_have_no_version_in_common() -> None:
    made = _follow(
        ("1", "", {"a": 1}, {}), ("2", "1", {"a": 2}, {}), ("3", "1", {"a": 2}, {"n": {"a": 1}})
    )
    assert made["2"].channels["a"] != made["3"].channels["a"]
    assert made["3"].seen["n"]["a"] == made["1"].channels["a"]


def test_texts_of_another_saver_stay_and_those_that_are_counted_here_are_told_apart() -> None:
    made = _follow(
        ("1", "", {"a": OTHER}, {"n": {"a": OTHER}}),
        ("2", "1", {"a": OURS}, {"n": {"a": OTHER}}),
        ("3", "1", {"a": OURS}, {"n": {"a": OTHER}}),
    )
    assert made["1"].channels["a"] == OTHER == made["2"].seen["n"]["a"]
    assert OTHER < made["2"].channels["a"] != made["3"].channels["a"] > OTHER


def test_the_same_history_gives_the_same_texts() -> None:
    steps: list[Any] = [("1", "", {"a": 1}, {}), ("2", "1", {"a": 2}, {})]
    assert _follow(*steps) == _follow(*steps)


def test_what_was_seen_before_the_history_begins_lies_before_it() -> None:
    made = _follow(("5", "4", {"a": 9}, {"n": {"a": 3}}))
    assert made["5"].seen["n"]["a"] < made["5"].channels["a"]


@pytest.mark.parametrize("version", [1.5, f"later.{OURS[33:]}", -1, True, None])
def test_a_version_that_is_no_number_is_refused(version: Any) -> None:
    with pytest.raises(DecodeError) as refused:
        _follow(("1", "", {"a": version}, {}))
    assert refused.value.code == "export.version"
