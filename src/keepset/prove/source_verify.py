"""A new text of a module is read again before it is handed out: is all the rest what it was?"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from keepset.errors import UsageError


def require_same(
    before: ast.Module, new: str, added: frozenset[str], fields: Sequence[ast.AnnAssign]
) -> None:
    """Refuse a text that says something else, beside the annotations and imports that were wanted.

    Args:
        before: What the old text says.
        new: The new text.
        added: The imports that were added, as dotted names.
        fields: The lines of the fields, in the old text.

    Raises:
        UsageError: ``source.cannot-edit``.
    """
    names = {field.target.id for field in fields if isinstance(field.target, ast.Name)}
    try:
        after = ast.parse(new)
    except (SyntaxError, ValueError):
        after = ast.Module([], [])
    old, now = _without(before, names, frozenset()), _without(after, names, added)
    if old != now:
        raise UsageError(
            "the class stands in the text in a way that cannot be edited: nothing was written",
            code="source.cannot-edit",
            hint="Write one field on each line, and imports on lines of their own.",
        )


def _without(tree: ast.Module, names: set[str], added: frozenset[str]) -> list[str]:
    """Give what a module says, without the annotations of some fields and some imports."""
    return [line for stmt in tree.body for line in _said(stmt, names, added)]


def _said(stmt: ast.stmt, names: set[str], added: frozenset[str]) -> Iterator[str]:
    if isinstance(stmt, ast.Import | ast.ImportFrom):
        module = f"{stmt.module}." if isinstance(stmt, ast.ImportFrom) else ""
        for one in stmt.names:
            if f"{module}{one.name}" not in added:
                yield f"{ast.dump(stmt)[:10]} {getattr(stmt, 'level', '')} {module} {ast.dump(one)}"
    else:
        yield ast.dump(_Blank(names).visit(stmt))


class _Blank(ast.NodeTransformer):
    """Takes the annotations of some fields away."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        """Take the annotation away where it is that of a field."""
        if not (isinstance(node.target, ast.Name) and node.target.id in self._names):
            return node
        blank = ast.Constant(None)
        return ast.AnnAssign(node.target, blank, node.value, node.simple)
