"""A labelled corpus: workflows of which it is known, by construction, what a resume needs.

A case is a module with ``build``, ``INPUT`` (or ``INPUTS``, one a turn), ``OUTPUT``, ``TRUTH``, and
where it has them ``ANSWERS``, ``world``, ``observe``, ``between``, ``CRASH``, ``PIN``,
``REPEATABLE``, ``TOGETHER``. Those in the folder ``held`` are not looked at while the prover is
tuned.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keepset.errors import NotFoundError
from keepset.testing.experiments import Recipe
from keepset.testing.proving import AUTO, Options

HELD = "held"


@dataclass(frozen=True, slots=True)
class Case:
    """One workflow.

    Attributes:
        name: Name of its module.
        is_held: Whether it was held back.
        recipe: How it is proven.
        options: The same.
        truth: The label of each field.
        together: The minimal groups, of each of which one field is needed.
        is_repeatable: Whether two runs can be made alike.
    """

    name: str
    is_held: bool
    recipe: Recipe
    options: Options
    truth: Mapping[str, str]
    together: frozenset[frozenset[str]]
    is_repeatable: bool


def cases(folder: Path, jobs: int) -> list[Case]:
    """Read a corpus, its held part last.

    Args:
        folder: Where the modules are.
        jobs: Trials at a time.

    Raises:
        NotFoundError: ``bench.corpus`` where there are none.
    """
    open_, held = _modules(folder), _modules(folder / HELD)
    if not open_:
        raise NotFoundError(
            f"there is no corpus in {folder}",
            code="bench.corpus",
            hint="Clone the repository of keepset, and name its folder: --corpus tests/corpus.",
        )
    found = [_case(path, jobs, is_held=False) for path in open_]
    return [*found, *(_case(path, jobs, is_held=True) for path in held)]


def _modules(folder: Path) -> list[Path]:
    found = sorted(folder.glob("*.py"))
    return [path for path in found if not path.name.startswith(("test_", "_", "conftest"))]


def _case(path: Path, jobs: int, *, is_held: bool) -> Case:
    place = str(path.parent.absolute())
    if place not in sys.path:
        sys.path.insert(0, place)
    module = importlib.import_module(path.stem)

    def named(name: str) -> str | None:
        return f"{path.stem}:{name}" if hasattr(module, name) else None

    given: Any = vars(module).get
    recipe = Recipe(
        target=f"{path.stem}:build",
        inputs=tuple(given("INPUTS") or (given("INPUT"),)),
        answers=tuple(given("ANSWERS", ())),
        world=named("world"),
        observe=named("observe"),
        between=named("between"),
    )
    options = Options(
        outputs=tuple(given("OUTPUT", ())),
        pins=tuple(given("PIN", ())) or (AUTO,),
        crash=bool(given("CRASH")),
        jobs=jobs,
    )
    together = frozenset(frozenset(group) for group in given("TOGETHER", ()))
    repeatable = given("REPEATABLE") is not False
    return Case(path.stem, is_held, recipe, options, given("TRUTH"), together, repeatable)
