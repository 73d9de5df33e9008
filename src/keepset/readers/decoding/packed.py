"""MessagePack as LangGraph writes it: extensions are constructor calls, and are not called.

The extension codes are those of `langgraph.checkpoint.serde.jsonplus`, langgraph-checkpoint 2 to 4.
"""

from __future__ import annotations

from typing import Final

import msgspec
import ormsgpack

from keepset.readers.decoding.bounds import COMMON, NO_NAME, swells, too_large, type_name
from keepset.readers.ports import Foreign, Unreadable

_CALLS: Final = frozenset({0, 1, 2, 4, 5})  # (module, name, arguments, …)
_METHOD: Final = 3  # (module, name, argument, method)
_ARRAY: Final = 6  # (dtype, shape, order, bytes)
_SNAPSHOT: Final = 7  # the value alone
_LAYERS: Final = 32  # of extensions inside each other; each is a text of its own, 1,000 levels deep
_NOT_HEADERS: Final = bytes([*range(0x80), *range(0xA0, 0x100)])

_ONE: Final = msgspec.msgpack.Decoder(msgspec.Raw)

_Found = tuple[int, Foreign]


def from_msgpack(data: bytes) -> object:
    """Take a MessagePack value apart.

    Extensions become `Foreign`, filled after the text around them is read: one inside the other
    costs no stack.
    """
    if (refused := too_large(len(data)) or _swells(data)) is not None:
        return refused
    waiting: list[_Found] = []
    value = _plain(data, waiting) if _is_one(data) else Unreadable("no whole msgpack")
    layer = 0
    while waiting:
        layer += 1
        inner: list[_Found] = []
        for code, extension in waiting:
            _fill(code, extension, inner, is_last=layer > _LAYERS)
        waiting = inner
    return value


def _plain(data: bytes, found: list[_Found]) -> object:
    """Read one text; what its extensions hold is left as bytes, and noted."""

    def hook(code: int, payload: bytes) -> Foreign:
        extension = Foreign("", payload)
        found.append((code, extension))
        return extension

    mark = len(found)
    try:
        return ormsgpack.unpackb(data, ext_hook=hook, option=ormsgpack.OPT_NON_STR_KEYS)
    except (ValueError, TypeError, OverflowError) as error:
        del found[mark:]
        why = "nested too deep" if "ecursion" in str(error) else "no whole msgpack"
        return Unreadable(why)
    except MemoryError:
        del found[mark:]
        return Unreadable("more than the memory holds")


def _fill(code: int, extension: Foreign, found: list[_Found], *, is_last: bool) -> None:
    """Say what an extension would call, and with what."""
    payload = extension.parts
    assert isinstance(payload, bytes)  # noqa: S101 - as the hook left it
    if not 0 <= code <= _SNAPSHOT:
        _set(extension, f"msgpack.ext({code})", payload)
    elif is_last:
        _set(extension, NO_NAME, Unreadable("nested too deep"))
    else:
        _name(code, extension, _plain(payload, found))


def _name(code: int, extension: Foreign, content: object) -> None:
    if isinstance(content, Unreadable):
        _set(extension, NO_NAME, content)
        return
    if code == _SNAPSHOT:
        _set(extension, "langgraph.checkpoint.serde.types._DeltaSnapshot", content)
        return
    shape = content if isinstance(content, list) else [content]
    if code in _CALLS and len(shape) >= 3:  # noqa: PLR2004 - module, name, arguments
        _set(extension, type_name(shape[0], shape[1]), shape[2])
    elif code == _METHOD and len(shape) >= 4:  # noqa: PLR2004 - and the method
        _set(extension, type_name(shape[0], shape[1], shape[3]), shape[2])
    elif code == _ARRAY and len(shape) == 4:  # noqa: PLR2004 - dtype, shape, order, bytes
        _set(extension, "numpy.ndarray", shape)
    else:
        _set(extension, NO_NAME, content)


def _set(extension: Foreign, name: str, parts: object) -> None:
    """Complete what the hook had to hand out before it could be read."""
    object.__setattr__(extension, "type", name)
    object.__setattr__(extension, "parts", parts)


def _is_one(data: bytes) -> bool:
    """Tell whether bytes are one value and nothing behind it, which the reading does not mind."""
    try:
        _ONE.decode(data)
    except msgspec.MsgspecError:
        return False
    except RecursionError:
        return True  # too deep for this look only
    return True


def _swells(data: bytes) -> Unreadable | None:
    """Refuse a large value of little but the heads of tiny lists.

    In text of any language less than 45 % of the bytes look like such a head.
    """
    heads = len(data.translate(None, _NOT_HEADERS)) if len(data) > COMMON else 0
    return swells(len(data), heads, 0.45)
