"""What a user's own tests say of a workflow: by the plugin's marker, and by `assert_resumes`."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

import keepset as ks
from keepset.errors import UsageError
from keepset.testing import Options, assert_resumes
from tests.prove import wild

FLOW = """
from typing import Annotated, TypedDict
import keepset as ks

WORDS = ["sun", "rain", "snow", "hail", "fog", "storm", "calm", "wind"]

class Order(TypedDict, total=False):
    item: str
    charged: Annotated[bool, ks.Drop()]
    receipt: str

def charge(state):
    return {"charged": True}

def confirm(state):
    return {"receipt": state["item"] if state["charged"] else ""}

def unsound():
    return ks.Workflow(Order, steps=[charge, confirm])

class Sound(TypedDict, total=False):
    item: str
    receipt: str

def look(state):
    return {}

def answer(state):
    return {"receipt": state["item"]}

def sound():
    return ks.Workflow(Sound, steps=[look, answer])

class Apart(TypedDict, total=False):
    first: Annotated[int, ks.Drop()]
    second: Annotated[int, ks.Drop()]
    total: int

def take(state):
    return {"first": 7, "second": 7}

def add(state):
    return {"total": state.get("first", state.get("second", 0))}

def apart():
    return ks.Workflow(Apart, steps=[take, add])

def roll(state):
    with open("/dev/urandom", "rb") as file:
        return {"item": " ".join(WORDS[byte % 8] for byte in file.read(24))}

def unrepeatable():
    return ks.Workflow(Sound, steps=[roll, answer])

INPUT = {"item": "PLANTED"}
"""

TESTS = """
import pytest

@pytest.mark.keepset_resumes("flow:sound", {"item": "PLANTED"})
def test_sound(resumed):
    assert resumed.point == "after look"

@pytest.mark.keepset_resumes("flow:unsound", "flow:INPUT")
def test_unsound(): ...

@pytest.mark.keepset_resumes("flow:apart", {})
def test_apart(): ...

@pytest.mark.keepset_resumes("flow:unrepeatable")
def test_unrepeatable(): ...
"""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str

    def outcomes(self) -> dict[str, str]:
        """By the name of each test, whether it passed."""
        found = re.findall(
            r"^(?:\[gw\d\] .*?)?(PASSED|FAILED) \S*::(.*?)(?: - .*)?$", self.out, re.MULTILINE
        )
        return {name.strip(): outcome for outcome, name in found}


def run(folder: Path, *command: str) -> Ran:
    """Run a command in a user's folder, as a shell does, with this environment's programs."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COV_"))}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return Ran(done.returncode, done.stdout + done.stderr)


def pytest_in(folder: Path, *options: str) -> Ran:
    plain = ("-p", "no:randomly", "-p", "no:cacheprovider", "-rA")
    return run(folder, sys.executable, "-m", "pytest", *plain, *options)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's project, with the plugin switched on."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "conftest.py").write_text('pytest_plugins = ["keepset.testing.plugin"]\n', "utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nxfail_strict = true\n", "utf-8")
    (folder / "flow.py").write_text(FLOW, "utf-8")
    (folder / "test_flow.py").write_text(TESTS, "utf-8")
    return folder


EXPECTED = {
    "test_sound[item after look]": "PASSED",
    "test_sound[receipt after look]": "PASSED",
    "test_sound[all rules after look]": "PASSED",
    "test_unsound[item after charge]": "PASSED",
    "test_unsound[charged after charge]": "FAILED",
    "test_unsound[receipt after charge]": "PASSED",
    "test_unsound[all rules after charge]": "PASSED",
    "test_apart[first after take]": "PASSED",
    "test_apart[second after take]": "PASSED",
    "test_apart[total after take]": "PASSED",
    "test_apart[all rules after take]": "FAILED",
    "test_unrepeatable[nothing to resume]": "FAILED",
}


@pytest.fixture(scope="module")
def ran(project: Path) -> Ran:
    return pytest_in(project)


