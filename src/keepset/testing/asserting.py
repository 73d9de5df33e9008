"""Assertions on how a workflow resumes, with the one command that shows what went wrong."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from keepset.prove.findings import CONTRACT_WRONG, ProofFinding, findings
from keepset.prove.proof import Proof, Proven
from keepset.testing.proving import AUTO, Given, Options, answers_of, inputs_of, prove


def assert_resumes(  # noqa: PLR0913 - as `prove`
    target: Any,
    input: Any = None,  # noqa: A002 - as `prove`
    *,
    turns: Sequence[Any] = (),
    answers: Sequence[Any] | str = (),
    world: Callable[[], object] | str | None = None,
    observe: Callable[[], object] | str | None = None,
    between: Callable[[], object] | str | None = None,
    options: Options | None = None,
) -> Proof:
    """Assert that a workflow resumes right at every checkpoint, by the rules that it declares.

    Args:
        target: See `keepset.testing.prove`, as for all others.
        input: What the run begins with, or the name of that.
        turns: What it begins with turn after turn, instead.
        answers: What a human answers, in order.
        world: Makes the outside world before a trial.
        observe: Gives what happened outside.
        between: Changes the world between the end of one life and the next.
        options: How it is carried out.

    Returns:
        The proof, for what else a test wants to know.

    Raises:
        AssertionError: Something is needed and not stored, a rule goes wrong, or it could not be
            measured.
        UsageError: The target or an option is wrong.
    """
    how = options or Options()
    proof = prove(
        target,
        input,
        turns=turns,
        answers=answers,
        world=world,
        observe=observe,
        between=between,
        options=how,
    )
    wrong = list(complaints(proof))
    if wrong:
        given = Given(target, world, observe, between, inputs_of(input, turns), answers_of(answers))
        raise AssertionError("\n".join([*wrong, "", f"To see it: {command(given, how)}"]))
    return proof


def complaints(proof: Proof) -> Iterator[str]:
    """Say what of a proof no test may pass over."""
    for finding in findings(proof):
        if finding.severity == "error":
            yield _told(finding)
    if proof.is_conclusive:
        return
    if proof.unlike:
        yield f"{proof.name} cannot be repeated: two runs differ in {', '.join(proof.unlike)}"
    elif proof.failure:
        yield f"{proof.name} fails by itself: {proof.failure}"
    elif not proof.points:
        yield f"{proof.name} has no checkpoint that it could be resumed from"
    else:
        yield from _unclear(proof)


def together(proof: Proof) -> Iterator[str]:
    """Say what goes wrong under all rules together, where no field by itself does."""
    return (_told(finding) for finding in findings(proof) if finding.code == CONTRACT_WRONG)


def _told(finding: ProofFinding) -> str:
    place = f"{finding.field}: " if finding.field else ""
    return f"{place}{finding.message} [{finding.code}]\n  {finding.hint}"


def _unclear(proof: Proof) -> Iterator[str]:
    for field in proof.fields:
        for cell in field.cells:
            if cell.verdict is Proven.INCONCLUSIVE:
                yield f"{field.name}: it could not be measured {cell.point}: {cell.why}"
                break


def command(given: Given, options: Options) -> str:
    """Write the command line that proves the same.

    What a run begins with is no part of it: it may be personal. A file stands in its place, unless
    it has a name.

    Args:
        given: What is proven; what has no name is left for the reader to name.
        options: How.
    """
    names = given.names()
    words = ["keepset", "prove", names["target"] or "MODULE:NAME"]
    for option, value in {"input": given.inputs, "answers": given.answers}.items():
        if value:
            words += [f"--{option}", value if isinstance(value, str) else f"{option.upper()}.json"]
    for option in ("world", "observe", "between"):
        if getattr(given, option) is not None:
            words += [f"--{option}", names[option] or "MODULE:NAME"]
    named = {"--output": options.outputs, "--at": options.points, "--field": options.fields}
    named["--pin"] = () if AUTO in options.pins else options.pins or ("none",)
    for name in ("timeout", "most"):
        value = getattr(options, name)
        named[f"--{name}"] = () if value == getattr(Options(), name) else (f"{value:g}",)
    for option, values in named.items():
        for value in values:
            words += [option, value]
    return shlex.join([*words, *(["--crash"] if options.crash else [])])
