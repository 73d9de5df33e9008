"""The page on contracts is true: its examples run, and it has every code that `check` gives."""

import re
from pathlib import Path

from tests.house.tree import ROOT, SOURCE

PAGE = (ROOT / "docs" / "contracts.md").read_text("utf-8")


def test_the_examples_run_one_after_the_other(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    script = tmp_path / "examples.py"
    script.write_text("\n".join(blocks), "utf-8")
    exec(compile(script.read_text("utf-8"), str(script), "exec"), {"__name__": "builtins"})  # noqa: S102 - our own page


def test_every_code_of_a_problem_is_on_the_page_and_no_other() -> None:
    sources = (path.read_text("utf-8") for path in (SOURCE / "contracts").glob("*.py"))
    made = {code for text in sources for code in re.findall(r'Problem\(\s*"([a-z.-]+)"', text)} | {
        "secret.name",
        "codec.secret-type",
        "state.unresolved-name",
    }
    told = set(re.findall(r"^\| `([a-z]+\.[a-z-]+)` \| (?:error|warning)", PAGE, re.MULTILINE))
    assert told == made
