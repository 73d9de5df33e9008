"""Which form a class has, found once for each class; and why a class has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from keepset.codec import arrays, frames, inside, opaque, standard, tags
from keepset.codec.entry import Entry
from keepset.codec.failures import bad, refused, type_name
from keepset.codec.glance import Glance, Make, never
from keepset.codec.models import at_a_glance
from keepset.codec.nodes import Build, Form, Lookup, Read
from keepset.codec.objects import Reader, is_model, members_of, read_flag, read_member, reader_of
from keepset.codec.objects import form_of as object_form_of
from keepset.codec.registry import TypeRegistry
from keepset.codec.unknown import unknown

_names = msgspec.msgpack.Decoder(str | list[str]).decode
"""Reads the name of an object, or the name with the fields that were given."""
_SECRETS = frozenset({"Secret", "SecretBytes", "SecretStr", "SecretString", "SecretValue"})


class Known:
    """The forms of all classes that one registry and the codec know.

    What was found for a class stays: a registration cannot change a class's form later.
    """

    __slots__ = (
        "_as_stored",
        "_edits",
        "_glance",
        "_makers",
        "_simple",
        "_types",
        "builders",
        "forms",
        "readers",
    )

    def __init__(
        self, types: TypeRegistry, *, as_stored: bool = False, all_given: bool = False
    ) -> None:
        """Begin with what the codec knows by itself.

        Args:
            types: Names of classes.
            as_stored: Read every object as it is stored, as an `Opaque`.
            all_given: Write those as if all of their fields had been given.
        """
        self._types = types
        self._as_stored = as_stored
        self._glance = Glance(self._make_of)
        self._edits = TypeRegistry.edits
        self._makers: dict[str, Reader] = {}
        self._simple: dict[type, bool] = {}
        self.forms: dict[type, Form] = dict(standard.FORMS)
        self.readers: dict[int, Read] = {
            **standard.READERS,
            **arrays.READERS,
            **frames.READERS,
        }
        self.builders: dict[int, Build] = {
            **standard.BUILDERS,
            tags.MEMBER: _member,
            tags.FLAG: _flag,
            tags.OBJECT: self._object,
        }
        if as_stored:
            self.builders |= opaque.BUILDERS
            self.forms |= opaque.ALL_GIVEN if all_given else opaque.FORMS

    def form(self, cls: type) -> Form:
        """Find how a class is written.

        Raises:
            PolicyError: ``codec.secret-type`` or ``codec.unknown-type``, without a path.
        """
        form = self.forms.get(cls)
        if form is None:
            form = self._find(cls)
            if form is None:
                raise unknown(cls)
            self.forms[cls] = form
        return form

    def is_simple_model(self, cls: type) -> bool:
        """Tell whether a class is a pydantic model that is stored by its fields, and no more.

        Which of the fields were given is stored as well; it has no private attributes.
        """
        known = self._simple.get(cls)
        if known is None:
            known = self._simple[cls] = self._is_simple_model(cls)
        return known

    def _is_simple_model(self, cls: Any) -> bool:
        entry = self._types.of_class(cls)
        if entry is None or entry.to is not None or not is_model(cls) or _is_secret(cls):
            return False
        members = members_of(cls)
        return members is not None and not members.slots and not cls.__private_attributes__

    def lookup(self, name: object) -> Entry:
        """Find the class that a stored name stands for.

        Raises:
            DecodeError: ``decode.unknown-type``.
        """
        entry = self._types.of_name(name) if type(name) is str else None
        if entry is None:
            shown = name if type(name) is str and name.isprintable() else "that is no name"
            raise bad(
                f"the stored data has a value of the type {shown!r:.80}, which is not registered",
                "decode.unknown-type",
                "Register the class under this name (keepset.register) before reading, or read "
                "with the contract that names it.",
            )
        return entry

    def _object(self, payload: list[Any], _: Lookup) -> Any:
        """Make an object from a stored name, its fields, and what else its kind needs."""
        self._renew()
        head = payload[0]
        name = head[0] if type(head) is list and head else head
        make = self._makers.get(name) if type(name) is str else None
        if make is None:
            entry = self.lookup(name)
            make = self._makers[name] = reader_of(entry)
        return make(payload)

    def at_a_glance(self) -> Callable[[bytes], Any]:
        """Give what makes an object of its packed payload, or None where only `builders` can."""
        self._renew()
        return self._glance.read

    def _renew(self) -> None:
        """Forget what names stood for, where that may be something else by now."""
        if self._edits != TypeRegistry.edits:
            self._edits, self._makers = TypeRegistry.edits, {}
            self._glance.forget()

    def _make_of(self, head: bytes) -> Make:
        """Find how objects are made whose name, with the fields that were given, is packed so."""
        try:
            found = _names(head)
            name, *given = [found] if isinstance(found, str) else found
        except ValueError:  # it is anything else, or an empty list
            return never
        entry = None if self._as_stored else self._types.of_name(name)
        if entry is None or entry.back is not None or not is_model(entry.cls):
            return never
        members = members_of(entry.cls)
        chosen = None if isinstance(found, str) else given
        known = None if members is None else at_a_glance(members, chosen)
        return known or never

    def _find(self, cls: type) -> Form | None:
        if _is_secret(cls):
            raise refused(
                f"{type_name(cls)} is a secret and is never stored",
                "codec.secret-type",
                'Declare the field as Secret("env:NAME"): the reference is stored, not the value.',
            )
        entry = self._types.of_class(cls)
        if entry is not None:
            return object_form_of(entry)
        if issubclass(cls, BaseException):
            return inside.EXCEPTION
        return arrays.form_of(cls) or frames.form_of(cls)


def _member(payload: list[Any], lookup: Lookup) -> Any:
    name, stored = payload
    return read_member(lookup(name), stored)


def _flag(payload: list[Any], lookup: Lookup) -> Any:
    name, stored = payload
    return read_flag(lookup(name), stored)


def _is_secret(cls: type) -> bool:
    named = any(base.__name__ in _SECRETS for base in cls.__mro__)
    return named or hasattr(cls, "get_secret_value")
