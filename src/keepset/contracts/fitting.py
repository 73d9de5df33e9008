"""Whether stored instances of a class can be read as the class that it has become.

It follows the codec: a member that was gained gets its default, one that was lost is an error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from keepset.codec.objects import members_of
from keepset.contracts.contract import Contract
from keepset.contracts.structure import canonical

_OLD_CODE: Final = "or finish the run with the code that wrote it"


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a class does not read what it has stored.

    Attributes:
        reason: What is different, as the end of a sentence that names class and member.
        hint: The way out.
    """

    reason: str
    hint: str


def reached(kind: Any, classes: Mapping[str, Any]) -> dict[str, Any]:
    """Give the classes that a type of a structure names, at any depth, by name."""
    found: dict[str, Any] = {}
    todo = [kind]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo += node
        elif isinstance(node, dict):
            name = node.get("class")
            if isinstance(name, str) and name not in found:
                found[name] = classes.get(name)
                todo.append(found[name])
            todo += [value for value in node.values() if value is not name]
    return found


def members(kind: Any) -> frozenset[str]:
    """Give the members of a union as canonical JSON, or the one type of any other type."""
    union = kind.get("union") if isinstance(kind, dict) else None
    return frozenset(map(canonical, union if isinstance(union, list) else [kind]))


def misfits(
    kind: Any, old: Mapping[str, Any], new: Mapping[str, Any], to: Contract
) -> list[Misfit]:
    """Say why classes do not read what they have stored; nothing where all do.

    Args:
        kind: The type of a field, as it was.
        old: The descriptions of classes by name, as they were.
        new: As they are.
        to: The contract that they are of now.
    """
    return [
        misfit
        for name, was in reached(kind, old).items()
        if was != new.get(name)
        for misfit in _of_class(name, was, new.get(name), to)
    ]


def _of_class(name: str, was: Any, now: Any, to: Contract) -> Iterator[Misfit]:
    before, after = _described(was), _described(now)
    if before is None or after is None or was["kind"] != now["kind"]:
        yield Misfit(f"class {name} is of another kind", f"Give it another name, {_OLD_CODE}.")
        return
    lost = before.keys() - after.keys()
    for member in sorted(lost if was["kind"] != "typeddict" else ()):
        yield Misfit(
            f"class {name} has lost {member}, which is stored",
            f"Keep {member} in {name}, {_OLD_CODE}.",
        )
    for member in sorted(before.keys() & after.keys()):
        yield from _of_member(f"{name}.{member}", before[member], after[member])
    gained = after.keys() - before.keys()
    if gained and was["kind"] != "enum":
        yield from _gained(name, gained - _may_lack(name, after, to))


def _described(described: Any) -> dict[str, Any] | None:
    found = described.get("members") if isinstance(described, dict) else None
    return found if isinstance(found, dict) and isinstance(described.get("kind"), str) else None


def _of_member(called: str, was: Any, now: Any) -> Iterator[Misfit]:
    both = isinstance(was, dict) and isinstance(now, dict)
    if both and "type" in was and "type" in now:
        if not members(was["type"]) <= members(now["type"]):
            yield Misfit(f"the type of {called} is another", f"Give it another name, {_OLD_CODE}.")
        elif was.get("optional") and not now.get("optional"):
            hint = f"Let it be NotRequired, {_OLD_CODE}."
            yield Misfit(f"{called} may be absent in the run, and is required now", hint)
    elif was != now:
        yield Misfit(f"{called} has another value", f"Give it another name, {_OLD_CODE}.")


def _gained(name: str, lacking: Collection[str]) -> Iterator[Misfit]:
    for member in sorted(lacking):
        yield Misfit(
            f"class {name} has gained {member}, which has no default",
            f"Give {member} of {name} a default, {_OLD_CODE}.",
        )


def _may_lack(name: str, members: Mapping[str, Any], to: Contract) -> frozenset[str]:
    """Give the members that the codec reads where they were not stored."""
    known_as = (name, name.split("[", maxsplit=1)[0])  # one that is filled in, and its own name
    cls = next((cls for one in known_as if (cls := to.classes.get(f"{to.name}/{one}"))), None)
    known = members_of(cls) if cls is not None else None
    optional = {m for m, one in members.items() if isinstance(one, dict) and one.get("optional")}
    return frozenset(optional) | (known.defaults.keys() | known.optional if known else frozenset())
