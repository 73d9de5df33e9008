"""A state's class written out anew, for one whose own text cannot be edited."""

from __future__ import annotations

import dataclasses
import inspect
import keyword
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from keepset.contracts import MISSING, Contract, Field, Rule
from keepset.contracts.records import Kind, kind_of
from keepset.errors import UsageError
from keepset.prove.recommend import Recommendation
from keepset.prove.spelled import Spelling

_BASES: Final[Mapping[Kind | None, tuple[str, str]]] = {
    "typeddict": ("typing", "TypedDict"),
    "pydantic": ("pydantic", "BaseModel"),
    "struct": ("msgspec", "Struct"),
}
_FIELD: Final[Mapping[Kind | None, tuple[str, str]]] = {
    "dataclass": ("dataclasses", "field"),
    "pydantic": ("pydantic", "Field"),
    "struct": ("msgspec", "field"),
}


def written_out(contract: Contract, wanted: Mapping[str, Recommendation]) -> str:
    """Write the class of a state, with its fields, their rules and the imports that they need.

    Only what makes the contract is written: fields, types, defaults, what stands beside the types.
    Methods and validators are not.

    Args:
        contract: What the state is.
        wanted: What to declare, by field; every other field keeps its rule.

    Returns:
        The text of a new module.

    Raises:
        UsageError: ``source.cannot-write`` where something has no name that can be imported.
    """
    spelling = Spelling()
    state = getattr(contract.state, "__origin__", contract.state)
    lacks_any = _lacks_any(contract)
    lines = [
        line
        for name, field in contract.fields.items()
        for line in _field(spelling, state, field, wanted.get(name), lacks_any=lacks_any)
    ]
    _require_name(state.__name__, "the class")
    head = list(_head(spelling, contract, state))
    name = contract.name.replace("\\", " ").replace('"', " ")
    doc = f'"""The state {name}, with the rules that a proof recommends."""'
    imports = spelling.imports()
    return "\n".join([doc, "", *imports, "", "", *head, *(lines or ["    pass"]), ""])


def _head(spelling: Spelling, contract: Contract, state: Any) -> Iterator[str]:
    kind = kind_of(state)
    if contract.epoch or contract.name != state.__name__:
        epoch = f", epoch={contract.epoch}" if contract.epoch else ""
        yield f"@ks.contract(name={spelling.constant(contract.name)}{epoch})"
    options = ["kw_only=True"] if _by_keyword(state) else []
    if kind == "dataclass":
        options += ["frozen=True"] if state.__dataclass_params__.frozen else []
        called = f"({', '.join(options)})" if options else ""
        yield f"@{spelling.of('dataclasses', 'dataclass')}{called}"
        yield f"class {state.__name__}:"
        return
    if kind == "typeddict":
        options = ["total=False"] if _lacks_any(contract) else []
    elif kind == "struct" and state.__struct_config__.frozen:
        options.append("frozen=True")
    bases = ", ".join([spelling.of(*_BASES[kind]), *options])
    yield f"class {state.__name__}({bases}):"


def _lacks_any(contract: Contract) -> bool:
    """Say whether a TypedDict may lack each of its fields."""
    return all(field.optional for field in contract.fields.values())


def _by_keyword(state: Any) -> bool:
    """Say whether a dataclass or a Struct takes some fields by name alone."""
    if kind_of(state) not in {"dataclass", "struct"}:
        return False
    parameters = inspect.signature(state).parameters.values()
    return any(one.kind is inspect.Parameter.KEYWORD_ONLY for one in parameters)


def _field(
    spelling: Spelling,
    state: Any,
    field: Field,
    wanted: Recommendation | None,
    *,
    lacks_any: bool,
) -> Iterator[str]:
    _require_name(field.name, "a field")
    kind = kind_of(state)
    metadata = [one for one in field.metadata if not isinstance(one, Rule)]
    rule = spelling.rule(field.rule) if field.declared else ""
    if wanted is not None and wanted.rule and not rule.startswith(f"ks.{wanted.rule[:-1]}"):
        rule = f"ks.{wanted.rule}"
    beside = [*([rule] if rule else []), *map(spelling.beside, metadata)]
    text = spelling.type(field.annotation)
    if beside:
        text = f"{spelling.of('typing', 'Annotated')}[{text}, {', '.join(beside)}]"
    absent = field.optional or (wanted is not None and wanted.absent)
    if kind == "typeddict" and absent and not lacks_any:
        text = f"{spelling.of('typing', 'NotRequired')}[{text}]"
    default = "" if kind == "typeddict" else _default(spelling, state, field)
    reason = "" if wanted is None else f"  # {wanted.reason} (proven)"
    yield f"    {field.name}: {text}{default}{reason}"


def _require_name(name: str, whose: str) -> None:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UsageError(
            f"{whose} has a name that cannot be written in a class statement",
            code="source.cannot-write",
            hint="Give it a name of letters, digits and underscores.",
        )


def _default(spelling: Spelling, state: Any, field: Field) -> str:
    """Write a default, or what makes one."""
    kind = kind_of(state)
    constant, factory = _made(state, field.name)
    if factory is not None:
        made = spelling.of(*_FIELD[kind]) if kind in _FIELD else ""
        return f" = {made}(default_factory={spelling.name(factory)})"
    return "" if constant is MISSING else f" = {spelling.constant(constant)}"


def _made(state: Any, name: str) -> tuple[Any, Any]:
    """Give the default that a class declares: a constant, or a function that makes one."""
    if kind_of(state) == "dataclass":
        nothing: Any = dataclasses.MISSING
        found: Any = next(one for one in dataclasses.fields(state) if one.name == name)
    elif kind_of(state) == "struct":
        nothing = msgspec.NODEFAULT
        found = next(one for one in msgspec.structs.fields(state) if one.name == name)
    else:
        info = state.model_fields[name]
        return MISSING if info.is_required() else info.default, info.default_factory
    factory = None if found.default_factory is nothing else found.default_factory
    return MISSING if found.default is nothing else found.default, factory
