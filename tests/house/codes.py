"""Which error codes the source has, and of which class: read from its syntax trees.

An error's code is a literal where the error is made, or the argument of a function that makes it,
or it stands beside the class in a table. What is computed in a code reads ``*``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

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
    """One error that the source makes; a code that cannot be read is empty."""

    cls: str
    code: str
    place: str


@dataclass(frozen=True)
class Maker:
    """A function that makes an error whose code it is given, whole or in part.

    Attributes:
        cls: The error's class.
        parameter: Name of the parameter.
        position: Where it stands among the arguments.
        prefix: What the function puts in front of it.
    """

    cls: str
    parameter: str
    position: int
    prefix: str


def raised() -> set[Raised]:
    """Every error that the source makes."""
    trees = {path: tree for path, _, tree in modules("src")}
    makers = {(path, name): maker for path, tree in trees.items() for name, maker in _makers(tree)}
    found: set[Raised] = set()
    for path, tree in trees.items():
        origins, constants = _origins(tree), _constants(tree)
        for call, around in _calls(tree):
            name = _called(call)
            known = makers.get((path, name)) or makers.get((origins.get(name, ""), name))
            for cls, code in _made(_spelt_out(call, constants), known, around):
                found.add(Raised(cls, code, f"{path}:{call.lineno}"))
    return found


def _constants(tree: ast.Module) -> dict[str, ast.Constant]:
    """The texts that a module gives a name."""
    return {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }


def _spelt_out(call: ast.Call, constants: dict[str, ast.Constant]) -> ast.Call:
    """The call with the module's constants in place of their names."""

    def spelt(value: ast.expr) -> ast.expr:
        return constants.get(value.id, value) if isinstance(value, ast.Name) else value

    keywords = [ast.keyword(keyword.arg, spelt(keyword.value)) for keyword in call.keywords]
    return ast.Call(call.func, [spelt(argument) for argument in call.args], keywords)


def _origins(tree: ast.Module) -> dict[str, str]:
    """Of each name that a module imports from another of ours: the file of that module."""
    return {
        alias.name: f"src/{node.module.replace('.', '/')}.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def _made(call: ast.Call, maker: Maker | None, around: dict[str, str]) -> Iterator[tuple[str, str]]:
    cls = around.get(_called(call), _called(call))
    if cls in CLASSES:
        value = _keyword(call, "code")
        if value is not None and not _given(value) & set(around) and not _of_another(value):
            yield from ((cls, code) for code in _codes(value) or [""])
    elif maker is not None:
        value = _keyword(call, maker.parameter)
        if value is None and maker.position < len(call.args):
            value = call.args[maker.position]
        if value is not None and not _given(value) & set(around):
            yield from ((maker.cls, maker.prefix + code) for code in _codes(value) or [""])
    else:
        yield from _beside(call)


def _beside(call: ast.Call) -> Iterator[tuple[str, str]]:
    """A row of a table: a class of ours and, right after it, a code."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    for cls, code in pairwise(values):
        if isinstance(cls, ast.Name) and cls.id in CLASSES:
            yield from ((cls.id, text) for text in _codes(code) if DOTTED.fullmatch(text))


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, dict[str, str]]]:
    """Every call, with the parameters of the functions around it and the names they default to."""
    ahead: list[tuple[ast.AST, dict[str, str]]] = [(tree, {})]
    while ahead:
        node, around = ahead.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            around = around | dict.fromkeys(_parameters(node), "") | _defaults(node)
        if isinstance(node, ast.Call):
            yield node, around
        ahead.extend((child, around) for child in ast.iter_child_nodes(node))


def _defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, str]:
    given = function.args
    names = [p.arg for p in (*given.posonlyargs, *given.args)]
    pairs = [
        *zip(reversed(names), reversed(given.defaults), strict=False),
        *zip([p.arg for p in given.kwonlyargs], given.kw_defaults, strict=True),
    ]
    return {name: value.id for name, value in pairs if isinstance(value, ast.Name)}


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    given = function.args
    names = [p.arg for p in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return [name for name in names if name not in {"self", "cls"}]


def _called(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((k.value for k in call.keywords if k.arg == name), None)


def _given(value: ast.expr) -> set[str]:
    """The plain names that a code is made of."""
    parts = value.values if isinstance(value, ast.JoinedStr) else [value]
    plain = [part.value if isinstance(part, ast.FormattedValue) else part for part in parts]
    return {part.id for part in plain if isinstance(part, ast.Name)}


def _of_another(value: ast.expr) -> bool:
    """Whether the code is read off another error, or off a row of a table."""
    return isinstance(value, ast.Attribute) and value.attr == "code"


def _makers(tree: ast.Module) -> Iterator[tuple[str, Maker]]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        for call in ast.walk(function):
            value = _keyword(call, "code") if isinstance(call, ast.Call) else None
            if not isinstance(call, ast.Call) or _called(call) not in CLASSES or value is None:
                continue
            for name in _given(value) & set(_parameters(function)):
                prefix = _codes(value)[0].partition("*")[0] if _codes(value) else ""
                position = _parameters(function).index(name)
                yield function.name, Maker(_called(call), name, position, prefix)


def _codes(value: ast.expr) -> list[str]:
    if isinstance(value, ast.Constant):
        return [str(value.value)]
    if isinstance(value, ast.JoinedStr):
        parts = (str(p.value) if isinstance(p, ast.Constant) else "*" for p in value.values)
        return ["".join(parts)]
    if isinstance(value, ast.IfExp):
        return [*_codes(value.body), *_codes(value.orelse)]
    return []
