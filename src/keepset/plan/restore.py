"""Give a resumed state what was not stored: loaded, opened, resolved or made afresh, by rule."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

from keepset.codec import Codec, Withheld
from keepset.contracts import (
    Contract,
    Drop,
    Refetch,
    Reopen,
    Scratch,
    Secret,
    restore_order,
)
from keepset.errors import IntegrityError, KeepsetError, NotFoundError
from keepset.plan.project import is_pin, is_pinned, pin_name
from keepset.plan.requests import Call, Flow
from keepset.scan.responses import members

_ID_NAMES = ("doc_id", "document_id", "id", "key")


def as_ruled(contract: Contract, values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what a rule restores by now, though it was stored under an earlier one.

    What a `Refetch` has no ids for stays: nothing else would give it again.

    Args:
        contract: The contract as it is by now.
        values: What is stored, by field, or by a host's channel.
    """
    kept, there = dict(values), set(values)
    for name in restore_order(contract):
        rule = contract.fields[name].rule
        lacks_ids = isinstance(rule, Refetch) and not there.issuperset(rule.using)
        if rule.stored or (lacks_ids and not isinstance(values.get(name), Withheld)):
            continue
        kept.pop(name, None)
        if lacks_ids or isinstance(rule, Drop):
            there.discard(name)
        else:
            there.add(name)  # it is restored, and others may be by it
    return kept


def restore(
    contract: Contract, values: dict[str, Any], codec: Codec, resolve: Callable[[str], str]
) -> Flow[tuple[str, ...]]:
    """Restore by rule, each field once, a `Refetch` after what it uses.

    Args:
        contract: The contract.
        values: What is stored, by field, pinned digests among it. What is restored is put in, so
            that after a failure only the rest is restored; a field that is there already, as at
            the beginning of a run, is left as it is; the digests are taken out at the end.
        codec: The codec of the contract.
        resolve: Reads a secret by its reference.

    Returns:
        The fields whose content is not what was there, under ``pin="report"``.

    Raises:
        NotFoundError: A loader or factory failed, or there is no secret under a reference.
        IntegrityError: A loader gave other documents than those asked for, or pinned content
            that is not what was there.
    """
    reported: list[str] = []
    for name in restore_order(contract):
        rule = contract.fields[name].rule
        if name in values:
            continue
        if isinstance(rule, Refetch):
            if all(used in values for used in rule.using):
                got = yield from _refetch(name, rule, values)
                reported += _compare(name, rule, got, values.get(pin_name(name)), codec)
                values[name] = got
        elif isinstance(rule, Reopen | Scratch):
            values[name] = yield from _call(name, rule.factory)
        elif isinstance(rule, Secret):
            values[name] = yield from _secret(name, resolve, rule.reference)
    for name in [name for name in values if is_pin(name)]:
        del values[name]
    return tuple(reported)


def _refetch(name: str, rule: Refetch, values: Mapping[str, Any]) -> Generator[Any, Any, Any]:
    wanted = [values[used] for used in rule.using]
    got = yield from _call(name, rule.load, *wanted)
    if len(wanted) == 1 and not same_ids(wanted[0], got):
        raise IntegrityError(
            f"the loader of {name} gave other documents than those in {rule.using[0]}",
            code="restore.other-ids",
            hint="A loader has to give what the ids name, in any order; fix it or the index.",
        )
    return got


def _secret(name: str, resolve: Callable[[str], str], reference: str) -> Generator[Any, Any, str]:
    try:
        value: str = yield Call(resolve, (reference,))
    except NotFoundError as error:
        raise NotFoundError(
            f"restoring {name} failed: {error.message}",
            code=error.code,
            hint=error.hint,
            retryable=True,
        ) from error
    return value


def _call(name: str, function: Callable[..., Any], *arguments: Any) -> Generator[Any, Any, Any]:
    try:
        return (yield Call(function, arguments))
    except KeepsetError:
        raise
    except Exception as error:  # a user's loader may raise anything
        raise NotFoundError(
            f"restoring {name} failed: {type(error).__name__}",
            code="restore.failed",
            hint="The checkpoint is intact: mend what the rule of this field calls, then resume.",
            retryable=True,
        ) from error


def same_ids(wanted: Any, got: Any) -> bool:
    """Tell whether what was loaded is what was asked for, as far as its ids can be seen.

    Ids are seen where they are the keys of a mapping, or where every item has, under one of the
    usual names, a value of the kind that was asked for. Else the answer is True.
    """
    if not isinstance(wanted, list | tuple | set | frozenset) or not wanted:
        return got is not None or not wanted
    asked = {(type(one), repr(one)) for one in wanted}
    if isinstance(got, Mapping):
        return {(type(key), repr(key)) for key in got} == asked
    if not isinstance(got, list | tuple):
        return got is not None
    kinds = {kind for kind, _ in asked}
    named = [members(item) or {} for item in got]
    for name in _ID_NAMES:
        ids = [own.get(name) for own in named]
        if ids and all(type(own) in kinds for own in ids):
            return {(type(own), repr(own)) for own in ids} == asked
    return bool(got)


def _compare(name: str, rule: Refetch, value: Any, pinned: bytes | None, codec: Codec) -> list[str]:
    """Compare a pinned digest; give the field's name where a change is to be reported."""
    if rule.pin in (None, "accept") or pinned is None or is_pinned(name, value, pinned, codec):
        return []
    if rule.pin == "report":
        return [name]
    raise IntegrityError(
        f"the content of {name} is not what was there when the run was saved",
        code="restore.other-content",
        hint='Bring the content back, or declare pin="report" or pin="accept" if it may change.',
    )
