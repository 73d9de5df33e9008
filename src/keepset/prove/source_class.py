"""Where a class stands in a module's text, and where it or one of its bases declares a field."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from keepset.errors import UsageError
from keepset.prove.source_text import SourceText

_HINT = "Write the contract to a new file, and use the class in it."


def find_class(text: SourceText, name: str) -> ast.ClassDef:
    """Find a class by its qualified name.

    Raises:
        UsageError: ``source.no-class``, ``source.two-classes``, ``source.dynamic``.
    """
    found = [cls for path, cls in _classes(text.tree, "") if path == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"{len(found)} classes are called {name} in the module: nothing was written",
            code="source.two-classes",
            hint="Give them names of their own.",
        )
    if any(_is_made(node, name) for node in ast.walk(text.tree)):
        raise UsageError(
            f"{name} is made by a call, so that no text declares its fields: nothing was written",
            code="source.dynamic",
            hint=_HINT,
        )
    raise UsageError(
        f"the module declares no class {name}: nothing was written",
        code="source.no-class",
        hint=_HINT,
    )


def find_field(text: SourceText, cls: ast.ClassDef, name: str) -> ast.AnnAssign:
    """Find the line that declares a field, in the class or in a base of the same module.

    Raises:
        UsageError: ``source.inherited`` where a base of another module declares it, and
            ``source.no-field``.
    """
    outside: list[str] = []
    found = next(_declared(text, cls, name, outside, set()), None)
    if found is not None:
        return found
    if outside:
        raise UsageError(
            f"{cls.name}.{name} is declared in another module, by {' or '.join(outside)}: "
            "nothing was written",
            code="source.inherited",
            hint=f"Declare {name} again in {cls.name}, or write the contract to a new file.",
        )
    raise UsageError(
        f"{cls.name} does not declare {name}: nothing was written",
        code="source.no-field",
        hint=_HINT,
    )


def _classes(around: ast.AST, path: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for node in ast.iter_child_nodes(around):
        if isinstance(node, ast.ClassDef):
            yield f"{path}{node.name}", node
            yield from _classes(node, f"{path}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _classes(node, f"{path}{node.name}.<locals>.")
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _classes(node, path)


def _is_made(node: ast.AST, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    last = name.rpartition(".")[2]
    return any(isinstance(target, ast.Name) and target.id == last for target in targets)


def _declared(
    text: SourceText, cls: ast.ClassDef, name: str, outside: list[str], seen: set[str]
) -> Iterator[ast.AnnAssign]:
    seen.add(cls.name)
    for stmt in cls.body:
        if isinstance(stmt, ast.AnnAssign) and _is_name(stmt.target, name):
            yield stmt
    top = {one.name: one for one in text.tree.body if isinstance(one, ast.ClassDef)}
    for base in cls.bases:
        plain = base.value if isinstance(base, ast.Subscript) else base
        local = top.get(plain.id) if isinstance(plain, ast.Name) else None
        if local is None:
            if not _is_root(plain):
                outside.append(ast.unparse(plain))
        elif local.name not in seen:
            yield from _declared(text, local, name, outside, seen)


def _is_root(base: ast.expr) -> bool:
    """Say whether a base declares no fields: those that make a class a state."""
    last = base.id if isinstance(base, ast.Name) else getattr(base, "attr", "")
    return last in {"TypedDict", "BaseModel", "Struct", "Generic", "Protocol", "object"}


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
