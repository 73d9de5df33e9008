"""A state's fields and their rules, as its class declares them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from keepset.contracts.forms import walk
from keepset.contracts.hints import Unresolved, missing_name
from keepset.contracts.problems import Problem
from keepset.contracts.records import Make, Member, kind_of, members_of
from keepset.contracts.rules import MISSING, RULES, Drop, Keep, Rule
from keepset.errors import UsageError

STATES = ("typeddict", "dataclass", "pydantic", "struct")
_UNDECLARED = Keep()


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a state.

    Attributes:
        name: Its name.
        annotation: Its type, without `Annotated` and `NotRequired` around it.
        rule: What becomes of it; a plain `Keep` where nothing is declared.
        declared: Whether a rule is declared.
        required: Whether the state must have a value for it: not ``NotRequired``, no default.
        default: The default of the rule, else of the state, or `MISSING`; one that a function
            makes is made by `fill`.
        optional: Whether a state may lack it (``NotRequired``).
        metadata: All that stands beside the type in `Annotated`, in order.
        make: Makes the state's own default, or None.
    """

    name: str
    annotation: Any
    rule: Rule
    declared: bool
    required: bool
    default: object = MISSING
    optional: bool = False
    metadata: tuple[object, ...] = ()
    make: Make | None = field(default=None, compare=False, repr=False)

    def fill(self, values: Mapping[str, object]) -> object:
        """Make the field's value where there is none: a fresh default, or `MISSING`.

        Args:
            values: The other fields' values, for a default that looks at them.
        """
        if isinstance(self.rule, Drop) and self.rule.default is not MISSING:
            return copy.deepcopy(self.rule.default)
        return MISSING if self.make is None else self.make(values)


def require_state(state: object) -> type[Any]:
    """Give the class of a state type, or of a generic one with its arguments.

    Raises:
        UsageError: ``contract.not-a-state``.
    """
    cls = getattr(state, "__origin__", state)
    if isinstance(cls, type) and kind_of(cls) in STATES:
        return cls
    what = f"the class {cls.__qualname__}" if isinstance(cls, type) else type(state).__name__
    raise UsageError(
        f"{what} is not a state",
        code="contract.not-a-state",
        hint="A state is a TypedDict, dataclass, pydantic model or msgspec Struct; "
        "@ks.contract stands above @dataclass.",
    )


def read_fields(state: Any) -> tuple[dict[str, Field], list[Problem]]:
    """Read the fields of a state, and what is wrong with the way in which they are declared.

    Raises:
        UsageError: ``contract.not-a-state``.
        SchemaError: ``state.unresolved-name``.
    """
    require_state(state)
    fields: dict[str, Field] = {}
    problems: list[Problem] = []
    for member in members_of(state):
        fields[member.name] = _field(member)
        problems += _misdeclared(member)
        problems += _unresolved(fields[member.name])
    return fields, problems


def _field(member: Member) -> Field:
    rules = [item for item in member.metadata if isinstance(item, Rule)]
    rule = rules[0] if rules else _UNDECLARED
    default: object = MISSING
    if isinstance(rule, Drop) and rule.default is not MISSING:
        default = rule.default
    return Field(
        name=member.name,
        annotation=member.annotation,
        rule=rule,
        declared=bool(rules),
        required=not member.optional and member.make is None,
        default=default if default is not MISSING else member.default,
        optional=member.optional,
        metadata=member.metadata,
        make=member.make,
    )


def ruled(field: Field, rule: Rule | None) -> Field:
    """Give a field with another rule; the same field where there is none."""
    if rule is None:
        return field
    beside = tuple(item for item in field.metadata if not isinstance(item, Rule))
    default = field.default
    if isinstance(field.rule, Drop) and field.rule.default is not MISSING:
        default = MISSING  # it was the rule's; the state's own is made by `fill`
    if isinstance(rule, Drop) and rule.default is not MISSING:
        default = rule.default
    return replace(field, rule=rule, declared=True, default=default, metadata=(*beside, rule))


def _misdeclared(member: Member) -> Iterator[Problem]:
    """Find the declarations from which no contract can be made."""
    name, metadata = member.name, member.metadata
    if not name:
        yield Problem("field.name", "error", name, "a field has no name", "Give it one.")
    if "#" in name:
        message = "a field has a # in its name, which marks what keepset stores beside a field"
        yield Problem("field.name", "error", name, message, "Give it another name.")
    rules = [item for item in metadata if isinstance(item, Rule)]
    if len(rules) > 1:
        kinds = " and ".join(rule.kind for rule in rules)
        hint = "Keep one of them; a base type's Annotated brings its own rule along."
        yield Problem("rule.two", "error", name, f"two rules stand on it: {kinds}", hint)
    for item in (*metadata, member.annotation):
        if is_rule_class(item):
            message = f"the class {item.__name__} stands where a rule is meant"
            hint = f"Write ks.{item.__name__}(…), with parentheses."
            yield Problem("marker.class", "error", name, message, hint)
    if isinstance(member.annotation, Rule):
        hint = f"Write Annotated[the type, ks.{member.annotation.kind}(…)]."
        yield Problem("marker.bare", "error", name, "a rule stands in place of the type", hint)
    if isinstance(member.default, Rule) or is_rule_class(member.default):
        message = "a rule is its default value, and so would become data"
        hint = "Write the rule into the annotation: name: Annotated[type, rule] = default."
        yield Problem("marker.default", "error", name, message, hint)


def _unresolved(field: Field) -> Iterator[Problem]:
    """Find names that cannot be found where they count: in a rule, and in what is stored."""
    needed = [(field.name, field.rule.function)]
    if field.rule.stored:
        needed += [(v.path, v.form.origin) for v in walk(field.annotation, field.name)]
    for path, item in needed:
        if isinstance(item, Unresolved):
            error = missing_name("the annotation", item.__name__)
            yield Problem(error.code, "error", path, error.message, error.hint)


def is_rule_class(item: object) -> bool:
    """Say whether something is one of the rules' classes instead of a rule."""
    return isinstance(item, type) and issubclass(item, RULES)
