"""Objects as they are stored, for reading and rewriting without their classes.

An operator's process has none of a workflow's classes. What it reads it must be able to show by
field, and to write again byte for byte; it never runs a class's code and never asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from keepset.codec import tags
from keepset.codec.failures import malformed
from keepset.codec.nodes import Build, Form, Lookup, Node


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """An instance of a class by its stored name; equal only to itself.

    Attributes:
        name: The name that the class is stored under.
        payload: What follows the name in the stored form: the fields of an object as a dict (of
            a pydantic model also its extra fields and private attributes), what a registered `to`
            gave, or the name or number of an Enum's member.
        head: The name with what else stands beside it in the stored form.
    """

    name: str
    payload: tuple[Any, ...]
    head: Any


class OpaqueObject(Opaque):
    """An instance with fields."""

    __slots__ = ()


class OpaqueMember(Opaque):
    """A member of an Enum."""

    __slots__ = ()


class OpaqueFlag(Opaque):
    """A combination of flags."""

    __slots__ = ()


def _build(kind: type[Opaque]) -> Build:
    def build(items: list[Any], _: Lookup) -> Opaque:
        head, *payload = items
        name = head[0] if type(head) is list and head else head
        if type(name) is not str or not payload:
            raise malformed("object")
        return kind(name, tuple(payload), head)

    return build


def _split(value: Opaque) -> list[Any]:
    return [value.head, *value.payload]


BUILDERS: dict[int, Build] = {
    tags.OBJECT: _build(OpaqueObject),
    tags.MEMBER: _build(OpaqueMember),
    tags.FLAG: _build(OpaqueFlag),
}
FORMS: dict[type, Form] = {
    OpaqueObject: Node(tags.OBJECT, _split, head=1),
    OpaqueMember: Node(tags.MEMBER, _split, head=2),
    OpaqueFlag: Node(tags.FLAG, _split, head=2),
}
ALL_GIVEN: dict[type, Form] = {
    **FORMS,
    OpaqueObject: Node(tags.OBJECT, lambda value: [value.name, *value.payload], head=1),
}
"""Do not say which fields of a pydantic model were given."""
