"""Apply a stored difference: each op is checked against the value that it stands on."""

from __future__ import annotations

from enum import Enum
from itertools import accumulate, chain
from operator import eq
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias, TypeGuard

from keepset.codec import BlobRef
from keepset.delta.change import Code
from keepset.delta.diff import DEEPEST
from keepset.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Blobs: TypeAlias = "Mapping[bytes, object]"


class Missing(Enum):
    """The type of `MISSING`."""

    MISSING = "missing"


IN_PLACE: Final = frozenset({Code.LIST, Code.MAP, Code.TEXT})
"""Codes of ops that stand on a version before them and need no large value."""

MISSING: Final = Missing.MISSING
"""What a field has where it has no value: before its first op, and after one that took it away."""

_DEPTH = 2 * DEEPEST + 2
_PAIR, _EDIT = 2, 3
_MANY = 16
"""So many ops are worth a look at all of them together."""


def apply(value: object, op: object, blobs: Blobs) -> object:
    """Make the next version of a field.

    Args:
        value: The version before, or `MISSING`. Lists and mappings in it may be changed in place.
        op: The unpacked op. Its containers become part of the result, so it is used once.
        blobs: By digest the values that a `BlobRef` stands for. Each look-up must give a freshly
            unpacked value, since one may stand in several places that change apart.

    Returns:
        The next version, or `MISSING`.

    Raises:
        IntegrityError: ``delta.mismatch``: the op does not fit the value, or is none, or
            a large value is not in `blobs`.
    """
    return _apply(value, op, blobs, 0)


def apply_all(value: object, ops: Sequence[object], blobs: Blobs) -> object:
    """Apply ops one after the other; see `apply`.

    Raises:
        IntegrityError: See `apply`.
    """
    if value is MISSING and ops:
        value, ops = _apply(value, ops[0], blobs, 0), ops[1:]
    if len(ops) >= _MANY and type(value) is list and _grew(value, ops):
        return value
    for op in ops:
        if type(value) is list and type(op) is list and len(op) == 1 + _EDIT:
            code, at, deleted, items = op  # what most ops of a long history are
            same = type(code) is int and code == _LIST and type(items) is list
            if same and _fits(at, deleted, len(value)):
                value[at : at + deleted] = items
                continue
        value = _apply(value, op, blobs, 0)
    return value


def _grew(value: list[Any], ops: Sequence[Any]) -> bool:
    """Apply ops that all put items at the end of a list, at once; False where one does not."""
    if set(map(type, ops)) != {list} or set(map(len, ops)) != {1 + _EDIT}:
        return False
    codes, places, deleted, added = zip(*ops, strict=True)
    if set(map(type, chain(codes, places, deleted))) != {int} or set(map(type, added)) != {list}:
        return False
    if set(codes) != {_LIST} or any(deleted):
        return False
    ends = accumulate(map(len, added), initial=len(value))
    if not all(map(eq, places, ends)):
        return False
    value += chain.from_iterable(added)
    return True


def stands_alone(op: object) -> bool:
    """Tell whether an unpacked op makes its value from nothing, so that a chain may begin with it.

    Raises:
        IntegrityError: ``delta.mismatch``: this is not an op.
    """
    return not _in_place(op) and _opened(op, 0)[0] in _ALONE


def blob_refs(op: object) -> list[BlobRef]:
    """List the large values that an unpacked op needs.

    Raises:
        IntegrityError: ``delta.mismatch``: this is not an op.
    """
    if _in_place(op):
        return []
    found: list[BlobRef] = []
    ahead: list[tuple[object, int]] = [(op, 0)]
    while ahead:
        current, depth = ahead.pop()
        code, parts = _opened(current, depth)
        if code is Code.WHOLE and len(parts) > 1:
            found += [_ref(code, ref) for _, ref in _pairs(code, parts[1:])]
        elif code is Code.BLOB:
            found += [_ref(code, part) for part in _exactly(code, parts, 1)]
        elif code is Code.PLACE:
            found += [_ref(code, ref) for _, ref in _pairs(code, parts)]
        elif code is Code.ALL:
            ahead += [(part, depth + 1) for part in reversed(parts)]
        elif code is Code.INSIDE:
            ahead += [(part, depth + 1) for _, part in reversed(list(_pairs(code, parts)))]
    return found


def _in_place(op: object) -> TypeGuard[list[Any]]:
    """Tell whether an op has all that it brings in inside of itself, and is not a whole value."""
    return type(op) is list and bool(op) and type(op[0]) is int and op[0] in IN_PLACE


def _apply(value: object, op: object, blobs: Blobs, depth: int) -> object:
    code, parts = _opened(op, depth)
    if code is Code.LIST:
        return _list(value, parts)
    if code is Code.MAP:
        return _map(value, parts)
    if code is Code.TEXT:
        return _text(value, parts)
    if code in _ALONE:
        return _alone(code, parts, blobs)
    if code is Code.ALL:
        for part in parts:
            value = _apply(value, part, blobs, depth + 1)
        return value
    return _children(code, value, parts, blobs, depth)


