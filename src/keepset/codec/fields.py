"""The declared fields of a class: which there are, which may be missing, and how to read them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from keepset.codec.failures import bad, refused, type_name

Default: TypeAlias = Callable[[Any], Any]
"""Makes the default of a field; it is given the instance as far as it is made."""

_get = object.__getattribute__
HASH = "_attrs_cached_hash"
"""Where attrs keeps a hash that it has computed; it is never stored."""
_OWN_SLOTS = frozenset(
    {
        "__dict__",
        "__weakref__",
        "__pydantic_extra__",
        "__pydantic_fields_set__",
        "__pydantic_private__",
        HASH,
    }
)


@dataclass(frozen=True, slots=True)
class Members:
    """The declared fields of one class.

    Attributes:
        cls: The class.
        names: Their names, in the order of declaration.
        defaults: Makers of defaults, by name.
        optional: Names of fields that an instance may lack without having a default.
    """

    cls: type
    names: tuple[str, ...]
    defaults: Mapping[str, Default]
    optional: frozenset[str] = frozenset()
    order: list[str] = field(init=False)
    known: frozenset[str] = field(init=False)
    slots: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Keep what every instance is compared with."""
        object.__setattr__(self, "order", list(self.names))
        object.__setattr__(self, "known", frozenset(self.names))
        object.__setattr__(self, "slots", _undeclared_slots(self.cls, self.known))

    def read(self, value: Any) -> dict[str, Any]:
        """Read the fields of an instance, in the order of declaration.

        Raises:
            PolicyError: The instance has attributes that are no fields, or lacks a field.
        """
        attributes = getattr(value, "__dict__", None)
        if attributes is None:
            found = self._collect(value)
        elif [*attributes] == self.order:
            found = attributes
        else:
            self._check_extra(attributes)
            found = self._collect(value)
        for name in self.slots:
            if hasattr(value, name):
                raise _has_extra(self.cls, name)
        return found

    def check(self, stored: object, name: str) -> dict[str, Any]:
        """Fence stored fields against the class.

        Args:
            stored: What was stored as the fields.
            name: The stored name of the class, for messages.

        Raises:
            DecodeError: ``decode.unknown-field`` or ``decode.missing-field``.
        """
        if type(stored) is not dict:
            raise bad(
                f"{name}: the stored fields are no mapping",
                "decode.malformed",
                "The class is stored in another way than this code expects: see its register().",
            )
        if stored.keys() == self.known:
            return stored
        unknown = [str(key) for key in stored if key not in self.known]
        if unknown:
            raise no_such_field(name, self.cls, unknown)
        missing = self.known - stored.keys() - self.defaults.keys() - self.optional
        if missing:
            raise bad(
                f"{name}: the stored object lacks fields of {type_name(self.cls)}: "
                f"{', '.join(sorted(missing))}",
                "decode.missing-field",
                "Give the new fields a default, or finish with the code that wrote it; "
                "`keepset show` shows what is stored.",
            )
        return stored

    def fill(
        self, made: Any, stored: Mapping[str, Any], put: Callable[[Any, str, Any], None]
    ) -> None:
        """Give an instance the defaults of the fields that were not stored."""
        for name, default in self.defaults.items():
            if name not in stored:
                put(made, name, default(made))

    def _collect(self, value: Any) -> dict[str, Any]:
        found = {}
        for name in self.names:
            try:
                found[name] = _get(value, name)
            except AttributeError:
                if name not in self.optional:
                    raise refused(
                        f"{type_name(self.cls)} without a value in its field {name}",
                        "codec.unset-field",
                        "Set the field before the step is saved, or give it a default.",
                    ) from None
        return found

    def _check_extra(self, attributes: Mapping[str, Any]) -> None:
        for name in attributes:
            if name not in self.known | _OWN_SLOTS and not is_cached(self.cls, name):
                raise _has_extra(self.cls, name)


def no_such_field(name: str, cls: type, fields: list[str]) -> Exception:
    """Make the error for stored fields that the class does not have."""
    return bad(
        f"{name}: {type_name(cls)} lacks fields that are stored: {', '.join(sorted(fields))}",
        "decode.unknown-field",
        "Keep the removed fields in the class, with a default, or finish with the code that wrote "
        "it; `keepset show` shows what is stored.",
    )


def is_cached(cls: type, name: str) -> bool:
    """Tell whether an attribute is a cached property: it is computed again, not stored."""
    for base in cls.__mro__:
        found = base.__dict__.get(name)
        if found is not None:
            inner = getattr(found, "wrapped", found)
            return isinstance(inner, functools.cached_property)
    return False


def _has_extra(cls: type, name: str) -> Exception:
    return refused(
        f"{type_name(cls)} with an attribute that is not a declared field: {name}",
        "codec.extra-attributes",
        "Declare it as a field (init=False where the constructor does not take it), or register "
        "the class with to=… and back=….",
    )


def _undeclared_slots(cls: type, known: frozenset[str]) -> tuple[str, ...]:
    names: list[str] = []
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        names += [slots] if isinstance(slots, str) else slots
    return tuple(n for n in names if n not in known and n not in _OWN_SLOTS)
