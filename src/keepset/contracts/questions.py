"""The questions that `check` asks of each field, one function each."""

from __future__ import annotations

import collections
import collections.abc
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from keepset.contracts.fields import Field
from keepset.contracts.forms import variants, walk
from keepset.contracts.matching import can_match
from keepset.contracts.order import uses
from keepset.contracts.paths import parse_glob
from keepset.contracts.problems import Problem
from keepset.contracts.rules import MISSING, Drop, Keep, Refetch, callable_name
from keepset.contracts.serialisable import serialisable
from keepset.scan.names import credential

Fields: TypeAlias = Mapping[str, Field]

_NAMED_LIKE_A_SECRET: Final = "secret.name"  # noqa: S105 - the code of a reason
_UNBOUNDED: Final = (
    *(list, dict, set, collections.deque, collections.defaultdict, collections.OrderedDict),
    *(collections.Counter, collections.abc.Sequence, collections.abc.MutableSequence),
    *(collections.abc.Mapping, collections.abc.MutableMapping),
    *(collections.abc.Set, collections.abc.MutableSet),
)


def wrong_refetch(field: Field, fields: Fields) -> Iterator[Problem]:
    """Find what a `Refetch` uses and would not have when a run resumes.

    It may use what is kept, and what is restored before it; but something that is kept has to be
    at the bottom, since else nothing says what to fetch.
    """
    used = uses(field)
    for name in used:
        if name not in fields:
            hint = f"Name one of {', '.join(fields)}."
            message = f"Refetch uses {name}, and there is no such field"
            yield Problem("refetch.unknown-field", "error", field.name, message, hint)
    known = [name for name in used if name in fields]
    lost = [n for n in known if not (fields[n].rule.stored or fields[n].rule.restored)]
    if not lost and known == list(used) and not _kept_below(field, fields, frozenset()):
        lost = known[:1]
    for name in lost:
        message = f"Refetch uses {name}, which is not kept ({fields[name].rule.kind})"
        hint = f"Declare {name} as ks.Keep(), or use a field that is kept: it says what to fetch."
        yield Problem("refetch.not-kept", "error", field.name, message, hint)


def _kept_below(field: Field, fields: Fields, above: frozenset[str]) -> bool:
    """Say whether something that is kept is behind a field; a circle is another problem."""
    if field.rule.stored or field.name in above:
        return True
    above |= {field.name}
    return any(_kept_below(fields[n], fields, above) for n in uses(field) if n in fields)


def absent_after_drop(field: Field, _: Fields) -> Iterator[Problem]:
    """Find a field that the state must have and that `Drop` leaves without a value."""
    if isinstance(field.rule, Drop) and field.required and field.rule.default is MISSING:
        message = "it is required, and Drop leaves it without a value"
        hint = "Write ks.Drop(default=…), give the field a default, or make it NotRequired."
        yield Problem("drop.no-default", "error", field.name, message, hint)


def unknown_subject(field: Field, fields: Fields) -> Iterator[Problem]:
    """Find a ``subject=`` that names no field."""
    subject = field.rule.subject if isinstance(field.rule, Keep) else None
    if subject is not None and subject not in fields:
        message = f"subject= names {subject}, and there is no such field"
        hint = f"Name one of {', '.join(fields)}."
        yield Problem("subject.unknown-field", "error", field.name, message, hint)


def unserialisable(field: Field, _: Fields) -> Iterator[Problem]:
    """Find what cannot be stored in the type of a field that is stored, or pinned by a digest."""
    pinned = isinstance(field.rule, Refetch) and field.rule.pin is not None
    if field.rule.stored or pinned:
        yield from serialisable(field.annotation, field.name)


def credential_names(field: Field, _: Fields) -> Iterator[Problem]:
    """Find texts that are stored under the name of a credential."""
    if not field.rule.stored or _accepts_secrets(field):
        return
    for visit in walk(field.annotation, field.name):
        if visit.form.origin is not str or visit.path.endswith("[key]"):
            continue
        if credential(visit.name):
            message = f"a text called {visit.name} would be stored, and it may be a secret"
            hint = (
                f"Declare where it is: ks.Secret('env:{visit.name.upper()}'); or, if it is none, "
                f"ks.Keep(allow='{_NAMED_LIKE_A_SECRET}')."
            )
            yield Problem(_NAMED_LIKE_A_SECRET, "error", visit.path, message, hint)


def _accepts_secrets(field: Field) -> bool:
    rule = field.rule
    return isinstance(rule, Keep) and (
        rule.secrets == "allow" or _NAMED_LIKE_A_SECRET in rule.allow
    )


def useless_globs(field: Field, _: Fields) -> Iterator[Problem]:
    """Find paths in ``without`` that can match nothing in the field's type."""
    for glob in field.rule.without if isinstance(field.rule, Keep) else ():
        if not can_match(field.annotation, parse_glob(glob)):
            message = f"without={glob!r} matches nothing in the type"
            hint = "A path begins inside the field: '*.name' for a member of a list's items."
            yield Problem("without.no-match", "error", field.name, message, hint)


def nameless_function(field: Field, _: Fields) -> Iterator[Problem]:
    """Find a function whose name says nothing, so that the shape cannot tell it from another."""
    function = field.rule.function
    if function is not None and not callable_name(function, getattr(field.rule, "name", None)):
        message = f"the function of {field.rule.kind} has no name of its own"
        hint = "Give it one: name='load_documents'; the contract's shape knows it by that."
        yield Problem("function.nameless", "warning", field.name, message, hint)


def unbounded(field: Field, _: Fields) -> Iterator[Problem]:
    """Find collections that may grow without end."""
    rule = field.rule
    if not isinstance(rule, Keep) or rule.max_bytes is not None or rule.append_only:
        return
    for collection in variants(field.annotation):
        if collection.kind == "class" and collection.origin in _UNBOUNDED:
            message = f"a {collection.name} may grow without bound, in every checkpoint of a run"
            hint = (
                "Give it a budget, ks.Keep(max_bytes=…), or say that it only grows at its end: "
                "ks.Keep(append_only=True)."
            )
            yield Problem("collection.unbounded", "warning", field.name, message, hint)
            return