def test_the_marker_makes_a_test_of_each_field_at_each_checkpoint(ran: Ran) -> None:
    assert ran.outcomes() == EXPECTED
    assert ran.code == 1


def test_a_failing_test_says_what_is_wrong_and_no_value(ran: Ran) -> None:
    assert "charged: dropped, and needed after charge: KeyError in confirm" in ran.out
    assert "prove.dropped-but-needed" in ran.out
    assert re.search(r"cannot be repeated: two runs differ in .*item", ran.out)
    assert "PLANTED" not in ran.out


def test_the_command_that_a_failing_test_prints_shows_the_same(project: Path, ran: Ran) -> None:
    (command,) = re.findall(r"To see it: (keepset prove flow:unsound .*)", ran.out)
    assert "--input flow:INPUT" in command
    words = [sys.executable, "-m", "keepset.cli", *shlex.split(command)[1:], "--jobs", "1"]
    again = run(project, *words)
    assert again.code == 40
    assert "prove.dropped-but-needed" in again.out


def test_the_tests_are_the_same_on_several_workers(project: Path) -> None:
    ran = pytest_in(project, "-n", "2")
    assert ran.outcomes() == EXPECTED


def test_a_wrong_name_is_an_error_of_collection_that_says_so(project: Path) -> None:
    path = project / "wrong_names.py"
    path.write_text(
        'import pytest\n\n@pytest.mark.keepset_resumes("flow:nothing")\ndef test_wrong(): ...\n',
        "utf-8",
    )
    ran = pytest_in(project, str(path))
    assert ran.code == 2
    assert "flow has no nothing" in ran.out
    assert "INTERNALERROR" not in ran.out


class Order(TypedDict, total=False):
    item: str
    charged: Annotated[bool, ks.Drop()]
    receipt: str


def closure(*, is_sound: bool) -> Any:
    """A workflow that no other process could import."""

    def charge(_: Order) -> Order:
        return {"charged": True}

    def confirm(state: Order) -> Order:
        charged = state.get("charged", True) if is_sound else state["charged"]
        return {"receipt": state["item"] if charged else ""}

    return lambda: ks.Workflow(Order, steps=[charge, confirm])


def test_a_closure_is_proven_in_this_process() -> None:
    proof = assert_resumes(closure(is_sound=True), {"item": "lamp"}, options=Options(pins=()))
    assert proof.sufficient == ("item",)


def test_an_assertion_that_fails_says_what_is_wrong_what_to_type_and_no_value() -> None:
    hurried = Options(pins=(), timeout=7.5, most=20)
    with pytest.raises(AssertionError) as caught:
        assert_resumes(closure(is_sound=False), {"item": "PLANTED"}, options=hurried)
    told = str(caught.value)
    assert "charged: dropped, and needed after charge: KeyError in confirm" in told
    command = "keepset prove MODULE:NAME --input INPUT.json --pin none --timeout 7.5 --most 20"
    assert told.endswith(f"To see it: {command}")
    assert "PLANTED" not in told


def test_what_has_a_name_is_proven_by_it_in_other_processes_also_with_a_crash() -> None:
    options = Options(pins=(), jobs=1, crash=True)
    proof = assert_resumes(wild.sound, {"word": "w"}, options=options)
    assert proof.sufficient == ("word",)
    with pytest.raises(AssertionError) as caught:
        assert_resumes(f"{__name__.rpartition('.')[0]}.wild:unsound", options=options)
    command = "keepset prove tests.prove.wild:unsound --pin none --crash"
    assert str(caught.value).endswith(f"To see it: {command}")


def test_a_crash_cannot_be_had_in_this_process() -> None:
    with pytest.raises(UsageError) as caught:
        assert_resumes(closure(is_sound=True), {"item": "x"}, options=Options(crash=True))
    assert caught.value.code == "prove.crash"


def test_what_cannot_be_measured_fails_and_says_why() -> None:
    with pytest.raises(AssertionError, match=r"cannot be repeated: two runs differ in word"):
        assert_resumes(wild.unrepeatable, options=Options(pins=(), jobs=1))
