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
from typing import Any

import msgspec
import ormsgpack

from keepset.codec import tags
from keepset.codec.framing import array_header
from keepset.codec.known import Known
from keepset.codec.nodes import Leaf

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
_CONTAINERS = frozenset({dict, list})
_RAW = frozenset(
    {bytearray, memoryview, ormsgpack.Ext, getattr(ormsgpack, "Fragment", ormsgpack.Ext)}
)
_STOP = _CONTAINERS | _RAW
_packb, _unpackb, _Ext = ormsgpack.packb, ormsgpack.unpackb, ormsgpack.Ext


def _refuse(value: object) -> None:
    raise TypeError(type(value))


_probe = msgspec.msgpack.Encoder(enc_hook=_refuse).encode
_whole = msgspec.msgpack.Decoder(msgspec.Raw).decode


class Fast:
    """Packs and unpacks what is neither deep nor odd."""

    __slots__ = ("_forms", "_known", "_read", "_write")

    def __init__(self, known: Known) -> None:
        """Prepare one hook for each depth, so that none has to count."""
        self._known = known
        self._forms = known.forms
        self._write = [partial(self._lower, level) for level in range(1, _PIECES + 2)]
        self._read = [partial(self._raise, level) for level in range(1, _PIECES_READ + 2)]

    def pack(self, value: object) -> bytes | None:
        """Pack a value; None where only the exact way can tell what it is."""
        used: list[object] = []
        try:
            data = _packb(value, partial(self._note, used.append), PLAIN)
            if used or _BIN8 in data or _BIN16 in data or _BIN32 in data:
                return data if shallow(value) else None
            _probe(value)
        except GAVE_UP:
            return None
        return data

    def unpack(self, data: bytes) -> Any:
        """Unpack a value.

        Raises:
            ValueError, TypeError, …: The exact way has to tell why (one of `GAVE_UP`).
        """
        value = _unpackb(data, ext_hook=self._read[0])
        _whole(data)  # only after it: it has no limit of its own to how deep it goes
        return value

    def _note(self, note: Callable[[object], None], value: object) -> Any:
        note(None)
        return self._lower(0, value)

    def _lower(self, level: int, value: object) -> Any:
        cls = type(value)
        form = self._forms.get(cls) or self._known.form(cls)
        if isinstance(form, Leaf):
            return _Ext(form.tag, form.write(value))
        payload = form.split(value)
        hook = self._write[level]
        parts = (payload,) if form.spread else payload[form.head :]
        if level >= _PIECES or not all(map(shallow, parts)):
            raise RecursionError
        if form.unordered:
            pieces = sorted({_packb(item, hook, PLAIN) for item in payload})
            return _Ext(form.tag, array_header(len(pieces)) + b"".join(pieces))
        return _Ext(form.tag, _packb(payload, hook, PLAIN))

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


def shallow(value: Any) -> bool:
    """Tell whether the plain part of a value is not deep and holds no bytes in disguise.

    It looks through lists and dicts, level by level, as far as they are nested in each other.
    """
    cls = type(value)
    if cls not in _CONTAINERS:
        return cls not in _RAW
    level = [value]
    for _ in range(_LEVELS):
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
                    inner.append(child)
        if not inner:
            return True
        level = inner
    return False
