"""A contract: what a state is, made from the class that declares it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast
from weakref import WeakKeyDictionary

from keepset.contracts.admit import admitted
from keepset.contracts.classes import Named, named_classes, same_name
from keepset.contracts.fields import Field, read_fields, require_state, ruled
from keepset.contracts.instances import build, refuse_unknown, values_of
from keepset.contracts.rules import Rule
from keepset.contracts.structure import shape_of, structure_of
from keepset.errors import UsageError

T = TypeVar("T")

_NAME: Final = re.compile(r"[A-Za-z0-9]+([._/-][A-Za-z0-9]+)*")
_LONGEST_NAME: Final = 100


@dataclass(frozen=True, slots=True)
class _Declared:
    name: str | None
    epoch: int


_DECLARED: Final[WeakKeyDictionary[type[Any], _Declared]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Contract:
    """What a state is.

    Attributes:
        name: Its name; the class's qualified name, without its module, unless it is declared.
        epoch: Its version, from 1; 0 where it is unversioned.
        state: The class that declares it, or its alias with arguments.
        fields: Its fields by name, in the order of their declaration.
        structure: What its stored data looks like, as canonical JSON.
        shape: Digest of the structure, 32 hexadecimal digits.
    """

    name: str
    epoch: int
    state: Any
    fields: Mapping[str, Field]
    structure: str = field(repr=False)
    shape: str
    _named: tuple[Named, ...] = field(default=(), repr=False)

    @cached_property
    def classes(self) -> Mapping[str, type]:
        """The classes that kept fields name, each under ``<contract>/<qualified name>``.

        Raises:
            SchemaError: ``class.same-name`` where two classes have one name, since stored data
                could not tell them apart.
        """
        for problem in same_name(self._named):
            raise problem.as_error(self.name)
        return MappingProxyType({f"{self.name}/{named.name}": named.cls for named in self._named})

    @cached_property
    def keeps_all(self) -> bool:
        """Whether every field is stored."""
        return all(one.rule.stored for one in self.fields.values())

    def values(self, state: object) -> dict[str, object]:
        """Take a state apart into the fields that it has.

        Raises:
            UsageError: ``state.wrong-type`` for another kind of object, ``state.unknown-field``
                for a field that the contract does not have, ``state.undeclared-attribute`` for an
                instance that holds something beside its fields.
        """
        return values_of(self.state, self.fields, state)

    def build(self, values: Mapping[str, object]) -> Any:
        """Put a state together, without running the state's own constructor or validators.

        A field that is not in `values` has its default.

        Raises:
            UsageError: ``state.unknown-field``.
            SchemaError: ``state.missing-field`` for a required field without a value (a TypedDict
                goes without it).
        """
        return build(self.state, self.fields, values)

    def admit(
        self, values: Mapping[str, object], changed: frozenset[str] | set[str] | None = None
    ) -> dict[str, object]:
        """Apply `Extract`, `Drop` and ``without``, as a step's result enters the state.

        Args:
            values: Fields of the state, all or some.
            changed: Those that a step has just given; None for all. `Extract` looks at no other,
                since what is already extracted must not be extracted again.

        Returns:
            New values. No value that was passed in is changed: what is affected is copied.

        Raises:
            UsageError: ``state.unknown-field``.
            PolicyError: ``extract.path``, ``extract.failed`` or ``without.required``.
        """
        return admitted(self.fields, values, changed)

    def with_rules(self, rules: Mapping[str, Rule]) -> Contract:
        """Give a contract for the same state in which some fields have other rules.

        Args:
            rules: The new rule of each field that gets one.

        Raises:
            UsageError: ``state.unknown-field``.
        """
        refuse_unknown(self.fields, rules, self.name)
        fields = {name: ruled(one, rules.get(name)) for name, one in self.fields.items()}
        structure = structure_of(fields.values())
        classes = (*named_classes(fields.values()), *self._named)
        named = {(one.name, one.cls): one for one in classes}
        return replace(
            self,
            fields=MappingProxyType(fields),
            structure=structure,
            shape=shape_of(structure),
            _named=tuple(named.values()),
        )


def contract(*, name: str | None = None, epoch: int | None = None) -> Callable[[type[T]], type[T]]:
    """Give a state a name and an epoch; stands above the class, and above ``@dataclass``.

    Args:
        name: Letters and digits with ``.``, ``_``, ``-`` or ``/`` between them; without it, the
            class's qualified name.
        epoch: The version of the state, 1 or higher; unversioned (0) without it.

    Raises:
        UsageError: ``contract.name``, ``contract.epoch``, or ``contract.not-a-state``.
    """
    if name is not None and not (
        isinstance(name, str) and len(name) <= _LONGEST_NAME and _NAME.fullmatch(name)
    ):
        raise UsageError(
            f"{name!r} is no name for a contract",
            code="contract.name",
            hint='Use letters and digits with . _ - / between them: @ks.contract(name="ticket").',
        )
    if epoch is not None and (type(epoch) is not int or epoch < 1):
        raise UsageError(
            f"{epoch!r} is no epoch",
            code="contract.epoch",
            hint="Count from 1; leave epoch= out for a state that is not versioned.",
        )

    def declare(state: type[T]) -> type[T]:
        _DECLARED[require_state(state)] = _Declared(name, epoch or 0)
        return state

    return declare


def contract_of(state: object) -> Contract:
    """Give the contract of a state; the same one each time.

    Args:
        state: A TypedDict, dataclass, pydantic model or msgspec Struct, an alias that fills in
            its type variables (``State[int]``), or a contract, which is given back.

    Raises:
        UsageError: ``contract.not-a-state``.
        SchemaError: A declaration from which no contract can be made: two rules on one field
            (``rule.two``), a rule's class in place of a rule (``marker.class``), a name in an
            annotation that cannot be found (``state.unresolved-name``), …
    """
    if isinstance(state, Contract):
        return state
    require_state(state)
    return _contract(state)


@lru_cache(maxsize=1024)
def _contract(state: Any) -> Contract:
    name, epoch = name_and_epoch(state)
    fields, problems = read_fields(state)
    for problem in problems:
        raise problem.as_error(name)
    structure = structure_of(fields.values())
    return Contract(
        name=name,
        epoch=epoch,
        state=state,
        fields=MappingProxyType(fields),
        structure=structure,
        shape=shape_of(structure),
        _named=named_classes(fields.values()),
    )


def name_and_epoch(state: Any) -> tuple[str, int]:
    """Give the name and the epoch that are declared for a state, or what stands in for them."""
    cls = require_state(state)
    generic = getattr(cls, "__pydantic_generic_metadata__", {}).get("origin")
    cls = cast("type[Any]", generic or cls)
    declared = _DECLARED.get(cls)
    if declared is None:
        return cls.__qualname__, 0
    return declared.name or cls.__qualname__, declared.epoch
