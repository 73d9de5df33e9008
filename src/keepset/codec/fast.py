"""The fast way to pack and unpack: ormsgpack does the plain parts, hooks the other types.

It gives the same bytes as `walk` and the same values as `parse`, or gives up; those two then find
the exact answer or the exact error. What it must notice by itself:

* ormsgpack writes bytearrays and memoryviews as if they were bytes, and embeds objects of its own
  (`Ext`, `Fragment`) as they are. Where bytes of such a kind could be in the result the types are
  looked through; where not, a second encoder that knows neither of its objects passes over the
  value, which takes less time than to look.
* Values nested through objects: each object is a piece packed by itself. Pieces lie at most
  8 deep and are at most 32 levels deep each, which bounds the whole to 256 levels.
* The stack: an extension within an extension takes up to 1 MB of it when it is read, so that
  only few lie within each other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import Any

import msgspec
import ormsgpack

from keepset.codec import tags
from keepset.codec.framing import array_header
from keepset.codec.known import Known
from keepset.codec.long_text import LONG_TEXT, packed_text
from keepset.codec.nodes import Leaf
from keepset.codec.portions import is_packed

PLAIN = (
    ormsgpack.OPT_PASSTHROUGH_BIG_INT
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
"""Only None, bool, int, float, str, bytes, list and dict are written by ormsgpack."""
GAVE_UP = (ValueError, TypeError, LookupError, OverflowError, RecursionError, MemoryError)
"""What the C encoders and decoders raise at a value that they cannot do."""

_BIN8, _BIN16, _BIN32 = 0xC4, 0xC5, 0xC6
_PIECES, _LEVELS = 7, 32
_PIECES_READ = 4
_MANY = 16
_LARGE = 512
"""Bytes of an item from which on it takes less time to pack each by itself."""
_CONTAINERS = frozenset({dict, list})
_PLAIN_TYPES = frozenset({type(None), bool, int, float, str, bytes, dict, list})
_RAW = frozenset(
    {bytearray, memoryview, ormsgpack.Ext, getattr(ormsgpack, "Fragment", ormsgpack.Ext)}
)
_STOP = _CONTAINERS | _RAW
_packb, _unpackb, _Ext = ormsgpack.packb, ormsgpack.unpackb, ormsgpack.Ext


def _refuse(value: object) -> None:
    raise TypeError(type(value))


_probe = msgspec.msgpack.Encoder(enc_hook=_refuse).encode
_untyped = msgspec.msgpack.Decoder().decode
_MAY_HOLD = frozenset({bytes, msgspec.msgpack.Ext})
_whole = msgspec.msgpack.Decoder(msgspec.Raw).decode


class Fast:
    """Packs and unpacks what is neither deep nor odd."""

    __slots__ = ("_bare", "_forms", "_hook", "_known", "_read", "_write")

    def __init__(self, known: Known) -> None:
        """Prepare one hook for each depth, so that none has to count."""
        self._known = known
        self._forms = known.forms
        self._write = [partial(self._lower, level, True) for level in range(_PIECES + 2)]  # noqa: FBT003 - positional, since it is called for each object
        self._bare = [partial(self._lower, level, False) for level in range(_PIECES + 2)]  # noqa: FBT003 - the same
        self._hook = self._write[0]
        self._read = [partial(self._raise, level) for level in range(1, _PIECES_READ + 2)]

    def pack(self, value: object) -> bytes | None:  # noqa: PLR0911 - each kind has its own way
        """Pack a value; None where only the exact way can tell what it is."""
        used: list[object] = []
        hook = partial(self._note, used.append)
        try:
            if type(value) is str and len(value) >= LONG_TEXT:
                return packed_text(value)
            first = value[0] if type(value) is list and value else None
            if type(first) is str and len(first) >= LONG_TEXT:
                return self._one_by_one(value)  # type: ignore[arg-type]  # it has a first item
            if type(first) not in _PLAIN_TYPES:
                data = _packb(value, self._hook, PLAIN)
                return data if shallow(value) else None
            if type(value) is list and len(value) >= _MANY:
                pieces = self._pieces(value, hook, used)
                if pieces is not None:
                    return pieces
                used.clear()
            data = _packb(value, hook, PLAIN)
            if used or _BIN8 in data or _BIN16 in data or _BIN32 in data:
                return data if shallow(value) else None
            _probe(value)
        except GAVE_UP:
            return None
        return data

    def part(self, value: object, depth: int) -> bytes | None:
        """Pack a part of a value that goes the exact way; None where it has to go it as well.

        Args:
            value: The part.
            depth: How many levels of the value it lies in.
        """
        if depth >= _LEVELS:
            return None
        try:
            data = _packb(value, self._hook, PLAIN)
        except GAVE_UP:
            return None
        return data if shallow(value, _LEVELS - depth) else None

    def same(self, value: object, data: bytes, *, plain: bool = False) -> bool | None:
        """Tell whether a value packs into known bytes; None where only the exact way can tell.

        Bytes in disguise can only hide where `data` has bytes. Nothing else is looked for:
        ormsgpack's own objects (`Ext`, `Fragment`) in place of equal values change nothing of
        what is stored, and are refused as soon as they would.

        Args:
            value: The value.
            data: The bytes.
            plain: Whether `data` is known to hold no bytes; see `bytes_free`.
        """
        try:
            if type(value) is bytes or (type(value) is str and len(value) >= LONG_TEXT):
                return is_packed(value, data)
            if plain or _has_none(data):
                packed = _packb(value, self._bare[0], PLAIN)
                if packed == data or _has_none(packed):
                    return packed == data
            alike = _packb(value, self._hook, PLAIN) == data
        except GAVE_UP:
            return None
        return alike if shallow(value) else None

    def alike(self, value: object, data: bytes) -> bool:
        """Tell whether a value surely packs into known bytes that are free of bytes; quickly."""
        try:
            packed: bytes = _packb(value, self._bare[0], PLAIN)
        except GAVE_UP:
            return False
        return packed == data

    def _pieces(
        self, value: list[Any], hook: Callable[[object], Any], used: list[object]
    ) -> bytes | None:
        """Pack a list of large items one by one; None where the items are small.

        It takes a quarter less time than to pack the whole and then to pass over it, since what
        is looked at was just written, and only items with bytes of a doubtful kind are looked
        through. Pieces go to a buffer at once: to keep them costs more than is won. An item alone
        has one level less than the whole may have.

        Raises:
            Exception: One of `GAVE_UP`.
        """
        out = BytesIO()
        write = out.write
        write(array_header(len(value)))
        large = False
        for item in value:
            data = _packb(item, hook, PLAIN)
            if not large and (len(data) < _LARGE or type(item) not in _CONTAINERS):
                return None
            large = True
            if used or _BIN8 in data or _BIN16 in data or _BIN32 in data:
                used.clear()
                if not shallow(item, _LEVELS - 1):
                    raise RecursionError
            else:
                _probe(item)
            write(data)
        return out.getvalue()

    def _one_by_one(self, value: list[Any]) -> bytes | None:
        """Pack a list of long texts, of which none is there twice."""
        out = BytesIO()
        out.write(array_header(len(value)))
        for item in value:
            data = self.pack(item) if shallow(item, _LEVELS - 1) else None
            if data is None:
                return None
            out.write(data)
        return out.getvalue()

    def unpack(self, data: bytes, note: Callable[[None], None] | None = None) -> Any:
        """Unpack a value.

        Args:
            data: The packed value.
            note: Called for each extension, in which lies all that is not plain.

        Raises:
            ValueError, TypeError, …: The exact way has to tell why (one of `GAVE_UP`).
        """
        hook = self._read[0] if note is None else self._noting(note)
        value = _unpackb(data, ext_hook=hook)
        _whole(data)  # only after it: it has no limit of its own to how deep it goes
        return value

    def _note(self, note: Callable[[object], None], value: object) -> Any:
        note(None)
        return self._hook(value)

    def _lower(self, level: int, checked: bool, value: object) -> Any:  # noqa: FBT001 - see above
        """Pack an object as a piece.

        Args:
            level: How many objects it lies in.
            checked: Whether its plain part is looked through. It need not be where the result is
                only compared with bytes that were; ormsgpack allows 255 levels of each piece.
            value: The object.
        """
        cls = type(value)
        form = self._forms.get(cls) or self._known.form(cls)
        if isinstance(form, Leaf):
            return _Ext(form.tag, form.write(value))
        payload = form.split(value)
        if level >= _PIECES:
            raise RecursionError
        if checked:
            for part in (payload,) if form.spread else payload[form.head :]:
                if not shallow(part):
                    raise RecursionError
        hook = (self._write if checked else self._bare)[level + 1]
        if form.unordered:
            pieces = sorted({_packb(item, hook, PLAIN) for item in payload})
            return _Ext(form.tag, array_header(len(pieces)) + b"".join(pieces))
        return _Ext(form.tag, _packb(payload, hook, PLAIN))

    def _noting(self, note: Callable[[None], None]) -> Callable[[int, bytes], Any]:
        """Give the hook that reads an object at a glance: a long list may have thousands."""
        glance, any_way = self._known.at_a_glance(), self._read[0]

        def read(tag: int, data: bytes) -> Any:
            note(None)
            made = glance(data) if tag == tags.OBJECT else None
            return any_way(tag, data) if made is None else made

        return read

    def _raise(self, level: int, tag: int, data: bytes) -> Any:
        if tag < tags.FIRST_COMPOSITE:
            return self._known.readers[tag](data)
        if level > _PIECES_READ:
            raise RecursionError
        payload = _unpackb(data, ext_hook=self._read[level])
        _whole(data)
        if type(payload) is not list:
            raise TypeError
        return self._known.builders[tag](payload, self._known.lookup)


def shallow(value: Any, levels: int = _LEVELS) -> bool:
    """Tell whether the plain part of a value is not deep and holds no bytes in disguise.

    It looks through lists and dicts, level by level, as far as they are nested in each other.
    """
    cls = type(value)
    if cls not in _CONTAINERS:
        return cls not in _RAW
    level = [value]
    for _ in range(levels):
        inner: list[Any] = []
        for container in level:
            children = container.values() if type(container) is dict else container
            if len(children) > _MANY and _STOP.isdisjoint(map(type, children)):
                continue
            for child in children:
                kind = type(child)
                if kind in _STOP:
                    if kind in _RAW:
                        return False
                    if child:
                        inner.append(child)
        if not inner:
            return True
        level = inner
    return False


def _has_none(data: bytes) -> bool:
    """Tell whether not even a byte is there with which packed bytes could begin."""
    return not (_BIN8 in data or _BIN16 in data or _BIN32 in data)


def bytes_free(data: bytes) -> bool:
    """Tell whether packed data surely holds no bytes, in which others could hide.

    Args:
        data: One packed value.
    """
    if _has_none(data):
        return True
    try:
        level = [_untyped(data)]
    except GAVE_UP:
        return False
    while level:
        inner: list[Any] = []
        for value in level:
            if type(value) in _MAY_HOLD:
                return False
            if type(value) in _CONTAINERS:
                inner += value.values() if type(value) is dict else value
        level = inner
    return True
