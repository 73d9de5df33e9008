"""Every error that a person can meet is explained on docs/errors.md, and nothing else is."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from tests.house.codes import CLASSES, raised
from tests.house.tree import ROOT

SECTION = re.compile(r"^## (\w+): exit code (\d+)$", re.MULTILINE)
ROW = re.compile(r"^\| `([a-z0-9.-]+)` \| (\S.*?) \| (\S.*?) \|$", re.MULTILINE)


def _page() -> list[tuple[str, int, dict[str, str]]]:
    """Each class with its exit code, and of each of its codes what to do."""
    parts = SECTION.split((ROOT / "docs" / "errors.md").read_text("utf-8"))[1:]
    return [
        (cls, int(number), {code: cure for code, _, cure in ROW.findall(body)})
        for cls, number, body in zip(*[iter(parts)] * 3, strict=True)
    ]


def _explained() -> set[tuple[str, str]]:
    return {(cls, code) for cls, _, codes in _page() for code in codes}


def test_every_error_is_made_with_a_code_that_a_reader_of_the_source_can_find() -> None:
    assert sorted(error.place for error in raised() if not error.code) == []


def test_every_code_that_the_source_has_is_explained_under_its_class() -> None:
    missing = {
        f"{error.cls} {error.code} ({error.place})"
        for error in raised()
        if not any(cls == error.cls and fnmatchcase(code, error.code) for cls, code in _explained())
    }
    assert sorted(missing) == []


def test_no_code_is_explained_that_the_source_does_not_have() -> None:
    known = {(error.cls, error.code) for error in raised()}
    gone = {
        f"{cls} {code}"
        for cls, code in _explained()
        if not any(cls == made and fnmatchcase(code, pattern) for made, pattern in known)
    }
    assert sorted(gone) == []


def test_every_class_of_errors_is_explained_with_its_exit_code() -> None:
    told = {cls: number for cls, number, _ in _page()}
    assert told == {name: cls.exit_code for name, cls in CLASSES.items() if name != "KeepsetError"}


def test_a_code_belongs_to_one_class_only() -> None:
    classes: dict[str, set[str]] = {}
    for cls, code in _explained():
        classes.setdefault(code, set()).add(cls)
    assert {code: names for code, names in classes.items() if len(names) > 1} == {}