def _opened(op: object, depth: int) -> tuple[Code, list[Any]]:
    if type(op) is list and op and type(op[0]) is int:
        code = _CODES.get(op[0])
        if code is not None and depth <= _DEPTH:
            return code, op[1:]
    message = "What is stored as a difference is not one"
    raise IntegrityError(message, code="delta.mismatch", hint=_HINT)


def _alone(code: Code, parts: list[Any], blobs: Blobs) -> object:
    if code is Code.ABSENT:
        _exactly(code, parts, 0)
        return MISSING
    if code is Code.BLOB:
        return _fetched(code, _exactly(code, parts, 1)[0], blobs)
    if len(parts) == 1:
        return parts[0]
    if not parts:
        _refuse(code)
    return _children(code, parts[0], parts[1:], blobs, 0)


def _list(value: object, parts: list[Any]) -> object:
    if type(value) is not list:
        _refuse(Code.LIST)
    if len(parts) == _EDIT:
        at, deleted, items = parts
        if not _fits(at, deleted, len(value)) or type(items) is not list:
            _refuse(Code.LIST)
        value[at : at + deleted] = items
        return value
    made: list[object] = []
    reached = 0
    for at, end, items in _edits(Code.LIST, parts, len(value), list):
        made += value[reached:at]
        made += items
        reached = end
    made += value[reached:]
    return made


def _text(value: object, parts: list[Any]) -> object:
    if type(value) is not str:
        _refuse(Code.TEXT)
    made: list[str] = []
    reached = 0
    for at, end, text in _edits(Code.TEXT, parts, len(value), str):
        made += (value[reached:at], text)
        reached = end
    made.append(value[reached:])
    return "".join(made)


def _edits(code: Code, parts: list[Any], size: int, kind: type) -> Iterator[tuple[int, int, Any]]:
    """Give each edit as (from, to, what is put there); checked to be in order and within size."""
    if not parts or len(parts) % _EDIT:
        _refuse(code)
    reached = 0
    for k in range(0, len(parts), _EDIT):
        at, deleted, put = parts[k : k + _EDIT]
        if not _fits(at, deleted, size) or at < reached or type(put) is not kind:
            _refuse(code)
        reached = at + deleted
        yield at, reached, put


def _fits(at: object, deleted: object, size: int) -> bool:
    return type(at) is int is type(deleted) and at >= 0 <= deleted and at + deleted <= size


def _map(value: object, parts: list[Any]) -> object:
    if type(value) is not dict or len(parts) not in (2, 3):
        _refuse(Code.MAP)
    gone, sets = parts[0], parts[1]
    if type(sets) is not dict or any(type(key) is not str for key in sets):
        _refuse(Code.MAP)
    for key in _keys(gone):
        if key not in value:
            _refuse(Code.MAP)
        del value[key]
    value.update(sets)
    for key in _keys(parts[2]) if len(parts) > _PAIR else ():
        if key not in value:
            _refuse(Code.MAP)
        value[key] = value.pop(key)
    return value


def _keys(keys: object) -> list[str]:
    if type(keys) is not list or any(type(key) is not str for key in keys):
        _refuse(Code.MAP)
    return keys


def _children(code: Code, value: Any, parts: list[Any], blobs: Blobs, depth: int) -> object:
    for key, part in _pairs(code, parts):
        if type(value) is list:
            fits = type(key) is int and 0 <= key < len(value)
        else:
            fits = type(value) is dict and type(key) is str and key in value
        if not fits:
            _refuse(code)
        if code is Code.INSIDE:
            made = _apply(value[key], part, blobs, depth + 1)
        else:
            made = _fetched(code, part, blobs)
        if made is MISSING:
            _refuse(code)
        value[key] = made
    return value


def _pairs(code: Code, parts: list[Any]) -> Iterator[tuple[Any, Any]]:
    if not parts or len(parts) % _PAIR:
        _refuse(code)
    return zip(parts[::2], parts[1::2], strict=True)


def _exactly(code: Code, parts: list[Any], count: int) -> list[Any]:
    if len(parts) != count:
        _refuse(code)
    return parts


def _ref(code: Code, part: object) -> BlobRef:
    if not isinstance(part, BlobRef):
        _refuse(code)
    return part


def _fetched(code: Code, part: object, blobs: Blobs) -> object:
    ref = _ref(code, part)
    if ref.digest not in blobs:
        _refuse(code)
    return blobs[ref.digest]


_LIST = Code.LIST.value
_CODES = {code.value: code for code in Code}
_ALONE = (Code.WHOLE, Code.ABSENT, Code.BLOB)
_HINT = "Run `keepset verify` to see what else is damaged; restore from a backup."


def _refuse(code: Code) -> NoReturn:
    message = f"A stored difference of kind {code.name} does not fit the value that it stands on"
    raise IntegrityError(message, code="delta.mismatch", hint=_HINT)
