"""The codec: values to bytes and back, exactly, or a refusal that says where and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import ormsgpack

from keepset.codec.copying import Copies
from keepset.codec.failures import bad, refused
from keepset.codec.fast import GAVE_UP, PLAIN, Fast
from keepset.codec.known import Known
from keepset.codec.nodes import Leaf
from keepset.codec.parse import Parse
from keepset.codec.path import Path
from keepset.codec.registry import GLOBAL, TypeRegistry
from keepset.codec.stack import afresh
from keepset.codec.walk import Walk, entries_of, parts_of
from keepset.codec.witness import Witness
from keepset.errors import PolicyError

_NONE: Mapping[Path, object] = {}
_ATOMS = frozenset({type(None), bool, int, float, str, bytes})


class Codec:
    """Packs values of a closed set of types; the same value always gives the same bytes.

    A codec may be used by many threads at once.
    """

    __slots__ = ("_copies", "_fast", "_known")

    def __init__(
        self, types: TypeRegistry = GLOBAL, *, opaque: bool = False, all_given: bool = False
    ) -> None:
        """Know the builtin types, and the classes that `types` has names for.

        Args:
            types: Names of classes.
            opaque: Read every object as an `Opaque`, with its stored name and fields, and write
                it again byte for byte; no class is needed and none of its code is run.
            all_given: Write an `Opaque` as if all fields of its pydantic model had been given.
        """
        self._known = Known(types, as_stored=opaque, all_given=all_given)
        self._fast = Fast(self._known)
        self._copies = Copies(self._again, self._known.is_simple_model)

    def pack(
        self,
        value: object,
        path: Path = (),
        *,
        substitute: Mapping[Path, object] | None = None,
    ) -> bytes:
        """Pack a value into canonical bytes, without an envelope.

        Args:
            value: What to store.
            path: Where it lies in the state; it stands in front of the paths in messages.
            substitute: What to store in place of the values at these full paths. A path that
                does not begin with `path` is passed over.

        Raises:
            PolicyError: With the path and type of what cannot be stored: ``codec.unknown-type``,
                ``codec.secret-type``, ``codec.too-deep``, ``codec.cycle``, ``codec.unreachable``
                (a substitution inside a value that is stored whole) and others under ``codec.``.
        """
        put = _NONE
        if substitute:
            length = len(path)
            put = {at: item for at, item in substitute.items() if at[:length] == path}
            if path in put:
                value, put = put[path], _NONE
        if not put:
            data = self._fast.pack(value)
            if data is not None:
                return data
        try:
            return self._pack(value, path, put)
        except RecursionError:
            pass
        try:
            return afresh(self._pack, value, path, put)
        except (RecursionError, RuntimeError) as error:
            raise refused(
                "a value whose conversion needs more of the stack than there is",
                "codec.stack",
                "Save from further up the stack, or mend the `to` of a type that calls itself.",
            ) from error

    def packs_as(self, value: object, data: bytes, *, plain: bool = False) -> bool:
        """Tell whether `pack` gives these bytes for a value, in less time than to pack it takes.

        Args:
            value: Any value; one that cannot be stored packs as nothing.
            data: What `pack` gave for some value.
            plain: What `bytes_free` says of `data`, where it was asked before; False is right too,
                and slower.
        """
        same = self._fast.same(value, data, plain=plain)
        if same is not None:
            return same
        try:
            return self.pack(value) == data
        except PolicyError:
            return False

    def begins_as(self, value: list[Any], parts: Iterable[tuple[int, int, bytes, bool]]) -> bool:
        """Tell whether parts of a list pack as known bytes, as `packs_as` does for each of them.

        Args:
            value: The list.
            parts: Of each part the index of its first item, the index after its last one, what
                `pack` gave for a list of them, and what `bytes_free` says of that; in any order.
        """
        alike = self._fast.alike
        for start, stop, data, plain in parts:
            part = value[start:stop]
            if not (plain and alike(part, data)) and not self.packs_as(part, data, plain=plain):
                return False
        return True

    def witness(self, items: Sequence[Any]) -> Witness | None:
        """Give what later tells by identity whether models are what they are now.

        Args:
            items: Values that were packed, and have not changed since.

        Returns:
            The witness; None where one of them is no pydantic model that is stored by its fields.
        """
        made = Witness(self, self._known.is_simple_model)
        return made if made.add(items) else None

    def unpack(self, data: bytes) -> Any:
        """Unpack what `pack` wrote.

        No constructor, validator or other code that the data could choose is run, except a
        registered `back`.

        Raises:
            DecodeError: The bytes are anything else: ``decode.truncated``, ``decode.trailing``,
                ``decode.unknown-type``, ``decode.missing-field`` and others under ``decode.``.
        """
        data = bytes(data)
        try:
            return self._fast.unpack(data)
        except GAVE_UP:
            pass
        return self._unpack_exactly(data)

    def unpack_noting(self, data: bytes) -> tuple[Any, bool]:
        """Unpack what `pack` wrote, and tell whether it is plain all through.

        Returns:
            The value; and whether it surely holds nothing but None, bool, int, float, str, bytes,
            list and dict, so that every codec packs it into the same bytes again.

        Raises:
            DecodeError: See `unpack`.
        """
        data = bytes(data)
        used: list[None] = []
        try:
            return self._fast.unpack(data, used.append), not used
        except GAVE_UP:
            pass
        return self._unpack_exactly(data), False

    def _unpack_exactly(self, data: bytes) -> Any:
        try:
            return Parse(self._known, data).value()
        except RecursionError:
            pass
        try:
            return afresh(self._unpack, data)
        except (RecursionError, RuntimeError) as error:
            raise bad(
                "reading a stored value needs more of the stack than there is",
                "decode.stack",
                "Read it from further up the stack.",
            ) from error

    def copy(self, value: Any) -> Any:
        """Copy a value that was unpacked: what is given shares nothing with it that could change.

        It is what unpacking once more would give.

        Raises:
            PolicyError: The value was changed since, and cannot be stored.
        """
        try:
            return self._copies.copy(value)
        except RecursionError:
            return self._again(value)

    def _again(self, value: Any) -> Any:
        return self.unpack(self.pack(value))

    def parts(self, value: Any) -> Iterable[tuple[str | int, object]] | None:
        """Give the parts of a value with their path elements, exactly as `pack` walks them.

        Returns:
            Pairs of path element and part; None for a value that has no parts.

        Raises:
            PolicyError: The value's type cannot be stored; the message has no path.
        """
        cls = type(value)
        if cls in _ATOMS:
            return None
        if cls is list:
            return enumerate(value)
        if cls is dict:
            return entries_of(value)
        form = self._known.form(cls)
        if isinstance(form, Leaf):
            return None if form.texts is None else form.texts(value)
        if not form.spread and form.head >= len(form.split(value)):
            return None
        return parts_of(form, value)

    def is_whole(self, value: Any) -> bool:
        """Tell whether a value is stored whole: what `parts` gives of it is then not all of it.

        Raises:
            PolicyError: The value's type cannot be stored; the message has no path.
        """
        cls = type(value)
        return cls not in (list, dict) and (
            cls in _ATOMS or isinstance(self._known.form(cls), Leaf)
        )

    def _pack(self, value: object, path: Path, put: Mapping[Path, object]) -> bytes:
        return Walk(self._known.form, path, put, self._fast.part).pack(value)

    def _unpack(self, data: bytes) -> Any:
        return Parse(self._known, data).value()


def pack_plain(value: object) -> bytes:
    """Pack a value that the caller has just put together, in a third of the time.

    Args:
        value: Consists of None, bool, int, float, str, bytes, list and dict and of nothing derived
            from them, which is not looked for here.
    """
    try:
        data: bytes = ormsgpack.packb(value, None, PLAIN)
    except TypeError:  # a text that is not valid Unicode, or an integer of more than 64 bits
        return _PLAIN.pack(value)
    return data


_PLAIN = Codec()
