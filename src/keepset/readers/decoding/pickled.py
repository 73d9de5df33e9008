"""Pickles, read as the list of instructions that they are; none of them is followed.

The instructions are those of Python's `pickletools`. Each that would import a name or call it is
noted as `Foreign`; what an object of it is made of stands in its parts.
"""

from __future__ import annotations

import pickletools
from typing import Final

from keepset.readers.decoding.bounds import is_deeper, swells, too_large
from keepset.readers.decoding.machine import Machine, Twisted
from keepset.readers.ports import Unreadable

_MAKING: Final = frozenset(
    {
        *("MARK", "EMPTY_LIST", "EMPTY_TUPLE", "EMPTY_DICT", "EMPTY_SET", "TUPLE1", "TUPLE2"),
        *("TUPLE3", "DUP", "REDUCE", "NEWOBJ", "GLOBAL", "STACK_GLOBAL", "BUILD"),
    }
)
"""Instructions that make a list, a mapping or an object, or a place for one."""
_FEW: Final = 1 << 18


def from_pickle(data: bytes) -> object:
    """Take a pickle apart: the names, texts and numbers in it, in the shape that they have.

    An object that stands at two places is given at the first; at the second stands a `Foreign`
    without a name. So a pickle that holds itself ends, and a small one cannot grow to a large one.
    """
    if (refused := too_large(len(data))) is not None:
        return refused
    try:
        value = _followed(data)
    except Twisted as error:
        return Unreadable(f"a pickle that {error}")
    except (ValueError, IndexError, KeyError, UnicodeError, OverflowError):
        return Unreadable("no whole pickle")
    except MemoryError:
        return Unreadable("more than the memory holds")
    return Unreadable("nested too deep") if is_deeper(value) else value


def _followed(data: bytes) -> object:
    machine = Machine(budget=max(4 * len(data), 1 << 16))
    containers = 0
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name == "STOP":
            return machine.result()
        containers += opcode.name in _MAKING
        if containers > _FEW and (refused := swells(len(data), containers, 0.25)) is not None:
            return refused
        machine.step(opcode.name, argument)
    raise Twisted("does not end")
