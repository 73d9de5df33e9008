"""Take a state apart into its fields, and put one together again."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from keepset.contracts.beside import refuse_beside
from keepset.contracts.fields import Field, require_state
from keepset.contracts.records import Kind, kind_of
from keepset.contracts.rules import MISSING
from keepset.errors import SchemaError, UsageError


def refuse_unknown(fields: Mapping[str, Field], names: Iterable[object], what: str) -> None:
    """Refuse names that are no fields.

    Raises:
        UsageError: ``state.unknown-field``, with the names.
    """
    if not all(map(fields.__contains__, names)):
        unknown = sorted(str(name) for name in names if name not in fields)
        raise UsageError(
            f"{what} has no field {', '.join(unknown)}",
            code="state.unknown-field",
            hint=f"Declare it in {what}, or leave it out; its fields are {', '.join(fields)}.",
        )


def values_of(state_type: Any, fields: Mapping[str, Field], state: object) -> dict[str, object]:
    """Give the fields that a state has, in the order of their declaration.

    Raises:
        UsageError: ``state.wrong-type``, ``state.unknown-field`` or
            ``state.undeclared-attribute``.
    """
    cls, kind = _record(state_type)
    if kind == "typeddict":
        if type(state) is dict and [*state] == [*fields]:
            return dict(zip(fields, state.values(), strict=True))
        if type(state) is not dict and not isinstance(state, Mapping):
            raise _wrong(cls, "a mapping", state)
        refuse_unknown(fields, state, cls.__qualname__)
        return {name: state[name] for name in fields if name in state}
    # A subclass would come back as its base, without what it adds.
    if type(state) is not cls:
        raise _wrong(cls, f"a {cls.__qualname__}", state)
    refuse_unknown(fields, getattr(state, "model_extra", None) or (), cls.__qualname__)
    refuse_beside(state, fields)
    found = {name: getattr(state, name, MISSING) for name in fields}
    return {name: value for name, value in found.items() if value is not MISSING}


@lru_cache(maxsize=1024)
def _record(state_type: Any) -> tuple[type[Any], Kind | None]:
    cls = require_state(state_type)
    return cls, kind_of(cls)


def _wrong(cls: type[Any], wanted: str, state: object) -> UsageError:
    return UsageError(
        f"a state of {cls.__qualname__} is {wanted}, and this is a {type(state).__qualname__}",
        code="state.wrong-type",
        hint=f"Pass {wanted} with the fields of {cls.__qualname__}.",
    )


def build(state_type: Any, fields: Mapping[str, Field], values: Mapping[str, object]) -> Any:
    """Put a state together from its fields, with defaults for those that are absent.

    Constructors and validators do not run: a resumed state equals the one that was saved. Only a
    msgspec Struct cannot be made without its ``__post_init__``; its fields are set again after it.

    Raises:
        UsageError: ``state.unknown-field``.
        SchemaError: ``state.missing-field``.
    """
    cls = require_state(state_type)
    refuse_unknown(fields, values, cls.__qualname__)
    kind = kind_of(cls)
    whole = _with_defaults(cls, fields, values, lenient=kind == "typeddict")
    if kind == "typeddict":
        return whole
    if kind == "struct":
        return _struct(cls, whole)
    if kind == "pydantic":
        return _pydantic(cls, whole, set(values))
    state = object.__new__(cls)
    for name, value in whole.items():
        object.__setattr__(state, name, value)
    return state


def _with_defaults(
    cls: type[Any], fields: Mapping[str, Field], values: Mapping[str, object], *, lenient: bool
) -> dict[str, object]:
    whole: dict[str, object] = {}
    for name, field in fields.items():
        value = values[name] if name in values else field.fill(whole)
        if value is not MISSING:
            whole[name] = value
        elif not lenient:
            raise SchemaError(
                f"{cls.__qualname__}.{name} has no value and no default",
                code="state.missing-field",
                hint=f"Give {name} a default in {cls.__qualname__}, or a rule that restores it.",
            )
    return whole


def _struct(cls: type[Any], whole: Mapping[str, object]) -> Any:
    state = cls(**whole)
    for name, value in whole.items():
        msgspec.structs.force_setattr(state, name, value)
    return state


def _pydantic(cls: Any, whole: dict[str, object], given: set[str]) -> Any:
    """Fill the four places in which a pydantic v2 model keeps what it holds."""
    state = cls.__new__(cls)
    undefined = sys.modules["pydantic_core"].PydanticUndefined
    # Releases of pydantic differ in whether get_default calls the factory.
    defaults = {
        name: private.get_default() if (make := private.default_factory) is None else make()
        for name, private in cls.__private_attributes__.items()
    }
    private = {name: default for name, default in defaults.items() if default is not undefined}
    extra: dict[str, object] | None = {} if cls.model_config.get("extra") == "allow" else None
    object.__setattr__(state, "__dict__", whole)
    object.__setattr__(state, "__pydantic_fields_set__", given)
    object.__setattr__(state, "__pydantic_extra__", extra)
    object.__setattr__(state, "__pydantic_private__", private if defaults else None)
    return state
