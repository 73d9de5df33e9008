"""Write what a proof recommends: into the class that declares the state, or to a new file."""

from __future__ import annotations

import difflib
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keepset.cli import output
from keepset.cli.counts import counted
from keepset.errors import UsageError
from keepset.prove.recommend import Recommendation, recommended
from keepset.prove.source import written
from keepset.prove.written_out import written_out
from keepset.providers.files import Wanted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from keepset.prove.ports import Target
    from keepset.prove.proof import Proof

IN_PLACE = "in place"
"""Stands for the class's own module."""


def module_of(target: Target) -> Wanted:
    """Give the module that declares the state, before anything is run for the sake of writing it.

    Raises:
        UsageError: ``source.…``: the class stands in no file, or cannot be found in it.
    """
    cls = _class(target)
    module = sys.modules.get(cls.__module__)
    file = inspect.getsourcefile(module) if module is not None else None
    if file is None or not Path(file).is_file():
        raise UsageError(
            f"the module of {cls.__qualname__} has no file",
            code="source.no-class",
            hint="Write the contract to a new file: --write-contract state.py",
        )
    wanted = Wanted(Path(file), replaces=True)
    written(_source(wanted), cls.__qualname__, {})
    return wanted


def write_contract(
    proof: Proof, target: Target, inputs: Sequence[Any], place: Wanted, *, apply: bool | None
) -> None:
    """Write the recommended rules, or show what would be written.

    Args:
        proof: What was measured.
        target: What was proven.
        inputs: What a run begins with.
        place: The file that the class is written out to, or its own module.
        apply: Whether the class's own module is changed; None for a file, which is always written.

    Raises:
        UsageError: ``source.…`` for what cannot be edited or written; and see `Wanted.writing`.
        StoreError: ``file.cannot-write``; the module is then as it was.
    """
    given = {str(name) for one in inputs if isinstance(one, dict) for name in one}
    fields = target.contract.fields
    wanted = recommended(proof, {n: f for n, f in target.fields.items() if n in fields}, given)
    if not proof.is_conclusive:
        output.note("no contract is written: some of it could not be measured")
    elif not wanted:
        output.note("the contract is what the proof recommends: there is nothing to write")
    elif apply is None:
        place.write(written_out(target.contract, wanted))
        output.note(f"{place.path}: written, with {_otherwise(wanted)}")
    else:
        _in_place(place, _class(target), wanted, apply=apply)


def _in_place(
    module: Wanted, cls: type, wanted: Mapping[str, Recommendation], *, apply: bool
) -> None:
    path, before = module.path, _source(module)
    after = written(before, cls.__qualname__, wanted)
    if apply:
        module.write(after)
        output.note(f"{path}: {_otherwise(wanted)}")
        return
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), str(path), f"{path} (proposed)", lineterm=""
    )
    for line in lines:
        output.note(line)
    output.note("add --apply to write it")


def _otherwise(wanted: Mapping[str, Recommendation]) -> str:
    return f"{counted(len(wanted), 'field')} declared otherwise"


def _class(target: Target) -> type:
    state = target.contract.state
    cls: type = getattr(state, "__origin__", state)
    return cls


def _source(module: Wanted) -> str:
    return module.path.read_bytes().decode("utf-8")
