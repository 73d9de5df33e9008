"""Rules that stand where nobody reads them, or where a host misreads what stands beside them.

LangGraph (measured with 1.2) takes the last item of `Annotated` for a reducer when it can be
called with two arguments, and for a managed value when it is such a class; it looks at no other
item for either. A rule that stands last hides them: each update then replaces the value, without
a word. Its channels are found at any place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import Parameter, signature
from typing import Final

from keepset.contracts.fields import Field, is_rule_class
from keepset.contracts.forms import walk
from keepset.contracts.problems import Problem
from keepset.contracts.rules import Rule

_ARGUMENTS: Final = 2
_POSITIONAL: Final = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def nested(field: Field, _: Mapping[str, Field]) -> Iterator[Problem]:
    """Find rules that stand inside a field's type."""
    for visit in walk(field.annotation, field.name):
        for item in visit.metadata:
            if not (isinstance(item, Rule) or is_rule_class(item)):
                continue
            kind = item.kind if isinstance(item, Rule) else getattr(item, "__name__", "")
            message = f"the rule {kind} stands inside the type of {field.name}, where none is read"
            hint = "Put it beside the whole type of a field of the state, outermost."
            yield Problem("rule.nested", "error", visit.path, message, hint)


def misread(field: Field, _: Mapping[str, Field]) -> Iterator[Problem]:
    """Find a rule that hides a host's own marker, because it stands after it."""
    if not (field.metadata and isinstance(field.metadata[-1], Rule)):
        return
    for item in field.metadata[:-1]:
        what = "reducer" if _is_reducer(item) else "managed value" if _is_managed(item) else ""
        if what:
            name = getattr(item, "__name__", type(item).__name__)
            message = f"the {what} {name} is ignored by LangGraph, since a rule stands after it"
            hint = f"Put the rule first: Annotated[…, ks.{field.rule.kind}(…), {name}]."
            yield Problem("marker.order", "error", field.name, message, hint)


def _is_reducer(item: object) -> bool:
    if isinstance(item, type) or not callable(item):
        return False
    try:
        parameters = signature(item).parameters.values()
    except (TypeError, ValueError):
        return False  # many built-in functions do not say what they take
    return sum(parameter.kind in _POSITIONAL for parameter in parameters) == _ARGUMENTS


def _is_managed(item: object) -> bool:
    return isinstance(item, type) and any(
        cls.__name__ == "ManagedValue" and cls.__module__.startswith("langgraph.")
        for cls in item.__mro__
    )
