"""The folders are the architecture, and `import keepset` stays light."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.house.tree import ROOT, SOURCE

LINTER = "import sys; from importlinter.cli import lint_imports_command as run; sys.exit(run())"
LOADED = """
import sys
before = set(sys.modules)
import keepset
import json
print(json.dumps(sorted(set(sys.modules) - before)))
"""
NEEDED = {"keepset", "msgspec", "ormsgpack", "zstandard"}
TAKEN_IF_THERE = {"typing_extensions"}  # msgspec imports it where it is installed
OPTIONAL_LAYERS = {"web", "adapters", "prove", "audit", "evolve", "govern", "readers"}


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    return subprocess.run(
        [sys.executable, "-c", LINTER, "--no-cache", "--no-logo"],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE, tmp_path / "src" / "keepset", ignore=ignored)
    return tmp_path


def test_every_layer_imports_only_downward(copy: Path) -> None:
    run = _lint(copy)
    assert run.returncode == 0, run.stdout


def test_a_module_that_lies_in_no_layer_is_refused(copy: Path) -> None:
    (copy / "src" / "keepset" / "stray.py").write_text('"""A module of no layer."""\n')
    run = _lint(copy)
    assert run.returncode != 0
    assert "stray" in run.stdout


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("errors.py", "import keepset.plan.rows"),
        ("plan/rows.py", "import keepset.store"),
        ("scan/__init__.py", "import keepset.codec"),
        ("run/__init__.py", "import keepset"),
        ("codec/__init__.py", "import sqlite3"),
        ("plan/rows.py", "from time import time"),
        ("store/__init__.py", "import rich"),
        ("run/__init__.py", "import sqlite3"),
    ],
)
def test_an_import_that_the_design_forbids_is_refused(copy: Path, module: str, line: str) -> None:
    path = copy / "src" / "keepset" / module
    path.write_text(f"{path.read_text('utf-8')}\n{line}\n")
    run = _lint(copy)
    assert run.returncode != 0, run.stdout
    assert "BROKEN" in run.stdout


def test_every_layer_but_the_command_line_is_kept_from_the_terminal() -> None:
    contracts = {
        contract["id"]: contract
        for contract in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"][
            "importlinter"
        ]["contracts"]
    }
    layers = {
        layer.strip("() ")
        for row in contracts["layers"]["layers"]
        for layer in row.split("|")
        if (SOURCE / layer.strip("() ")).is_dir() or (SOURCE / f"{layer.strip('() ')}.py").is_file()
    }
    kept = {module.removeprefix("keepset.") for module in contracts["terminal"]["source_modules"]}
    assert kept == layers - {"cli", "web"}


def _loaded() -> list[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    run = subprocess.run(
        [sys.executable, "-I", "-c", LOADED],
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    )
    modules: list[str] = json.loads(run.stdout)
    return modules


def test_import_keepset_loads_no_package_that_is_optional_or_draws_on_a_terminal() -> None:
    tops = {module.partition(".")[0] for module in _loaded()}
    standard = {top for top in tops if top.startswith("_sysconfigdata")} | sys.stdlib_module_names
    assert tops - standard - TAKEN_IF_THERE == NEEDED


def test_import_keepset_loads_the_modules_that_are_listed_and_no_other() -> None:
    """A module that only some programs need is imported where it is needed."""
    listed = (ROOT / "tests" / "house" / "loaded.txt").read_text("utf-8").split()
    assert [module for module in _loaded() if module.startswith("keepset.")] == listed


def test_import_keepset_loads_no_layer_that_a_program_asks_for_by_name() -> None:
    layers = {module.split(".")[1] for module in _loaded() if module.startswith("keepset.")}
    assert layers & {"cli", "testing", *OPTIONAL_LAYERS} == set()
