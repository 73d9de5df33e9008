"""The tests look at what a user gets: the wheel, not the source tree."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import keepset


def test_what_is_tested_is_the_installed_wheel() -> None:
    assert keepset.__file__ is not None
    installed = Path(keepset.__file__).resolve()
    site = Path(sysconfig.get_paths()["purelib"]).resolve()
    assert installed.is_relative_to(site), "run the tests with `make test`"
