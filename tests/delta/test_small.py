"""A step costs what changed: what each kind of change takes, in bytes."""

from __future__ import annotations

import random
import string
from typing import Any

import pytest

from tests.delta.values import CODEC, changed, picture, replay, same

DICE = random.Random(7)  # noqa: S311 - the same texts in every run, no secret


def text(size: int) -> str:
    return "".join(DICE.choices(string.ascii_lowercase + " ", k=size))


def message(number: int) -> dict[str, Any]:
    return {"role": "assistant", "id": f"run-{number}", "content": text(1200), "usage": {"in": 7}}


MESSAGES = [message(n) for n in range(200)]
NEW = message(200)
ONE = len(CODEC.pack(NEW))
DRAFT = "\n".join(text(80) for _ in range(250))
SCORES = {f"key-{n}": n for n in range(1000)}


def took(old: Any, new: Any) -> int:
    """Bytes of the difference, which is not the whole value and gives `new`."""
    change = changed(old, new)
    assert not change.is_whole
    assert same(replay(old, change), new)
    return len(change.op)


LISTS: dict[str, tuple[list[Any], int]] = {
    "append": ([*MESSAGES, NEW], ONE),
    "trim and append": ([*MESSAGES[50:], NEW], ONE),
    "trim behind the system message": ([MESSAGES[0], *MESSAGES[50:], NEW], ONE),
    "pop": (MESSAGES[:-1], 0),
    "pop 30": (MESSAGES[:-30], 0),
    "drop 30": (MESSAGES[30:], 0),
    "insert": ([*MESSAGES[:90], NEW, *MESSAGES[90:]], ONE),
    "delete 5": ([*MESSAGES[:90], *MESSAGES[95:]], 0),
    "replace": ([*MESSAGES[:90], NEW, *MESSAGES[91:]], ONE),
    "replace 2 and append": ([NEW, *MESSAGES[1:90], NEW, *MESSAGES[91:], NEW], 3 * ONE),
    "scattered": ([NEW, *MESSAGES[:50], *MESSAGES[60:150], NEW, *MESSAGES[150:]], 2 * ONE),
    "last to the front": ([MESSAGES[-1], *MESSAGES[:-1]], ONE),
}


@pytest.mark.parametrize(("new", "limit"), LISTS.values(), ids=LISTS)
def test_a_change_of_a_list_takes_its_new_items_and_some_bytes(new: list[Any], limit: int) -> None:
    assert took(MESSAGES, new) <= limit + 30


def test_dropping_the_head_of_equal_items_takes_some_bytes() -> None:
    repeated = (["ok " * 20] * 7 + ["failed " * 20]) * 50
    assert took(repeated, [*repeated[43:], "new " * 9]) <= 60


def test_a_short_list_with_the_newest_first_takes_the_new_item() -> None:
    assert took(MESSAGES[:5], [NEW, *MESSAGES[:4]]) <= ONE + 20


def test_one_key_of_an_item_takes_that_key() -> None:
    edited = [*MESSAGES]
    edited[120] = {**edited[120], "usage": {"in": 8}}
    assert took(MESSAGES, edited) <= 40


def test_a_change_in_a_list_of_a_dict_of_a_list_takes_some_bytes() -> None:
    old = {"threads": [{"messages": MESSAGES[:5], "title": "a"}, {"messages": MESSAGES[5:]}]}
    new = {"threads": [old["threads"][0], {"messages": [*MESSAGES[5:], NEW]}]}
    assert took(old, new) <= ONE + 40


def test_every_item_edited_in_place_takes_what_changed_in_each() -> None:
    edited = [{**item, "usage": {"in": n}} for n, item in enumerate(MESSAGES)]
    assert took(MESSAGES, edited) <= 200 * 30


def test_one_entry_of_a_mapping_takes_that_entry() -> None:
    assert took(SCORES, {**SCORES, "key-500": -1}) <= 20
    assert took(SCORES, {**SCORES, "new": 1}) <= 20
    assert took(SCORES, {k: v for k, v in SCORES.items() if k != "key-77"}) <= 20


def test_an_entry_used_again_and_put_last_takes_its_key() -> None:
    large = {f"doc-{n}": item for n, item in enumerate(MESSAGES)}
    again = {k: v for k, v in large.items() if k != "doc-7"} | {"doc-7": large["doc-7"]}
    assert took(large, again) <= 20


def test_a_mapping_in_another_order_takes_no_values() -> None:
    large = {f"doc-{n}": item for n, item in enumerate(MESSAGES)}
    assert took(large, dict(reversed(large.items()))) <= 200 * 8 + 20


def test_an_edit_of_a_long_text_takes_what_was_typed() -> None:
    assert took(DRAFT, DRAFT + " The end.") <= 20
    assert took(DRAFT, DRAFT[:9000] + "typed" + DRAFT[9100:]) <= 20


def test_edits_far_apart_in_a_long_text_take_what_was_typed() -> None:
    assert took(DRAFT, "Title" + DRAFT[5:9000] + "typed" + DRAFT[9100:-3] + "end") <= 80


def test_a_text_that_is_new_throughout_is_written_whole() -> None:
    change = changed(DRAFT, text(20_000))
    assert change.is_whole
    assert len(change.op) <= 20_000 + 8


def test_touched_names_the_new_units_only() -> None:
    assert changed(MESSAGES, [*MESSAGES[50:], NEW]).touched == ((150,),)
    assert changed(MESSAGES, MESSAGES[:-1]).touched == ()
    assert changed(SCORES, {**SCORES, "key-9": -9, "b": 1}).touched == (("key-9",), ("b",))
    assert changed(DRAFT, DRAFT + "x").touched == ((),)
    assert changed([1], [2]).touched == ((),)


def test_a_picture_takes_no_more_than_the_packed_value() -> None:
    frozen = picture(MESSAGES)
    assert frozen.size == len(CODEC.pack(MESSAGES))
    assert frozen.packed() == CODEC.pack(MESSAGES)
