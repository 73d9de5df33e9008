"""A proof as JUnit's XML, which CI reads: one test case for each field and point.

The elements and attributes are those that Jenkins, GitLab and GitHub's report actions read: a
suite with its counts, cases with ``classname`` and ``name``, ``failure`` and ``skipped`` with a
``message``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from keepset.cli.output import one_row
from keepset.prove.findings import ProofFinding, findings
from keepset.prove.proof import FieldProof, Proof, Proven

_BY: Final = "keepset prove"
_RULES: Final = "the declared rules"
"""Stands for a field where it is all of them together that go wrong."""


@dataclass(frozen=True, slots=True)
class Case:
    """One test case.

    Attributes:
        name: Field and point: ``docs after find``.
        result: How it ended.
        message: Why, where it did not pass.
        detail: More of that.
    """

    name: str
    result: Literal["passed", "failure", "skipped"] = "passed"
    message: str = ""
    detail: str = ""


def junit(proof: Proof) -> str:
    """Give the XML.

    A case fails where an error in the declared contract shows at its point, and is skipped where
    it could not be said what is right.
    """
    cases = list(_cases(proof))
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.result == "failure" for case in cases)),
        "errors": "0",
        "skipped": str(sum(case.result == "skipped" for case in cases)),
    }
    name = one_row(proof.name)
    root = Element("testsuites", {"name": _BY, **counts})
    suite = SubElement(root, "testsuite", {"name": name, **counts})
    for case in cases:
        element = SubElement(suite, "testcase", {"classname": name, "name": one_row(case.name)})
        if case.result != "passed":
            why = SubElement(element, case.result, {"message": one_row(case.message)})
            why.text = one_row(case.detail) or None
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def is_junit(begin: bytes) -> bool:
    """Tell whether a file begins as such XML, or is empty: another may take its place."""
    return not begin or f'<testsuites name="{_BY}"'.encode() in begin


def _cases(proof: Proof) -> Iterator[Case]:
    errors = {f.field: f for f in reversed(findings(proof)) if f.severity == "error"}
    for field in proof.fields:
        if not field.cells:
            yield from _unmeasured(field, proof)
        for cell in field.cells:
            name = f"{field.name} {cell.point}"
            error = errors.get(field.name)
            if error and cell.point in _points(error, field):
                found = (field.misled or {}).get(cell.point) or cell.differences
                what = "; ".join(one.what for one in found)
                yield Case(name, "failure", f"{error.message} [{error.code}]", what or error.hint)
            elif cell.verdict is Proven.INCONCLUSIVE:
                yield Case(name, "skipped", f"inconclusive: {cell.why}")
            else:
                yield Case(name)
    if "" in errors:
        for point, wrong in (proof.declared or {}).items():
            what = "; ".join(one.what for one in wrong)
            message = f"{errors[''].message} [{errors[''].code}]"
            yield Case(f"{_RULES} {point}", "failure", message, what)


def _points(error: ProofFinding, field: FieldProof) -> set[str]:
    """Name the points at which an error shows."""
    if error.code == "prove.stale":
        return set(field.stale)
    if error.code == "prove.rule-goes-wrong":
        return set(field.misled or ())
    return {cell.point for cell in field.cells if cell.verdict is field.verdict}


def _unmeasured(field: FieldProof, proof: Proof) -> Iterator[Case]:
    why = f"it fails by itself: {proof.failure}" if proof.failure else "nothing could be measured"
    if proof.unlike:
        why = f"not repeatable: runs differ in {', '.join(proof.unlike)}"
    for point in proof.points or ("at any point",):
        yield Case(f"{field.name} {point}", "skipped", f"inconclusive: {why}")
