"""What held nothing is not looked at twice, and is looked at again when it might hold something."""

from __future__ import annotations

from typing import Any

import ormsgpack
import pytest

from keepset.scan import KnownValues, Scanner
from keepset.scan.clean import CleanKeys

TEXT = "the weather of tomorrow is correct horse battery " * 8


class Looks:
    """Looks at values through one scanner, and counts the objects that were opened."""

    def __init__(self, *, made: set[str] | None = None) -> None:
        self.opened = 0
        self.known = KnownValues()
        self.scanner = Scanner(self.known, (), made if made is not None else set())

    def look(self, value: dict[str, Any], name: str = "field", at: tuple[Any, ...] = ()) -> int:
        path, packed = (name, *at), ormsgpack.packb(value)
        thing = Thing(value)
        found = self.scanner.leaves(thing, path, name=name, parts=self._parts, packed=packed)
        return len(found)

    def _parts(self, value: Any) -> Any:
        self.opened += 1
        return list(value.held.items())


class Thing:
    """Consists of some entries."""

    def __init__(self, held: dict[str, Any]) -> None:
        self.held = held


def test_what_held_nothing_is_looked_at_once() -> None:
    looks = Looks()
    assert [looks.look({"text": TEXT}) for _ in range(3)] == [0, 0, 0]
    assert looks.look({"text": TEXT}, at=(7,)) == 0
    assert looks.opened == 1
    looks.look({"text": TEXT + "!"})
    assert looks.opened == 2


def test_what_was_known_to_hold_nothing_is_found_once_its_secret_is_known() -> None:
    looks = Looks()
    assert looks.look({"text": TEXT}) == 0
    looks.known.add("correct horse battery", "env:KEY")
    assert looks.look({"text": TEXT}) > 0
    assert looks.look({"text": TEXT}) > 0


def test_a_secret_that_becomes_known_during_a_look_is_found_by_the_next() -> None:
    looks = Looks()
    parts = looks._parts

    def meanwhile(value: Any) -> Any:
        found = parts(value)
        looks.known.add("tomorrow is correct", "env:KEY")
        return found

    looks._parts = meanwhile  # type: ignore[method-assign] # what happens while it is looked at
    value = {"text": "short"}
    looks.look(value)
    looks.look({"text": TEXT})
    assert looks.look({"text": TEXT}) > 0


def test_the_same_value_under_the_name_of_a_credential_is_found() -> None:
    looks = Looks()
    value = {"text": "Xk29fLq0Zr7TbN4vWc8yAe1s"}
    assert looks.look(value) == 0
    assert looks.look(value, "api_key") > 0
    assert looks.look(value, at=("api_key",)) > 0
    assert looks.look(value) == 0


def test_nothing_counts_as_clean_while_temporary_paths_are_made() -> None:
    made: set[str] = set()
    looks = Looks(made=made)
    value = {"path": "/somewhere/else/file"}
    assert looks.look(value) == 0
    made.add("/somewhere/else")
    assert looks.look(value) == 1
    made.clear()
    made.add("/another/place")
    assert looks.look(value) == 0
    made.clear()
    assert looks.look(value) == 0


@pytest.mark.parametrize("value", [None, 0, 1.5, True, [], {}, set(), ()])
def test_a_number_and_an_empty_container_hold_nothing(value: Any) -> None:
    scanner = Scanner(KnownValues(), ())
    assert scanner.leaves(value, ("api_key",), name="api_key", parts=lambda _: None) == []


def test_a_key_that_is_a_secret_is_found_above_a_number() -> None:
    scanner = Scanner(KnownValues({"k": "correct horse"}), ())
    path = ("field", "correct horse")
    (found,) = scanner.leaves(1, path, name="field", parts=lambda _: None)
    assert found.in_key


def test_a_scanner_keeps_nothing_that_can_be_read() -> None:
    looks = Looks()
    looks.look({"text": TEXT})
    assert looks.scanner.text("a name of no secret")
    kept = repr([looks.scanner._clean._digests, looks.scanner._names._digests])
    assert "weather" not in kept
    assert "name of no" not in kept
    assert len(looks.scanner._clean._digests) == len(looks.scanner._names._digests) == 1


def test_a_scanner_says_whether_it_remembers_items_of_lists() -> None:
    looks = Looks()
    assert looks.scanner.text("a name of no secret")
    looks.look({"text": TEXT})
    assert not looks.scanner.remembers
    looks.look({"text": TEXT}, at=(7,))
    assert looks.scanner.remembers


def test_a_key_is_looked_at_again_once_it_is_a_known_secret() -> None:
    known = KnownValues()
    scanner = Scanner(known, ())
    path = ("field", "correct horse battery")
    for _ in range(2):
        assert not scanner.leaves(1, path, name="field", parts=lambda _: None)
    known.add("correct horse", "env:KEY")
    for _ in range(2):
        (found,) = scanner.leaves(1, path, name="field", parts=lambda _: None)
        assert found.in_key


def test_only_short_keys_that_hold_nothing_are_remembered_and_only_some() -> None:
    keys = CleanKeys(KnownValues())
    for number in range(10_000):
        keys.note(f"key-{number}", 0)
    keys.note("k" * 1000, 0)
    assert 0 < len(keys._keys) < 10_000
    assert keys.knows("key-9999")
    assert not keys.knows("k" * 1000)
