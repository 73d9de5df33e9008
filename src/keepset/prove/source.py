"""Write recommended rules into the text of a module, and leave every other byte as it was."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from keepset.errors import UsageError
from keepset.prove.recommend import Recommendation
from keepset.prove.source_class import find_class, find_field
from keepset.prove.source_names import Names
from keepset.prove.source_text import SourceText, read
from keepset.prove.source_verify import require_same

_AROUND: Final = ("NotRequired", "Required", "ReadOnly", "Final")
_QUOTED: Final = re.compile(rb"""(\"\"\"|'''|"|')(.*)\1""", re.DOTALL)
_OURS: Final = re.compile(rb"[ \t]*# [^#]*\(proven\)(?=[ \t]*$)")
_COMMENT: Final = re.compile(rb"[ \t]*(#.*)?")


@dataclass(frozen=True)
class _Annotation:
    """An annotation, taken apart.

    Attributes:
        plain: The type itself, or the whole of ``Annotated`` around it.
        rule: The rule that stands there, or None.
        beside: Whether there is an ``Annotated`` already.
        around: Names that stand around it, such as ``NotRequired``.
    """

    plain: ast.expr
    rule: ast.expr | None
    beside: ast.Subscript | None
    around: tuple[str, ...]


def written(source: str, cls: str, wanted: Mapping[str, Recommendation]) -> str:
    """Write rules into the class that declares a state.

    A rule that is there already stays as it is, with its options. Imports that are missing are
    added. What was measured is said in a comment at the end of the field's line.

    Args:
        source: The text of the class's module.
        cls: The class's qualified name.
        wanted: What to declare, by field.

    Returns:
        The new text; the same one where nothing is to be done.

    Raises:
        UsageError: ``source.…``: what cannot be edited safely. Nothing is written then.
    """
    mark, text = read(source)
    found = find_class(text, cls)
    names = Names(text, found.lineno)
    lines = {name: find_field(text, found, name) for name in wanted}
    for name, stmt in lines.items():
        _declare(text, names, stmt, name, wanted[name])
    names.add_imports()
    new = text.edited()
    require_same(text.tree, new, names.added(), list(lines.values()))
    return mark + new


def _declare(
    text: SourceText, names: Names, stmt: ast.AnnAssign, name: str, wanted: Recommendation
) -> None:
    """Note the edits for one field."""
    if wanted.rule:
        new = _annotated(text, names, stmt.annotation, name, wanted)
        if new is None:
            return
        text.replace(text.start(stmt.annotation), text.end(stmt.annotation), new)
    _comment(text, text.end(stmt), wanted.reason)


def _annotated(
    text: SourceText, names: Names, node: ast.expr, name: str, wanted: Recommendation
) -> bytes | None:
    """Give the annotation with its rule; None where it has the rule already."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        quote, inside, inner = _unquoted(text, node, name)
        taken = _taken_apart(inner, names)
        if taken.beside is not None or taken.around:
            new = _annotated(inside, names, inner, name, wanted)
            return None if new is None else quote + new + quote
    taken = _taken_apart(node, names)
    kind = wanted.rule.partition("(")[0]
    if taken.rule is not None and names.rule(taken.rule) == kind:
        return None
    if taken.rule is None and wanted.declared:
        raise UsageError(
            f"the rule of {name} stands elsewhere than in its annotation: nothing was written",
            code="source.rule-elsewhere",
            hint=f"Write the rule beside the type: {name}: Annotated[…, {wanted.rule}].",
        )
    rule = names.of_keepset(wanted.rule).encode()
    start, end = text.start(node), text.end(node)
    if taken.rule is not None:
        first, last, new = text.start(taken.rule), text.end(taken.rule), rule
    elif taken.beside is not None:
        first = last = _behind(text, _first(taken.beside))
        new = b", " + rule
    else:
        first, last = text.start(taken.plain), text.end(taken.plain)
        new = f"{names.typing('Annotated')}[".encode() + text.data[first:last] + b", " + rule + b"]"
    whole = text.data[start:first] + new + text.data[last:end]
    return _absent(whole, names, taken, name) if wanted.absent else whole


def _absent(whole: bytes, names: Names, taken: _Annotation, name: str) -> bytes:
    """Let the class allow that the field is absent, which is what was measured."""
    if "NotRequired" in taken.around:
        return whole
    if "Required" in taken.around:
        raise UsageError(
            f"{name} is Required, and a dropped field is absent: nothing was written",
            code="source.required",
            hint=f"Make it NotRequired, or leave {name} as it is.",
        )
    return f"{names.typing('NotRequired')}[".encode() + whole + b"]"


def _taken_apart(node: ast.expr, names: Names) -> _Annotation:
    around: list[str] = []
    beside: ast.Subscript | None = None
    rule: ast.expr | None = None
    while isinstance(node, ast.Subscript):
        if names.is_typing(node.value, *_AROUND):
            around.append(names.meaning(node.value).rpartition(".")[2])
            node = node.slice
        elif names.is_typing(node.value, "Annotated") and isinstance(node.slice, ast.Tuple):
            # The outermost is where a rule is put: a host reads the others in the same order.
            beside = beside or node
            rule = rule or next((one for one in node.slice.elts[1:] if names.rule(one)), None)
            node = node.slice.elts[0]
        else:
            break
    return _Annotation(node, rule, beside, tuple(around))


def _first(beside: ast.Subscript) -> ast.expr:
    elements = beside.slice
    if not isinstance(elements, ast.Tuple):  # `_taken_apart` takes no other
        raise TypeError(type(elements).__name__)
    return elements.elts[0]


def _behind(text: SourceText, node: ast.expr) -> int:
    """Give the offset of the comma behind a type: parentheses around it are no part of it."""
    at = text.end(node)
    while text.data[at : at + 1] != b",":
        comment = re.compile(rb"#[^\r\n]*").match(text.data, at)
        at = comment.end() if comment else at + 1
    return at


def _unquoted(
    text: SourceText, node: ast.Constant, name: str
) -> tuple[bytes, SourceText, ast.expr]:
    """Read an annotation that is a text; its bytes are those of the text, or it is refused."""
    data = text.data[text.start(node) : text.end(node)]
    found = _QUOTED.fullmatch(data)
    inner = found[2] if found else b""
    if found is None or inner.decode() != node.value or b"\\" in inner:
        raise _unreadable(name)
    try:
        tree = ast.parse(inner.decode())
    except SyntaxError as error:
        raise _unreadable(name) from error
    [stmt] = tree.body if len(tree.body) == 1 else [None]
    if not isinstance(stmt, ast.Expr):
        raise _unreadable(name)
    return found[1], SourceText(inner, tree), stmt.value


def _unreadable(name: str) -> UsageError:
    return UsageError(
        f"the annotation of {name} is a text that cannot be edited: nothing was written",
        code="source.annotation",
        hint="Write the annotation without quotes, or as one plain text.",
    )


def _comment(text: SourceText, end: int, reason: str) -> None:
    """Note a comment at the end of a line, behind one that is there, in place of our own."""
    rest = text.rest(end)
    if not _COMMENT.fullmatch(rest):
        return  # another statement stands on the line
    said = f"  # {reason} (proven)".encode()
    ours = _OURS.search(rest)
    if ours is not None:
        text.replace(end + ours.start(), end + ours.end(), said)
    elif rest.strip():
        at = end + len(rest.rstrip())
        text.replace(at, at, said)
    else:
        text.replace(end, end, said)
