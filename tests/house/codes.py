"""Which error codes the source has, and of which class: read from its syntax trees.

An error's code is a literal where the error is made, or the argument of a function that makes it,
or it stands in a table of the module that makes it. What is computed in a code reads ``*``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from keepset import errors
from tests.house.tree import modules

CLASSES: dict[str, type[errors.KeepsetError]] = {
    cls.__name__: cls
    for cls in vars(errors).values()
    if isinstance(cls, type) and issubclass(cls, errors.KeepsetError)
}
DOTTED = re.compile(r"[a-z]+(-[a-z]+)*(\.[a-z]+(-[a-z]+)*)+")


@dataclass(frozen=True)
class Raised:
    """One error that the source makes."""

    cls: str
    code: str
    place: str


@dataclass(frozen=True)
class Maker:
    """A function that makes an error with a code that it is given."""

    cls: str
    position: int


def raised() -> set[Raised]:
    """Every error that the source makes; a code that cannot be read is empty."""
    makers = {name: maker for _, _, tree in modules("src") for name, maker in _makers(tree)}
    found = set()
    for path, _, tree in modules("src"):
        for call, around in _calls(tree):
            name = _called(call)
            cls = name if name in CLASSES else makers[name].cls if name in makers else ""
            value = _argument(call, makers.get(name))
            if not cls or value is None or _passed_on(value, around):
                continue
            place = f"{path}:{call.lineno}"
            found |= {Raised(cls, code, place) for code in _codes(value, tree) or [""]}
    return found


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, set[str]]]:
    """Every call, with the names of the parameters of the functions around it."""
    ahead: list[tuple[ast.AST, set[str]]] = [(tree, set())]
    while ahead:
        node, around = ahead.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            around = around | set(_parameters(node))
        if isinstance(node, ast.Call):
            yield node, around
        ahead.extend((child, around) for child in ast.iter_child_nodes(node))


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    given = function.args
    return [p.arg for p in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _called(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _argument(call: ast.Call, maker: Maker | None) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == "code":
            return keyword.value
    if maker is not None and maker.position < len(call.args):
        return call.args[maker.position]
    return None


def _passed_on(value: ast.expr, around: set[str]) -> bool:
    """Whether the code is that of another error, or the argument of the function around."""
    if isinstance(value, ast.Attribute):
        return value.attr == "code"
    return isinstance(value, ast.Name) and value.id in around


def _makers(tree: ast.Module) -> Iterator[tuple[str, Maker]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and "code" in _parameters(node):
            names = [name for name in _parameters(node) if name not in ("self", "cls")]
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and _called(call) in CLASSES:
                    yield node.name, Maker(_called(call), names.index("code"))


def _codes(value: ast.expr, tree: ast.Module) -> list[str]:
    if isinstance(value, ast.Constant):
        return [str(value.value)]
    if isinstance(value, ast.JoinedStr):
        parts = (str(p.value) if isinstance(p, ast.Constant) else "*" for p in value.values)
        return ["".join(parts)]
    if isinstance(value, ast.IfExp):
        return [*_codes(value.body, tree), *_codes(value.orelse, tree)]
    tables = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    if isinstance(value, ast.Name):
        named = [table for table in tables if value.id in _targets(table)]
        tables = named or tables
    return [
        node.value
        for table in tables
        for node in ast.walk(table)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and DOTTED.fullmatch(node.value)
    ]


def _targets(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}
