"""The names of a module: what its imports mean, and which imports have to be added."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from keepset.errors import UsageError
from keepset.prove.source_text import SourceText

RULES: Final = frozenset({"Keep", "Refetch", "Reopen", "Secret", "Scratch", "Extract", "Drop"})
_TYPING: Final = ("typing", "typing_extensions")


class Names:
    """What names mean in front of a class, and how to write those that are needed."""

    def __init__(self, text: SourceText, line: int) -> None:
        """Read a module's imports.

        Args:
            text: The module.
            line: The line of the class: what is imported below it is of no use.
        """
        self._text = text
        self._line = line
        self._meant = dict(_imported(ast.walk(text.tree)))
        self._there = dict(_imported(stmt for stmt in text.tree.body if stmt.lineno < line))
        self._bound = set(_bound(text.tree))
        self._typing: list[str] = []
        self._keepset = ""

    def meaning(self, node: ast.expr) -> str:
        """Give the dotted name that an expression stands for; empty where it is none."""
        if isinstance(node, ast.Name):
            return self._meant.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            around = self.meaning(node.value)
            return f"{around}.{node.attr}" if around else ""
        return ""

    def is_typing(self, node: ast.expr, *names: str) -> bool:
        """Say whether an expression is one of some names of `typing`, wherever it comes from."""
        return self.meaning(node).rpartition(".")[2] in names

    def rule(self, node: ast.expr) -> str:
        """Give the kind of the rule that an expression makes; empty where it makes none."""
        if not isinstance(node, ast.Call):
            return ""
        module, _, kind = self.meaning(node.func).rpartition(".")
        return kind if kind in RULES and module.partition(".")[0] == "keepset" else ""

    def typing(self, name: str) -> str:
        """Write a name of `typing`, and see to its import."""
        for module in _TYPING:
            if written := self._written(module, name):
                return written
        if name in self._there:  # imported from a module that hands it on
            return name
        self._take(name)
        if name not in self._typing:
            self._typing.append(name)
        return name

    def of_keepset(self, rule: str) -> str:
        """Write a rule, such as ``Keep()``, and see to the import."""
        kind, _, rest = rule.partition("(")
        if written := self._written("keepset", kind):
            return f"{written}({rest}"
        if not self._keepset:
            free = [name for name in ("ks", "keepset") if name not in self._bound]
            if not free:
                self._take("keepset")
            self._keepset = free[0]
        return f"{self._keepset}.{rule}"

    def _written(self, module: str, name: str) -> str:
        for local, meant in self._there.items():
            if meant == f"{module}.{name}":
                return local
        for local, meant in self._there.items():
            if meant == module:
                return f"{local}.{name}"
        return ""

    def _take(self, name: str) -> None:
        if name in self._bound:
            raise UsageError(
                f"the module uses the name {name} for something else: nothing was written",
                code="source.name-taken",
                hint=f"Import {name} by hand, under another name if need be.",
            )

    def added(self) -> frozenset[str]:
        """Give what imports were added, as dotted names."""
        typing = {f"typing.{name}" for name in self._typing}
        return frozenset(typing | ({"keepset"} if self._keepset else set()))

    def add_imports(self) -> None:
        """Note the edits that import what has been written."""
        if self._typing:
            there = next(self._from_typing(), None)
            if there is None:
                self._insert(f"from typing import {', '.join(sorted(self._typing))}", standard=True)
            else:
                self._join(there)
        if self._keepset:
            name = "" if self._keepset == "keepset" else f" as {self._keepset}"
            self._insert(f"import keepset{name}", standard=False)

    def _insert(self, line: str, *, standard: bool) -> None:
        """Note an import behind the others of its kind, a blank line before another kind."""
        head = self._head()
        alike = [one for one in head if _is_standard(one)] if standard else head
        last = next(reversed(alike or head), None)
        newline = self._text.newline
        text = f"{line}{newline}"
        if last is None:
            place = self._first()
        else:
            place = self._text.line((last.end_lineno or 0) + 1)
            if _is_future(last) or (not standard and _is_standard(last)):
                text = f"{newline}{text}"
        self._text.replace(place, place, text.encode())

    def _from_typing(self) -> Iterator[ast.ImportFrom]:
        for stmt in self._text.tree.body:
            if stmt.lineno >= self._line:
                break
            if not isinstance(stmt, ast.ImportFrom) or stmt.level or stmt.names[0].name == "*":
                continue
            if stmt.module == "typing":
                yield stmt

    def _join(self, stmt: ast.ImportFrom) -> None:
        """Add names to an import that is there, each in its place in the alphabet."""
        for name in sorted(self._typing):
            behind = next((one for one in stmt.names if one.name.lower() > name.lower()), None)
            if behind is None:
                place = self._text.end(stmt.names[-1])
                self._text.replace(place, place, f", {name}".encode())
            else:
                place = self._text.start(behind)
                self._text.replace(place, place, f"{name}, ".encode())

    def _head(self) -> list[ast.stmt]:
        """Give the first imports of the module that stand together."""
        before = [stmt for stmt in self._text.tree.body if stmt.lineno < self._line]
        found = [list(group) for is_import, group in groupby(before, key=_is_import) if is_import]
        return found[0] if found else []

    def _first(self) -> int:
        """Give the offset of the first statement behind the module's docstring."""
        body = self._text.tree.body
        is_doc = ast.get_docstring(self._text.tree, clean=False) is not None
        return self._text.line((body[0].end_lineno or 0) + 1 if is_doc else body[0].lineno)


def _imported(nodes: Iterator[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for one in node.names:
                local = one.asname or one.name.partition(".")[0]
                yield local, one.name if one.asname else local
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            for one in node.names:
                yield one.asname or one.name, f"{node.module}.{one.name}"


def _bound(tree: ast.Module) -> Iterator[str]:
    """Give all names that a module gives to anything."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]


def _is_import(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Import | ast.ImportFrom)


def _is_future(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__"


def _is_standard(stmt: ast.stmt) -> bool:
    if _is_future(stmt):
        return False
    if isinstance(stmt, ast.ImportFrom):
        return stmt.level == 0 and (stmt.module or "").partition(".")[0] in sys.stdlib_module_names
    return isinstance(stmt, ast.Import) and all(
        one.name.partition(".")[0] in sys.stdlib_module_names for one in stmt.names
    )
