"""Recommended rules in a module's text: a field has its rule, every other byte is as it was."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keepset.contracts import contract_of
from keepset.errors import UsageError
from keepset.prove.recommend import Recommendation, recommended
from keepset.prove.source import written
from keepset.prove.written_out import written_out
from tests.cli.terminal import start
from tests.prove.kinds import KINDS, module_of, proof_of

KEEP = Recommendation("Keep()", "needed after find: KeyError in answer")
DROP = Recommendation("Drop()", "not needed at 5 of 5 points")
HEAD = "from typing import Annotated, NotRequired, TypedDict\n\nimport keepset as ks\n\n\n"


def one(field: str, wanted: Recommendation = KEEP, head: str = HEAD) -> str:
    """The line of a field, and those below it, after a rule was written there."""
    source = f"{head}class T(TypedDict):\n    {field}\n"
    return written(source, "T", {"x": wanted}).partition("class T(TypedDict):\n    ")[2][:-1]


def refused(source: str, wanted: Recommendation = KEEP, name: str = "T") -> str:
    with pytest.raises(UsageError) as caught:
        written(source, name, {"x": wanted})
    assert "nothing was written" in caught.value.message
    assert caught.value.hint
    return caught.value.code


FUTURE = "from __future__ import annotations\n"
UNDER_IF = "if TYPE_CHECKING:\n    import keepset as ks\n"
REPLACED = "ks.Keep(max_bytes=3)"
SAID = "  # needed after find: KeyError in answer (proven)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x: int", f"x: Annotated[int, ks.Keep()]{SAID}"),
        ("x: int = 3", f"x: Annotated[int, ks.Keep()] = 3{SAID}"),
        ("x: int  # a count", f"x: Annotated[int, ks.Keep()]  # a count{SAID}"),
        ("x: NotRequired[int]", f"x: NotRequired[Annotated[int, ks.Keep()]]{SAID}"),
        ("x: Annotated[list, add]", f"x: Annotated[list, ks.Keep(), add]{SAID}"),
        ("x: Annotated[(list), (add)]", f"x: Annotated[(list), ks.Keep(), (add)]{SAID}"),
        ("x: Annotated[int, ks.Drop()]", f"x: Annotated[int, ks.Keep()]{SAID}"),
        ("x: Annotated[int, ks.Drop(default=1), b]", f"x: Annotated[int, ks.Keep(), b]{SAID}"),
        ("x: (\n  int\n )", f"x: (\n  Annotated[int, ks.Keep()]\n ){SAID}"),
        ("x: dict[  # a\n  A, B]", f"x: Annotated[dict[  # a\n  A, B], ks.Keep()]{SAID}"),
        ("x: Annotated[  # a, b\n A,\n b]", f"x: Annotated[  # a, b\n A, ks.Keep(),\n b]{SAID}"),
        ("x: 'int'", f"x: Annotated['int', ks.Keep()]{SAID}"),
        ('x: "Annotated[int, ks.Drop()]"', f'x: "Annotated[int, ks.Keep()]"{SAID}'),
        ("x: 'NotRequired[int]'", f"x: 'NotRequired[Annotated[int, ks.Keep()]]'{SAID}"),
        ("x: int; y: str", "x: Annotated[int, ks.Keep()]; y: str"),
        ("é: str; x: int", f"é: str; x: Annotated[int, ks.Keep()]{SAID}"),
        ("x: int # isort: skip", f"x: Annotated[int, ks.Keep()] # isort: skip{SAID}"),
        ("x: int  # needed before (proven)", f"x: Annotated[int, ks.Keep()]{SAID}"),
    ],
)  # fmt: skip
def test_a_field_gets_its_rule_in_whatever_way_it_is_annotated(before: str, after: str) -> None:
    assert one(before) == after


@pytest.mark.parametrize(
    "field",
    ["x: Annotated[int, ks.Keep(personal=True)]  # mine", 'x: "Annotated[int, ks.Keep()]"'],
)
def test_a_rule_that_is_there_stays_with_its_options(field: str) -> None:
    assert one(field) == field


def test_where_only_a_person_can_choose_a_comment_says_what_to_look_for() -> None:
    advice = Recommendation("", "needed: declare Reopen(factory)")
    assert one("x: object", advice) == "x: object  # needed: declare Reopen(factory) (proven)"


def test_a_required_key_that_is_dropped_may_be_absent() -> None:
    absent = Recommendation("Drop()", "not needed", absent=True)
    assert (
        one("x: int", absent) == "x: NotRequired[Annotated[int, ks.Drop()]]  # not needed (proven)"
    )
    already = "x: NotRequired[Annotated[int, ks.Drop()]]  # not needed (proven)"
    assert one("x: NotRequired[int]", absent) == already


@pytest.mark.parametrize(
    ("head", "new", "field"),
    [
        (
            "from typing import TypedDict\n",
            "from typing import Annotated, TypedDict\n\nimport keepset as ks\n",
            "Annotated[int, ks.Keep()]",
        ),
        (
            f"{FUTURE}import dataclasses\n",
            f"{FUTURE}import dataclasses\nfrom typing import Annotated\n\nimport keepset as ks\n",
            "Annotated[int, ks.Keep()]",
        ),
        (
            '"""Doc."""\nimport typing as t\nimport keepset\n',
            '"""Doc."""\nimport typing as t\nimport keepset\n',
            "t.Annotated[int, keepset.Keep()]",
        ),
        (
            "from typing_extensions import Annotated as A\nfrom keepset import Keep as K\n",
            "from typing_extensions import Annotated as A\nfrom keepset import Keep as K\n",
            "A[int, K()]",
        ),
        (
            "from typing import (\n    Any,\n    cast,\n)\nks = 3\n",
            "from typing import (\n    Annotated, Any,\n    cast,\n)\n\nimport keepset\nks = 3\n",
            "Annotated[int, keepset.Keep()]",
        ),
        (
            f"from typing import TypedDict\n{UNDER_IF}",
            f"from typing import Annotated, TypedDict\n\nimport keepset\n{UNDER_IF}",
            "Annotated[int, keepset.Keep()]",
        ),
    ],
)
def test_imports_are_used_under_their_names_and_missing_ones_are_added(
    head: str, new: str, field: str
) -> None:
    source = f"{head}\n\nclass T(TypedDict):\n    x: int\n"
    found = written(source, "T", {"x": KEEP})
    assert found == f"{new}\n\nclass T(TypedDict):\n    x: {field}{SAID}\n"


def test_a_field_of_a_base_in_the_same_module_is_edited_there() -> None:
    source = f"{HEAD}class B(TypedDict):\n    x: int\n\n\nclass T(B):\n    y: int\n"
    assert f"    x: Annotated[int, ks.Keep()]{SAID}\n" in written(source, "T", {"x": KEEP})


def test_a_class_inside_others_is_found_by_its_qualified_name() -> None:
    source = f"{HEAD}def make():\n    class T(TypedDict):\n        x: int\n    return T\n"
    assert "Annotated[int, ks.Keep()]" in written(source, "make.<locals>.T", {"x": KEEP})


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("class T(:\n", "source.syntax"),
        ("class U:\n    x: int\n", "source.no-class"),
        ("T = TypedDict('T', {'x': int})\n", "source.dynamic"),
        ("if a:\n    class T: x: int\nelse:\n    class T: x: str\n", "source.two-classes"),
        ("from other import Base\nclass T(Base):\n    y: int\n", "source.inherited"),
        ("import other\nclass T(other.Base[int]):\n    y: int\n", "source.inherited"),
        ("class T(TypedDict):\n    y: int\n", "source.no-field"),
        ("class T(TypedDict):\n    x: 'in' 't'\n", "source.annotation"),
        ("class T(TypedDict):\n    x: '\\x69nt'\n", "source.annotation"),
        ("Annotated = 3\nclass T(TypedDict):\n    x: int\n", "source.name-taken"),
        ("ks = keepset = 3\nclass T(TypedDict):\n    x: int\n", "source.name-taken"),
        ("import a; s = '''\n'''\nclass T(TypedDict):\n    x: int\n", "source.cannot-edit"),
    ],
)  # fmt: skip
def test_what_cannot_be_edited_safely_is_refused_by_name(source: str, code: str) -> None:
    assert refused(source) == code


def test_a_rule_that_stands_elsewhere_is_not_given_a_second_one() -> None:
    source = f"{HEAD}Id = Annotated[int, ks.Drop()]\n\n\nclass T(TypedDict):\n    x: Id\n"
    declared = Recommendation("Keep()", "needed", declared=True)
    assert refused(source, declared) == "source.rule-elsewhere"


def test_a_key_that_is_said_to_be_required_is_not_dropped() -> None:
    source = f"{HEAD}class T(TypedDict, total=False):\n    x: Required[int]\n"
    assert refused(source, Recommendation("Drop()", "", absent=True)) == "source.required"


ANNOTATIONS = st.sampled_from(
    [
        *(
            "int",
            "list[str]",
            "dict[str, list[int]]",
            "'T'",
            "(int)",
            "int | None",
            "list[  # c\n  'ü']",
        ),
        *("Annotated[int, 'a']", "NotRequired[int]", "Annotated[\n  int,  # a, b\n  3,\n ]"),
        *(f"Annotated[int, {REPLACED}]", "'Annotated[int, 3]'"),
    ]
)
COMMENTS = st.sampled_from(["", "  # why", " # isort: skip", "  \t", "  # é [x] (y)", "# x"])
BETWEEN = st.sampled_from(["", "    # about the next\n", "\n\n", '    """x: int"""\n', "    \n"])
IMPORTS = st.sampled_from(
    [
        *(
            "",
            "import keepset as ks\n",
            "import keepset\n",
            "from keepset import Drop\n",
            "ks = 1\n",
        ),
        *("from typing import Annotated\n", "import typing\n", "from x import *  # all\n"),
        *("from typing import (  # a\n  Any,\n  cast\n)\n", "import a, b; import c\n", "\x0c\n"),
    ]
)
NAMES = ["x", "y", "é", "z"]


@st.composite
def modules(draw: st.DrawFn) -> tuple[str, dict[str, Recommendation]]:
    """A module with a class of some fields, and what is wanted of them."""
    lines = [draw(st.sampled_from(["", '"""Doc."""\n', "#!/usr/bin/env python\n# ©\n", "\ufeff"]))]
    lines += ["from typing import TypedDict, NotRequired\n", *draw(st.lists(IMPORTS, max_size=4))]
    lines += ["\n\nclass T(TypedDict):\n"]
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    for name in names:
        lines.append(draw(BETWEEN))
        lines.append(f"    {name}: {draw(ANNOTATIONS)}{draw(COMMENTS)}\n")
    lines.append(draw(st.sampled_from(["", "\n\ndef f(): pass\n", "# the end"])))
    wanted = st.sampled_from([KEEP, DROP, Recommendation("", "look at it")])
    chosen = draw(st.dictionaries(st.sampled_from(names), wanted))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return "".join(lines).replace("\n", newline), chosen


@given(modules())
@example(("from typing import TypedDict\nclass T(TypedDict):\n    x: int", {"x": DROP}))
def test_everything_else_stays_byte_for_byte(case: tuple[str, dict[str, Recommendation]]) -> None:
    source, wanted = case
    try:
        new = written(source, "T", wanted)
    except UsageError as error:
        assert error.code == "source.name-taken"  # noqa: PT017 - what a case may be about
        return
    if not wanted:
        assert new == source
    letters = iter(new)
    assert all(letter in letters for letter in source.replace(REPLACED, "")), "something is gone"
    gone = Counter(source.splitlines(keepends=True)) - Counter(new.splitlines(keepends=True))
    assert all(line.lstrip("\ufeff ").startswith(_touched(wanted)) for line in gone)
    assert written(new, "T", wanted) == new


def _touched(wanted: dict[str, Recommendation]) -> tuple[str, ...]:
    """How the lines begin that may be others; those below a field's first one as well."""
    return (
        *(f"{name}:" for name in wanted),
        "from typing",
        "Any,",
        "cast",
        "]",
        "'ü'",
        "int,",
        "3,",
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_that_was_written_is_sound_and_proves_right(kind: str, tmp_path: Path) -> None:
    module = module_of(tmp_path, f"shop_{kind}", KINDS[kind])
    wanted = recommended(proof_of(module), contract_of(module.Ticket).fields, ("question",))
    assert wanted["cache"].rule == "Drop()"
    new = written(KINDS[kind], "Ticket", wanted)
    assert written(new, "Ticket", wanted) == new
    again = module_of(tmp_path, f"again_{kind}", new)
    proof = proof_of(again)
    assert not proof.declared
    assert recommended(proof, contract_of(again.Ticket).fields, ("question",)) == {}
    fresh = module_of(tmp_path, f"fresh_{kind}", written_out(contract_of(module.Ticket), wanted))
    assert not proof_of(module, fresh.Ticket).declared
    assert contract_of(fresh.Ticket).shape == contract_of(again.Ticket).shape
    for name in ("again", "fresh"):
        said = start("check", f"{name}_{kind}:Ticket", "--json", folder=tmp_path)
        assert (said.code, said.result("check")["errors"]) == (0, 0)


@pytest.mark.timeout(400)
@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed here")
def test_what_was_written_type_checks_strictly(tmp_path: Path) -> None:
    names = []
    for kind, source in KINDS.items():
        module = module_of(tmp_path, f"typed_{kind}", source)
        contract = contract_of(module.Ticket)
        wanted = recommended(proof_of(module), contract.fields, ("question",))
        (tmp_path / f"typed_{kind}.py").write_text(written(source, "Ticket", wanted), "utf-8")
        (tmp_path / f"out_{kind}.py").write_text(written_out(contract, wanted), "utf-8")
        names += [f"typed_{kind}.py", f"out_{kind}.py"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=cache", *names],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
