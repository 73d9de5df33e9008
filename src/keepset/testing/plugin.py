"""The pytest plugin: a marker that makes a test of each field at each checkpoint.

Switched on by ``pytest_plugins = ["keepset.testing.plugin"]`` in the conftest.py at the root, or by
``pytest -p keepset.testing.plugin``. ::

    @pytest.mark.keepset_resumes("app.flow:build", {"question": "Why?"}, observe="app:ledger")
    def test_a_ticket_resumes(): ...

Each test ends a run at one checkpoint and resumes it, with one field left to its declared rule and
to nothing. It fails where the resume goes wrong by the rule, or where that could not be measured,
and says with which command to see it again. The marker takes what `keepset.testing.prove` takes.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import pytest

from keepset.prove.search import Looked
from keepset.testing.asserting import command, complaints, together
from keepset.testing.proving import Given, Options, Prover, answers_of, inputs_of

MARKER = "keepset_resumes"
_ARGUMENT = "resumed"


@dataclass(frozen=True)
class _Marked:
    """What one marker asks for, looked at once."""

    given: Given
    options: Options
    prover: Prover
    looked: Looked

    def cases(self) -> list[Resumed]:
        """Give a case for each field at each point, or a single one where there is no point."""
        if not self.looked.can_be_proven:
            return [Resumed(self, "", "")]
        fields = [*self.looked.tries.question.asked, ""]
        return [Resumed(self, point, name) for point in self.looked.points for name in fields]


@dataclass(frozen=True)
class Resumed:
    """One field at one checkpoint, as a test may take it under the name ``resumed``.

    Attributes:
        point: Id of the checkpoint; empty where the workflow has none.
        field: Id of the field; empty for all rules together.
    """

    marked: _Marked
    point: str
    field: str

    def __str__(self) -> str:
        return f"{self.field or 'all rules'} {self.point}" if self.point else "nothing to resume"

    def check(self) -> None:
        """Fail where a resume goes wrong, or could not be measured."""
        looked, options = self.marked.looked, self.marked.options
        if self.point:
            fields = (self.field,) if self.field else ()
            looked = looked.only(fields, [self.point])
            options = replace(options, fields=fields, points=(self.point,))
        proof = self.marked.prover.measure(looked)
        # What one field has wrong, its own case says.
        wrong = list(complaints(proof) if self.field or not self.point else together(proof))
        if wrong:
            see = f"To see it: {command(self.marked.given, options)}"
            pytest.fail("\n".join([*wrong, "", see]), pytrace=False)


class _Provers:
    """The provers of a session, each as long as it lasts."""

    def __init__(self) -> None:
        self._ends = ExitStack()
        self._known: dict[str, _Marked] = {}

    def of(self, name: str, marker: pytest.Mark) -> _Marked:
        if name not in self._known:
            self._known[name] = self._marked(*marker.args, **marker.kwargs)
        return self._known[name]

    def _marked(  # noqa: PLR0913 - as `keepset.testing.prove`
        self,
        target: Any,
        input: Any = None,  # noqa: A002 - the same
        *,
        turns: Sequence[Any] = (),
        answers: Sequence[Any] | str = (),
        world: Any = None,
        observe: Any = None,
        between: Any = None,
        options: Options | None = None,
    ) -> _Marked:
        given = Given(target, world, observe, between, inputs_of(input, turns), answers_of(answers))
        how = options or Options(jobs=1)
        prover = self._ends.enter_context(given.prover(how))
        return _Marked(given, how, prover, prover.look())

    def close(self) -> None:
        self._ends.close()


_KEY = pytest.StashKey[_Provers]()


def pytest_configure(config: pytest.Config) -> None:
    """Tell of the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(target, input, *, turns, answers, world, observe, between, options): "
        "makes a test of each field at each checkpoint; see keepset.testing.plugin",
    )
    config.stash[_KEY] = _Provers()


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the processes that carried out trials."""
    config.stash[_KEY].close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make the tests of a marker."""
    marker = metafunc.definition.get_closest_marker(MARKER)
    if marker is None:
        return
    if _ARGUMENT not in metafunc.fixturenames:
        metafunc.fixturenames.append(_ARGUMENT)
    marked = metafunc.config.stash[_KEY].of(metafunc.definition.nodeid, marker)
    metafunc.parametrize(_ARGUMENT, marked.cases(), ids=str)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Check the case before the test's own code runs."""
    # Not from the arguments: a test that takes none of ours is held to its marker as well.
    spec = getattr(pyfuncitem, "callspec", None)
    case = None if spec is None else spec.params.get(_ARGUMENT)
    if isinstance(case, Resumed):
        case.check()
    return (yield)
