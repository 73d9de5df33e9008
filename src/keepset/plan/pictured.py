"""A value with a picture of it, taken at the moment at which it was current.

A host that saves later, while the next step already works on the same objects, gives this in place
of the value. What is stored is then what the picture shows, whatever has become of the objects.
"""

from __future__ import annotations

from typing import Any

from keepset.codec import Codec, Path, Witness, array_header
from keepset.delta import Frozen, Rolled, freeze, roll

_NOT_YET = object()


class Pictured:
    """A picture, and the value that it shows.

    Attributes:
        picture: What the value was; nothing can change it.
        looked: What was found in the value by who looked at it when the picture was taken, as that
            wrote it down; None where nobody did.
    """

    __slots__ = ("_codec", "_value", "_witness", "looked", "picture")

    def __init__(
        self,
        picture: Frozen | Rolled,
        codec: Codec,
        value: Any = _NOT_YET,
        witness: Witness | None = None,
    ) -> None:
        """Take a picture, and the value that it shows where that is known.

        Args:
            picture: The picture.
            codec: The codec that took it.
            value: A value that nobody else has and that equals what was packed; of a long list it
                may be the first items.
            witness: Tells at a glance whether the items of a long list are what they were.
        """
        self.picture = picture
        self.looked: object = None
        self._codec = codec
        self._value = value
        self._witness = witness

    @property
    def value(self) -> Any:
        """The value as it was; the same object each time, which is not to be changed."""
        picture, known = self.picture, self._value
        if known is _NOT_YET:
            self._value = self._codec.unpack(picture.packed())
        elif isinstance(picture, Rolled) and len(known) < picture.count:
            start, packed = picture.since(len(known))
            self._value = [*known, *self._codec.unpack(packed)[len(known) - start :]]
        return self._value

    def __bool__(self) -> bool:
        """Tell what the value would."""
        picture = self.picture
        if isinstance(picture, Rolled):
            return True
        return picture.count > 0 if picture.start else bool(self.value)

    def then(self, value: Any, path: Path) -> Pictured:
        """Take a picture of what has become of the value; it shares with this one what is the same.

        Args:
            value: The value now.
            path: Where it lies, for messages.

        Raises:
            PolicyError: It cannot be stored.
        """
        old, codec = self.picture, self._codec
        if isinstance(old, Frozen):
            same = codec.packs_as(value, old.data)
            return self if same else take(value, path, codec)
        if type(value) is not list or not self._begins(value, old):
            return take(value, path, codec)
        if len(value) == old.count:
            return self
        fresh = Frozen(_packed(value, old.count, path, codec))
        witness, self._witness = self._witness, None  # it goes on with the next picture
        if witness is not None and not witness.add(value[old.count :]):
            witness = None
        return Pictured(old.grown(fresh), codec, self._value, witness)

    def _begins(self, value: list[Any], old: Rolled) -> bool:
        """Tell whether a list begins with the items that the picture shows."""
        if self._witness is not None and self._witness.sees(value):
            return True
        if not old.begins(value, self._codec.begins_as):
            return False
        self._witness = self._codec.witness(value[: old.count])
        return True


def shown(value: Any) -> Any:
    """Give the value that a picture shows; anything else is given back."""
    return value.value if isinstance(value, Pictured) else value


def take(value: Any, path: Path, codec: Codec) -> Pictured:
    """Take a picture of a value.

    Raises:
        PolicyError: It cannot be stored.
    """
    picture = freeze(value, lambda part, rest: codec.pack(part, (*path, *rest)))
    # A short list as well, since what is added to one need not be looked for in all of it.
    return Pictured(roll(picture, 0) or picture, codec)


def _packed(value: list[Any], start: int, path: Path, codec: Codec) -> bytes:
    """Pack the items of a list from one of them on, each with its own path."""
    pieces = [codec.pack(value[index], (*path, index)) for index in range(start, len(value))]
    return array_header(len(pieces)) + b"".join(pieces)
