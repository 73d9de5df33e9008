"""`keepset check MODULE:STATE`, and how a state is found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.terminal import Said, start

if TYPE_CHECKING:
    from pathlib import Path

SOUND = """
from typing import Annotated, TypedDict
import keepset as ks

@ks.contract(name="shop/ticket", epoch=2)
class Ticket(TypedDict):
    question: Annotated[str, ks.Keep(max_bytes=4_000)]
    api_key: Annotated[str, ks.Secret("env:KEY")]
"""
UNSOUND = """
import sqlite3
from typing import Annotated, TypedDict
import keepset as ks

def load(ids: list[str]) -> list[str]:
    return ids

class Ticket(TypedDict):
    ids: Annotated[list[str], ks.Scratch(list)]
    docs: Annotated[list[str], ks.Refetch(load, using="ids")]
    db: Annotated[sqlite3.Connection, ks.Keep()]
    api_key: str
"""


def check(folder: Path, source: str, *arguments: str, name: str = "Ticket") -> Said:
    (folder / "shop.py").write_text(source, "utf-8")
    return start("check", f"shop:{name}", *arguments, folder=folder)


def test_a_sound_contract_exits_with_0_and_its_fields_are_listed(tmp_path: Path) -> None:
    said = check(tmp_path, SOUND, "--json")
    assert said.code == 0
    found = said.result("check")
    assert found["contract"]["name"] == "shop/ticket"
    assert found["contract"]["epoch"] == 2
    assert found["errors"] == 0
    assert [field["rule"] for field in found["fields"]] == ["Keep", "Secret"]


def test_an_unsound_contract_exits_with_40_and_each_problem_has_a_path_and_a_way_out(
    tmp_path: Path,
) -> None:
    said = check(tmp_path, UNSOUND)
    assert said.code == 40
    found = check(tmp_path, UNSOUND, "--json").result("check")
    errors = [problem for problem in found["problems"] if problem["severity"] == "error"]
    assert found["errors"] == len(errors)
    assert {problem["path"].split(".")[0] for problem in errors} >= {"docs", "db", "api_key"}
    assert all(problem["hint"] for problem in found["problems"])
    for problem in found["problems"]:
        assert problem["code"] in said.out


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("x: Annotated[str, ks.Keep(), ks.Drop()]", "rule.two"),
        ("x: Annotated[str, ks.Keep]", "marker.class"),
        ("x: Annotated['Nowhere', ks.Keep()]", "state.unresolved-name"),
    ],
)
def test_a_state_of_which_no_contract_can_be_made_is_a_finding_as_well(
    tmp_path: Path, field: str, code: str
) -> None:
    source = SOUND.replace("question: Annotated[str, ks.Keep(max_bytes=4_000)]", field)
    said = check(tmp_path, source, "--json")
    assert said.code == 40
    found = said.result("check")
    assert code in {problem["code"] for problem in found["problems"]}
    assert found["contract"] is None


def test_warnings_alone_exit_with_0(tmp_path: Path) -> None:
    source = SOUND.replace(", ks.Keep(max_bytes=4_000)]", "]").replace("Annotated[str]", "str")
    said = check(tmp_path, source, "--json")
    found = said.result("check")
    assert (said.code, found["errors"]) == (0, 0)
    assert found["warnings"] > 0


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("import nothing_of_that_name\n", "ModuleNotFoundError at .*shop.py:1"),
        ("x = 1\nraise RuntimeError('secret-in-a-message')\n", "RuntimeError at .*shop.py:2"),
        ("def broken(:\n", "SyntaxError at .*shop.py:1"),
    ],
)
def test_a_module_that_cannot_be_imported_is_named_with_the_place_and_not_its_words(
    tmp_path: Path, source: str, place: str
) -> None:
    said = check(tmp_path, source, "--json")
    assert said.code == 2
    error = said.error()
    assert error["code"] == "reference.import"
    assert re.search(place, error["message"])
    assert "secret-in-a-message" not in said.err


@pytest.mark.parametrize(
    "source",
    [
        "import sys\nsys.exit()\n",
        "raise SystemExit(3)\n",
        "class Ended(BaseException): ...\nraise Ended\n",
        "import asyncio\nraise asyncio.CancelledError\n",
    ],
)
def test_a_module_that_ends_the_program_is_an_error_and_never_a_silent_success(
    tmp_path: Path, source: str
) -> None:
    said = check(tmp_path, source, "--json")
    assert (said.code, said.error()["code"]) == (2, "reference.import")
    assert "shop.py" in said.error()["message"]


def test_the_module_that_is_missing_is_named(tmp_path: Path) -> None:
    assert "no module lost_one" in check(tmp_path, "import lost_one\n").err
    said = start("check", "nowhere.at_all:Ticket", folder=tmp_path)
    assert "there is no module nowhere" in said.err


def test_a_name_that_fails_when_it_is_looked_up_is_no_bug_of_ours(tmp_path: Path) -> None:
    source = "def __getattr__(name):\n    raise ValueError('secret-in-a-message')\n"
    said = check(tmp_path, source)
    assert said.code == 2
    assert "ValueError" in said.err
    assert "secret-in-a-message" not in said.err


@pytest.mark.parametrize("given", ["shop.py:Ticket", "./shop.py:Ticket"])
def test_a_file_in_place_of_the_module_is_answered_with_the_module(
    tmp_path: Path, given: str
) -> None:
    (tmp_path / "shop.py").write_text(SOUND)
    said = start("check", given, "--json", folder=tmp_path)
    assert (said.code, said.error()["code"]) == (2, "reference.syntax")
    assert said.error()["hint"].endswith(" shop:Ticket")


def test_what_the_module_prints_is_kept_apart_from_the_result(tmp_path: Path) -> None:
    loud = "import os\nprint('from the module')\nos.system('echo from a program')\n"
    said = check(tmp_path, loud + SOUND, "--json")
    assert said.result("check")["errors"] == 0
    assert "from the module" in said.err
    assert "from a program" in said.err


def test_strict_makes_a_field_without_a_rule_an_error(tmp_path: Path) -> None:
    source = SOUND.replace("Annotated[str, ks.Keep(max_bytes=4_000)]", "str")
    assert check(tmp_path, source).code == 0
    said = check(tmp_path, source, "--strict", "--json")
    assert said.code == 40
    [problem] = said.result("check")["problems"]
    assert (problem["code"], problem["severity"]) == ("field.undeclared", "error")
    said = start("check", "shop:Ticket", folder=tmp_path, environment={"KEEPSET_MODE": "strict"})
    assert said.code == 40
    assert "1 error, 0 warnings" in said.out


def test_a_class_of_which_no_contract_can_be_made_is_called_by_its_name(tmp_path: Path) -> None:
    source = SOUND.replace("Annotated[str, ks.Keep(max_bytes=4_000)]", "Annotated[str, ks.Keep]")
    assert check(tmp_path, source).out.splitlines()[-1].startswith("Ticket: ")


def test_a_name_that_the_module_lacks_and_a_reference_without_a_colon_are_usage_errors(
    tmp_path: Path,
) -> None:
    assert check(tmp_path, SOUND, "--json", name="Tickets").error()["code"] == "reference.name"
    said = start("check", "shop.Ticket", "--json", folder=tmp_path)
    assert (said.code, said.error()["code"]) == (2, "reference.syntax")


def test_a_module_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    said = start("check", "nowhere:Ticket", "--json", folder=tmp_path)
    assert (said.code, said.error()["code"]) == (2, "reference.import")


def test_what_is_no_state_is_a_usage_error(tmp_path: Path) -> None:
    said = check(tmp_path, SOUND + "\nnumber = 3\n", "--json", name="number")
    assert (said.code, said.error()["code"]) == (2, "contract.not-a-state")
