"""What is released: a wheel and a source distribution, with the licence and without the tests."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.house.tree import ROOT, SOURCE, name, tracked

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSION = re.findall(r'^__version__ = "(.+)"$', (SOURCE / "__init__.py").read_text(), re.MULTILINE)[
    0
]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    run = subprocess.run(command, capture_output=True, check=False, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


@pytest.fixture(scope="session")
def wheel(built: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(built / f"keepset-{VERSION}-py3-none-any.whl") as archive:
        return {member: archive.read(member) for member in archive.namelist()}


@pytest.fixture(scope="session")
def sdist(built: Path) -> set[str]:
    root = f"keepset-{VERSION}"
    with tarfile.open(built / f"{root}.tar.gz") as archive:
        return {member.name.removeprefix(f"{root}/") for member in archive.getmembers()}


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(
    wheel: dict[str, bytes],
) -> None:
    ours = {
        path.relative_to(SOURCE.parent).as_posix(): path.read_bytes()
        for path in tracked()
        if path.is_relative_to(SOURCE)
    }
    packaged = {m: data for m, data in wheel.items() if ".dist-info/" not in m}
    assert set(ours) - set(packaged) == set()
    assert {m for m in packaged if not m.startswith("keepset/")} == set()
    assert {m for m in packaged if re.search(r"(^|/)(tests?|conftest)[./]", m)} == set()


def test_the_wheel_says_that_it_has_types(wheel: dict[str, bytes]) -> None:
    assert "keepset/py.typed" in wheel


def test_the_licence_and_the_notice_go_with_the_wheel_and_the_source(
    wheel: dict[str, bytes], sdist: set[str]
) -> None:
    for text in ("LICENSE", "NOTICE"):
        inside = wheel[f"keepset-{VERSION}.dist-info/licenses/{text}"]
        assert inside == (ROOT / text).read_bytes()
    assert {"LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "Makefile", ".ci/run"} <= sdist
    assert "tests/house/test_package.py" in sdist


def test_the_wheel_asks_for_little_and_has_an_extra_for_each_capability(
    wheel: dict[str, bytes],
) -> None:
    metadata = HeaderParser().parsestr(wheel[f"keepset-{VERSION}.dist-info/METADATA"].decode())
    requirements = metadata.get_all("Requires-Dist") or []
    core = {re.split(r"[<>=!~; ]", r)[0] for r in requirements if "extra ==" not in r}
    assert core == {"click", "msgspec", "ormsgpack", "rich", "zstandard"}
    assert set(metadata.get_all("Provides-Extra") or []) == set(PROJECT["optional-dependencies"])
    assert metadata["License-Expression"] == "Apache-2.0"


def test_the_version_stands_in_one_place_and_the_command_tells_it() -> None:
    command = Path(sysconfig.get_path("scripts")) / "keepset"
    run = subprocess.run([command, "--version"], capture_output=True, check=True, text=True)
    assert run.stdout.split()[-1] == VERSION
    assert version("keepset") == VERSION
    literal = re.compile(rf"""["']{re.escape(VERSION)}["']""")
    told = [
        name(p)
        for p in [ROOT / "pyproject.toml", *SOURCE.rglob("*.py")]
        if literal.search(p.read_text("utf-8"))
    ]
    assert told == ["src/keepset/__init__.py"]
