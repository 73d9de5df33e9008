"""Types, functions, rules and constants as source text, with the imports that the text needs."""

from __future__ import annotations

import collections.abc
import math
import sys
from dataclasses import fields, is_dataclass
from datetime import timedelta
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

from keepset.contracts import Rule
from keepset.contracts.hints import Unresolved
from keepset.contracts.rules import MISSING
from keepset.errors import UsageError

_PLAIN: Final = (type(None), bool, int, str, bytes)


class Spelling:
    """Writes things by names that can be imported."""

    def __init__(self) -> None:
        """Begin with no imports."""
        self._from: dict[str, tuple[str, str]] = {}
        self._modules: set[str] = set()

    def imports(self) -> list[str]:
        """Give the lines that import what was written, `import keepset as ks` among them."""
        lines = [f"import {module}" for module in sorted(self._modules)]
        grouped: dict[str, list[str]] = {}
        for module, name in self._from.values():
            grouped.setdefault(module, []).append(name)
        lines += (
            f"from {module} import {', '.join(sorted(grouped[module]))}"
            for module in sorted(grouped)
        )
        return [*lines, "import keepset as ks"]

    def type(self, given: Any) -> str:
        """Write a type.

        Raises:
            UsageError: ``source.cannot-write`` for one without a name that can be imported.
        """
        arguments = get_args(given)
        match get_origin(given):
            case None:
                text = self._bare(given)
            case origin if origin in (Union, UnionType):
                text = " | ".join(self.type(one) for one in arguments)
            case origin if origin is Literal:
                text = f"{self.of('typing', 'Literal')}[{', '.join(map(self.constant, arguments))}]"
            case origin if origin is Annotated:
                beside = ", ".join(self.beside(one) for one in given.__metadata__)
                text = f"{self.of('typing', 'Annotated')}[{self.type(arguments[0])}, {beside}]"
            case origin if origin is collections.abc.Callable:
                text = f"{self.name(origin)}[{self._called(arguments)}]"
            case origin:
                listed = ", ".join(self.type(one) for one in arguments) or "()"
                text = f"{self.name(origin)}[{listed}]"
        return text

    def _called(self, arguments: tuple[Any, ...]) -> str:
        takes, gives = arguments[0], arguments[-1]
        listed = f"[{', '.join(map(self.type, takes))}]" if isinstance(takes, list) else "..."
        return f"{listed}, {self.type(gives)}"

    def _bare(self, given: Any) -> str:
        if given is None or given is NoneType:
            return "None"
        if given is Ellipsis:
            return "..."
        if isinstance(given, TypeVar | Unresolved | str):
            raise _nameless(given)
        if getattr(given, "__module__", "") == "typing" and getattr(given, "_name", None):
            return self.of("typing", given._name)  # noqa: SLF001 - Any and its like have no other
        return self.name(given)

    def of(self, module: str, name: str) -> str:
        """Write a name of a module, and see to its import; a second one of a name in full."""
        there = self._from.setdefault(name, (module, name))
        if there == (module, name) and name != "ks":
            return name
        self._modules.add(module)
        return f"{module}.{name}"

    def name(self, given: Any) -> str:
        """Write a class or a function by its name.

        Raises:
            UsageError: ``source.cannot-write``.
        """
        module = str(getattr(given, "__module__", None) or "")
        whole = str(getattr(given, "__qualname__", None) or getattr(given, "__name__", ""))
        for place in (module.removeprefix("_"), module):
            if place and place != "__main__" and _found(place, whole) is given:
                first, dot, rest = whole.partition(".")
                return whole if place == "builtins" else f"{self.of(place, first)}{dot}{rest}"
        raise _nameless(given)

    def beside(self, given: Any) -> str:
        """Write what stands beside a type: a rule, something with a name, or a plain record."""
        if isinstance(given, Rule):
            return self.rule(given)
        if not is_dataclass(given) or isinstance(given, type):
            return self.name(given)
        options = (f"{one.name}={self._option(getattr(given, one.name))}" for one in fields(given))
        return f"{self.name(type(given))}({', '.join(options)})"

    def rule(self, rule: Rule) -> str:
        """Write a rule with its options."""
        said = []
        for option in fields(rule):
            value = getattr(rule, option.name)
            if value == option.default or value is MISSING:
                continue
            text = self._option(value)
            said.append(f"{option.name}={text}" if option.kw_only else text)
        return f"ks.{rule.kind}({', '.join(said)})"

    def _option(self, value: Any) -> str:
        if isinstance(value, timedelta):
            return f"{self.of('datetime', 'timedelta')}(seconds={value.total_seconds()!r})"
        if isinstance(value, tuple) and len(value) == 1:
            return self.constant(value[0])
        return self.name(value) if callable(value) else self.constant(value)

    def constant(self, value: Any) -> str:
        """Write a constant: a number, a text, a member of an enum, or a collection of them."""
        if isinstance(value, Enum):
            return f"{self.name(type(value))}.{value.name}"
        if type(value) in _PLAIN or (type(value) is float and math.isfinite(value)):
            return repr(value)
        if type(value) is dict:
            pairs = (f"{self.constant(k)}: {self.constant(v)}" for k, v in value.items())
            return f"{{{', '.join(pairs)}}}"
        if type(value) is list:
            return f"[{', '.join(map(self.constant, value))}]"
        if type(value) is tuple:
            return f"({', '.join(map(self.constant, value))}{',' if len(value) == 1 else ''})"
        raise _nameless(value)


def _found(module: str, name: str) -> object:
    found: object = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _nameless(given: Any) -> UsageError:
    named = given if callable(given) else type(given)
    return UsageError(
        f"{getattr(named, '__qualname__', type(given).__qualname__)} cannot be written by a name "
        "that other modules can import",
        code="source.cannot-write",
        hint="Define it at the top level of a module, with a name of its own.",
    )
