"""What a difference brings into the store: the part of a value that lies there because of it.

A list that grows by an item has one more item in the file, not the whole list once more; to look
at all of it after each step would count what is there once as often as there were steps.
"""

from __future__ import annotations

from typing import Any, Final

from keepset.delta.change import Code

_LIST, _MAP, _INSIDE = int(Code.LIST), int(Code.MAP), int(Code.INSIDE)
_EDIT: Final = 3
_PAIR: Final = 2


def brought(op: Any, value: Any) -> Any:
    """Give what a difference has brought into a value.

    Args:
        op: The difference; it was applied, so that it fits.
        value: The value after it. Where the difference is neither items nor entries, all of it is
            given: a text that was changed in the middle can only be looked at whole.
    """
    code = op[0]
    if code == _LIST and type(value) is list:
        return [item for put in op[_EDIT::_EDIT] for item in put]
    if code == _MAP and type(value) is dict:
        return {key: value[key] for key in op[2] if key in value}
    if code == _INSIDE:
        return _inside(op[1:], value)
    return value


def _inside(parts: list[Any], value: Any) -> Any:
    pairs = list(zip(parts[::_PAIR], parts[1::_PAIR], strict=True))
    if type(value) is list:
        return [brought(op, value[index]) for index, op in pairs]
    return {key: brought(op, value[key]) for key, op in pairs}
