"""`import keepset` is enough to reach each public module; a host's is loaded when asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import keepset
from keepset.errors import UsageError


def told(code: str) -> str:
    """Run a program in a process of its own."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return run.stdout.strip()


@pytest.mark.parametrize("module", ["errors", "langgraph", "testing"])
def test_a_public_module_is_reached_through_keepset_alone(module: str) -> None:
    pytest.importorskip(f"keepset.{module}")
    program = f"import keepset; print(keepset.{module}.__name__)"
    assert told(program) == f"keepset.{module}"


def test_langgraph_is_loaded_only_once_its_module_is_asked_for() -> None:
    pytest.importorskip("langgraph")
    asked = "import sys, keepset; before = 'langgraph' in sys.modules; keepset.langgraph"
    assert told(f"{asked}; print(before, 'langgraph' in sys.modules)") == "False True"


WITHOUT = """
import sys
sys.modules["langgraph"] = None  # as where it is not installed
import keepset
for ask in ("keepset.langgraph", "__import__('keepset.langgraph')"):
    try:
        eval(ask)
    except ImportError as error:
        print(isinstance(error, keepset.errors.UsageError), error.code, error.hint)
"""


def test_where_the_extra_is_missing_both_ways_in_say_what_to_install() -> None:
    line = 'True langgraph.not-installed Install it: pip install "keepset[langgraph]".'
    assert told(WITHOUT).splitlines() == [line, line]


def test_a_name_that_keepset_does_not_have_is_said_as_python_says_it() -> None:
    with pytest.raises(AttributeError, match="module 'keepset' has no attribute 'lang'"):
        getattr(keepset, "lang")  # noqa: B009 - a type checker refuses the name itself
    assert not hasattr(keepset, "graphs")


def test_type_checkers_see_what_is_loaded_later() -> None:
    """Read by mypy: each name has its own type and not that of any attribute."""
    pytest.importorskip("langgraph")
    listed: list[str] = keepset.testing.__all__
    error: type[UsageError] = keepset.langgraph.NotInstalledError
    assert "BackendContract" in listed
    assert issubclass(error, ImportError)
