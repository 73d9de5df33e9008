"""The page about the detectors names what they look for, and its example runs."""

from __future__ import annotations

import re
from pathlib import Path

from keepset.scan import REASONS
from keepset.scan.formats import PREFIXED
from keepset.scan.structures import STRUCTURES
from tests.scan.credentials import CARRIED, KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "detectors.md").read_text("utf-8")


def test_the_page_explains_every_reason_code_and_no_other() -> None:
    assert set(re.findall(r"^\| `([a-z.-]+)` \|", PAGE, re.MULTILINE)) == set(REASONS)


def test_the_page_names_every_provider_whose_credentials_are_known() -> None:
    general = {"pem", "jwt", "url", "header"}
    providers = {rule.id.partition(".")[0] for rule in (*PREFIXED, *STRUCTURES)} - general
    listed = PAGE[PAGE.index("formats, of:") : PAGE.index("private keys in")]
    assert set(re.findall(r"[a-z0-9]+", listed.partition(":")[2])) == providers


def test_the_page_counts_the_kinds_that_the_tests_hold() -> None:
    (count,) = re.findall(r"The tests hold (\d+) kinds", PAGE)
    assert int(count) == len(KINDS) + len(CARRIED)


def test_the_example_on_the_page_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "docs/detectors.md", "exec"), {})  # noqa: S102 - our own page
