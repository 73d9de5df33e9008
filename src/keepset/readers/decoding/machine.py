"""The stack that a pickle's instructions work on, with plain data where objects would be."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from keepset.readers.decoding.bounds import NO_NAME, type_name
from keepset.readers.ports import Foreign

_ATOMS: Final = frozenset({
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4",
    "STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE",
    "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8", "FLOAT", "BINFLOAT",
})  # fmt: skip
_CONSTANTS: Final = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_IGNORED: Final = frozenset({"PROTO", "FRAME", "READONLY_BUFFER"})
_PAIR: Final = 2


class Twisted(Exception):  # noqa: N818 - it says what is the matter with a pickle
    """A pickle's instructions make no sense."""


class _Mark:
    """Where a group of items on the stack begins."""


class Machine:
    """Follows instructions as far as they arrange data, and notes what they would call.

    Args:
        budget: Bytes of text that may be taken from the memo, over all.
    """

    def __init__(self, budget: int) -> None:
        """Begin with nothing on the stack."""
        self._budget = budget
        self._stack: list[object] = []
        self._memo: dict[int, object] = {}

    def result(self) -> object:
        """Give what the last instruction left."""
        return self._pop()

    def step(self, name: str, argument: object) -> None:
        """Follow one instruction."""
        if name in _ATOMS:
            self._stack.append(bytes(argument) if isinstance(argument, bytearray) else argument)
        elif name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name not in _IGNORED:
            follow = self._STEPS.get(name)
            if follow is None:
                raise Twisted("has an instruction that is not known")
            follow(self, argument)

    # what arranges

    def _pop(self) -> object:
        top = self._stack.pop()
        if isinstance(top, _Mark):
            raise Twisted("takes more than it has")
        return top

    def _top(self) -> object:
        if isinstance(self._stack[-1], _Mark):
            raise Twisted("takes more than it has")
        return self._stack[-1]

    def _group(self) -> list[object]:
        """Take all down to the mark."""
        for place in range(len(self._stack) - 1, -1, -1):
            if isinstance(self._stack[place], _Mark):
                group = self._stack[place + 1 :]
                del self._stack[place:]
                return group
        raise Twisted("takes more than it has")

    def _mark(self, _: object) -> None:
        self._stack.append(_Mark())

    def _drop(self, _: object) -> None:
        self._stack.pop()

    def _drop_group(self, _: object) -> None:
        self._group()

    def _double(self, _: object) -> None:
        self._stack.append(self._again(self._top()))

    # the memo

    def _put(self, argument: object) -> None:
        self._memo[_number(argument)] = self._top()

    def _memoize(self, _: object) -> None:
        self._memo[len(self._memo)] = self._top()

    def _get(self, argument: object) -> None:
        self._stack.append(self._again(self._memo[_number(argument)]))

    def _again(self, value: object) -> object:
        """Give what was there before: a text or a name itself, of all else that it is there."""
        if isinstance(value, Foreign):
            return value if value.parts is None else Foreign("")
        if isinstance(value, (list, dict)):
            return Foreign("")
        if isinstance(value, (str, bytes)):
            self._budget -= len(value)
            if self._budget < 0:
                raise Twisted("repeats itself without end")
        return value

    # containers

    def _empty_list(self, _: object) -> None:
        self._stack.append([])

    def _empty_dict(self, _: object) -> None:
        self._stack.append({})

    def _empty_set(self, _: object) -> None:
        self._stack.append(Foreign("builtins.set", []))

    def _group_list(self, _: object) -> None:
        self._stack.append(self._group())

    def _group_dict(self, _: object) -> None:
        group = self._group()
        self._stack.append({})
        self._into(group)

    def _group_frozen(self, _: object) -> None:
        self._stack.append(Foreign("builtins.frozenset", self._group()))

    def _last_one(self, _: object) -> None:
        self._last(1)

    def _last_two(self, _: object) -> None:
        self._last(2)

    def _last_three(self, _: object) -> None:
        self._last(3)

    def _last(self, count: int) -> None:
        items = [self._pop() for _ in range(count)]
        self._stack.append(items[::-1])

    def _append(self, _: object) -> None:
        self._into([self._pop()])

    def _extend(self, _: object) -> None:
        self._into(self._group())

    def _set_item(self, _: object) -> None:
        value, key = self._pop(), self._pop()
        self._into([key, value])

    def _into(self, items: list[object]) -> None:
        """Put items into the container on top; into an object, as a class of its own takes them."""
        top = self._top()
        if isinstance(top, list):
            top += items
        elif isinstance(top, dict):
            if len(items) % _PAIR:
                raise Twisted("has a key without a value")
            for key, value in zip(items[::2], items[1::2], strict=True):
                top[_key(key)] = value
        elif isinstance(top, Foreign) and top.parts is not None:
            more = top.parts if isinstance(top.parts, list) else [top.parts]
            object.__setattr__(top, "parts", more)
            more += items
        else:
            raise Twisted("puts items into what holds none")

    # what would be imported and called

    def _named(self, argument: object) -> None:
        module, _, name = str(argument).partition(" ")
        self._stack.append(Foreign(type_name(module, name)))

    def _named_from_stack(self, _: object) -> None:
        name, module = self._pop(), self._pop()
        self._stack.append(Foreign(type_name(module, name)))

    def _registered(self, argument: object) -> None:
        self._stack.append(Foreign(f"copyreg.extension({argument})"))

    def _persistent(self, argument: object) -> None:
        self._stack.append(Foreign("pickle.persistent_load", [argument]))

    def _persistent_from_stack(self, _: object) -> None:
        self._stack.append(Foreign("pickle.persistent_load", [self._pop()]))

    def _outside(self, _: object) -> None:
        self._stack.append(Foreign("pickle.buffer", []))

    def _call(self, _: object) -> None:
        arguments, called = self._pop(), self._pop()
        self._stack.append(_called(called, arguments))

    def _call_with_names(self, _: object) -> None:
        names, arguments, called = self._pop(), self._pop(), self._pop()
        self._stack.append(_called(called, [arguments, names]))

    def _call_group(self, _: object) -> None:
        group = self._group()
        self._stack.append(_called(group[0], group[1:]))

    def _call_named(self, argument: object) -> None:
        group = self._group()
        self._named(argument)
        self._stack.append(_called(self._pop(), group))

    def _fill(self, _: object) -> None:
        """Give an object its state, which takes the place of arguments that it has none of."""
        state, top = self._pop(), self._top()
        if isinstance(top, Foreign) and top.parts is not None:
            object.__setattr__(top, "parts", [top.parts, state] if top.parts else state)
        else:
            self._stack[-1] = Foreign(NO_NAME, [top, state])

    _STEPS: ClassVar[dict[str, Callable[[Machine, object], None]]] = {
        "MARK": _mark,
        "POP": _drop,
        "POP_MARK": _drop_group,
        "DUP": _double,
        "PUT": _put,
        "BINPUT": _put,
        "LONG_BINPUT": _put,
        "MEMOIZE": _memoize,
        "GET": _get,
        "BINGET": _get,
        "LONG_BINGET": _get,
        "EMPTY_LIST": _empty_list,
        "LIST": _group_list,
        "TUPLE": _group_list,
        "APPEND": _append,
        "APPENDS": _extend,
        "EMPTY_TUPLE": _empty_list,
        "TUPLE1": _last_one,
        "TUPLE2": _last_two,
        "TUPLE3": _last_three,
        "EMPTY_DICT": _empty_dict,
        "DICT": _group_dict,
        "SETITEM": _set_item,
        "SETITEMS": _extend,
        "EMPTY_SET": _empty_set,
        "ADDITEMS": _extend,
        "FROZENSET": _group_frozen,
        "GLOBAL": _named,
        "STACK_GLOBAL": _named_from_stack,
        "EXT1": _registered,
        "EXT2": _registered,
        "EXT4": _registered,
        "PERSID": _persistent,
        "BINPERSID": _persistent_from_stack,
        "NEXT_BUFFER": _outside,
        "REDUCE": _call,
        "NEWOBJ": _call,
        "NEWOBJ_EX": _call_with_names,
        "OBJ": _call_group,
        "INST": _call_named,
        "BUILD": _fill,
    }


def _called(called: object, arguments: object) -> Foreign:
    """Note a call; what is called may itself be the result of one."""
    if isinstance(called, Foreign) and called.parts is None:
        return Foreign(called.type or NO_NAME, [] if arguments is None else arguments)
    return Foreign(NO_NAME, [called, arguments])


def _key(key: object) -> object:
    """Give what can stand as a key; of a list or an object its kind."""
    if key is None or isinstance(key, (str, bytes, int, float)):
        return key
    return f"({key.type})" if isinstance(key, Foreign) else "(list)"


def _number(argument: object) -> int:
    if not isinstance(argument, int):
        raise Twisted("has a place that is no number")
    return argument
