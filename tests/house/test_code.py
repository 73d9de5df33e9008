"""Code stays small, says what it is, and is tested for real."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.house.tree import modules, name, texts, tracked

LINES_OF_A_FILE = 400
LINES_OF_A_FUNCTION = 40
SAY_NOTHING = {"util", "utils", "helper", "helpers", "common", "misc", "manager", "managers"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# One letter of each stands in brackets, so that this file does not hold what it looks for.
ELSEWHERE = re.compile(
    r"/[w]ork/|/tmp/[v]env|/opt/[p]ypi|/opt/[w]heels|/[r]oot/"
    r"|[p]ypi\.org|[p]ythonhosted\.org|[n]pmjs\.(org|com)|deb\.[d]ebian\.org"
    r"|DESIGN[.]md|\b[s]ubagent|\b[i]ssues show|co-authored[-]by|\b[t]his brief|\b[i]ssue #?\d",
    re.IGNORECASE,
)
LEFT_OVER = re.compile(r"pragma: n[o] cover|\bT[O]DO\b|\bF[I]XME\b|raise Not[I]mplementedError")
EXCUSE = re.compile(r"# n[o]qa|# typ[e]: ignore")
REASONED = re.compile(
    r"# n[o]qa: [A-Z]+\d+(, ?[A-Z]+\d+)* +(- |# )?\w|# typ[e]: ignore\[[\w, -]+\] +(- |# )?\w"
)


@pytest.mark.parametrize("folder", ["src", "tests"])
def test_no_file_is_longer_than_a_person_reads_at_once(folder: str) -> None:
    sizes = {path: len(text.splitlines()) for path, text, _ in modules(folder)}
    assert {path: n for path, n in sizes.items() if n > LINES_OF_A_FILE} == {}


@pytest.mark.parametrize("folder", ["src", "tests"])
def test_no_function_is_longer_than_a_screen(folder: str) -> None:
    long = {
        f"{path}:{node.lineno} {node.name}": size
        for path, _, tree in modules(folder)
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS) and (size := _lines(node)) > LINES_OF_A_FUNCTION
    }
    assert long == {}


def _lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the end, without the docstring: prose for a reader is not length."""
    assert function.end_lineno is not None
    size = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None and first.end_lineno is not None:
        size -= first.end_lineno - first.lineno + 1
    return size


def test_no_file_has_a_name_that_says_nothing() -> None:
    files = [path for path in tracked() if path.suffix == ".py"]
    assert [name(f) for f in files if SAY_NOTHING & {f.stem, f.parent.name}] == []


def test_no_file_tells_of_the_machine_that_it_was_written_on() -> None:
    found = [(path, match.group()) for path, text in texts() for match in ELSEWHERE.finditer(text)]
    assert found == []


def test_no_test_replaces_what_it_tests_with_a_mock() -> None:
    found = [
        (path, imported)
        for path, _, tree in modules("tests")
        for imported in _imports(tree)
        if {"mock", "pytest_mock"} & set(imported.split("."))
    ]
    assert found == []


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_line_hides_from_the_coverage_report_and_none_is_left_for_later() -> None:
    found = [
        (path, match.group())
        for folder in ("src", "tests")
        for path, text, _ in modules(folder)
        for match in LEFT_OVER.finditer(text)
    ]
    assert found == []


def test_every_excuse_to_a_checker_names_the_rule_and_gives_a_reason() -> None:
    bare = [
        f"{path}:{number}"
        for folder in ("src", "tests")
        for path, text, _ in modules(folder)
        for number, line in enumerate(text.splitlines(), 1)
        if EXCUSE.search(line) and not REASONED.search(line)
    ]
    assert bare == []
