"""Make the values of another saver's rows from data, and nothing that was not allowed.

The readers take bytes apart without calling anything: what a load would make by a call stands there
as `Foreign`. Here a name of it is looked up in a table that was filled before anything was read,
and never imported: whatever the data say, only a class of that table is made. Everything else is
listed by its place.

How LangGraph writes each type down is that of `langgraph.checkpoint.serde.jsonplus`,
langgraph-checkpoint 2 to 4.
"""

from __future__ import annotations

import ipaddress
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from importlib import import_module
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from keepset.codec import Path
from keepset.readers.ports import Foreign, Unreadable

Maker = Callable[[Any], object]
"""Makes a value of its parts."""

NO_CLASS: Final = "is not made from data"
"""How it ends what is said of a class that was not named."""
MOST: Final = 20
"""How many values of a run are listed that cannot be taken over."""

_LEGACY: Final = ("langchain.", "langchain_core.")
_PLAIN_KINDS: Final = "biufcSUmM"
"""Kinds of numbers and texts of which an array is made without calling anything."""


class Problem(NamedTuple):
    """A value that cannot be made.

    Attributes:
        path: Where it lies.
        why: What is the matter with it.
    """

    path: Path
    why: str


def _moment(parts: Any) -> datetime:
    if isinstance(parts, str):
        return datetime.fromisoformat(parts)
    (text,) = parts
    return datetime.fromisoformat(text)


def _clock(parts: Any) -> time:
    return time(**parts) if isinstance(parts, dict) else time(*parts)


_STANDARD: Final[Mapping[str, Maker]] = MappingProxyType(
    {
        "builtins.frozenset": frozenset,
        "builtins.set": set,
        "collections.deque": deque,
        "datetime.date": lambda parts: date(*parts),
        "datetime.datetime": _moment,
        "datetime.datetime.fromisoformat": _moment,
        "datetime.time": _clock,
        "datetime.timedelta": lambda parts: timedelta(*parts),
        "datetime.timezone": lambda parts: timezone(*parts),
        "decimal.Decimal": Decimal,
        "pathlib.Path": lambda parts: FilePath(*parts),
        "pathlib.PosixPath": lambda parts: FilePath(*parts),
        "pathlib._local.Path": lambda parts: FilePath(*parts),
        "pathlib._local.PosixPath": lambda parts: FilePath(*parts),
        "re.compile": lambda parts: re.compile(*parts),
        "uuid.UUID": UUID,
        "zoneinfo.ZoneInfo": ZoneInfo,
        **{
            f"ipaddress.IP{name}": getattr(ipaddress, f"IP{name}")
            for name in (
                "v4Address", "v4Interface", "v4Network", "v6Address", "v6Interface", "v6Network",
            )
        },
    }
)  # fmt: skip
"""Makers of what every process has."""


def _of_class(cls: Any) -> Maker:
    """Give what makes an instance of a class, of the parts that LangGraph writes of it."""
    if issubclass(cls, Enum):
        return cls  # type: ignore[no-any-return] # the class is looked up by a value
    if hasattr(cls, "model_construct"):

        def made(parts: Any) -> object:
            try:
                return cls(**parts)
            except Exception:  # noqa: BLE001 - a validator may raise anything, as in LangGraph itself
                return cls.model_construct(**parts)

        return made
    if cls.__name__ == "Send":
        return lambda parts: cls(*parts[:2], **({"timeout": parts[2]} if parts[2:] else {}))
    if cls.__name__ == "_DeltaSnapshot":
        return cls  # type: ignore[no-any-return] # its value is its one part
    return lambda parts: cls(**parts) if isinstance(parts, dict) else cls(parts)


class Allowed:
    """The table of what may be made.

    Args:
        classes: Classes of the host and of the user, beside the standard ones.
        moved: Classes by the names that they had where they lay before, module and all.
    """

    def __init__(
        self, classes: Iterable[type], moved: Mapping[str, type] = MappingProxyType({})
    ) -> None:
        """Fill the table; nothing is added to it later."""
        self._makers = dict(_STANDARD)
        self._legacy: dict[str, Maker] = {}
        for cls in classes:
            made = _of_class(cls)
            self._makers[f"{cls.__module__}.{cls.__name__}"] = made
            self._makers[f"{cls.__module__}.{cls.__qualname__}"] = made
            if cls.__module__.startswith(_LEGACY):
                self._legacy[cls.__name__] = made
        for name, cls in moved.items():
            self._makers[name] = _of_class(cls)

    def maker(self, name: str) -> Maker | None:
        """Give what makes a value of a type; None where that may not be made."""
        found = self._makers.get(name)
        if found is None and name.startswith(_LEGACY):
            found = self._legacy.get(name.rpartition(".")[2])
        return found


class Vetting:
    """Makes values one by one, and lists those that cannot be made.

    An item of a list that was given before, as the same object, is given again as what was made of
    it: nobody changes either.

    Attributes:
        problems: What was found since this was last emptied, `MOST` at the most.
        more: How many there are beside those.
    """

    def __init__(self, allowed: Allowed) -> None:
        """Take the table."""
        self._allowed = allowed
        self._path: list[str | int] = []
        self._young: dict[int, tuple[object, object]] = {}
        self._old: dict[int, tuple[object, object]] = {}
        self.problems: list[Problem] = []
        self.more = 0

    def begin(self) -> None:
        """Begin with another checkpoint: what only earlier ones had is forgotten."""
        self.problems, self.more = [], 0
        self._old, self._young = self._young, {}

    def value(self, found: object, path: Path) -> object:
        """Make a value of data; None in place of what cannot be made, which is listed.

        Args:
            found: What a reader gave.
            path: Where it lies.
        """
        self._path = list(path)
        try:
            if isinstance(found, list):
                return [self._item(index, one) for index, one in enumerate(found)]
            return self._made(found)
        except RecursionError:
            self._path = list(path)
            return self._cannot("nested too deep")

    def _item(self, index: int, found: object) -> object:
        """Make an item of a list that may have been made before; scalars are quicker made anew."""
        if not isinstance(found, Foreign | dict | list):
            return self._below(index, found)
        known = self._young.get(id(found)) or self._old.get(id(found))
        if known is None:
            before = len(self.problems) + self.more
            known = (found, self._below(index, found))  # it stays, so that its number stays its own
            if len(self.problems) + self.more > before:
                return known[1]
        self._young[id(found)] = known
        return known[1]

    def _below(self, element: str | int, found: object) -> object:
        self._path.append(element)
        made = self._made(found)
        self._path.pop()
        return made

    def _made(self, found: object) -> object:
        if isinstance(found, list):
            return [self._below(index, one) for index, one in enumerate(found)]
        if isinstance(found, dict):
            return {self._key(key): self._below(str(key), one) for key, one in found.items()}
        if isinstance(found, Foreign):
            return self._called(found)
        if isinstance(found, Unreadable):
            return self._cannot(found.why)
        return found

    def _key(self, key: object) -> object:
        return self._made(key) if isinstance(key, Foreign | Unreadable | list | dict) else key

    def _called(self, found: Foreign) -> object:
        if found.type == "numpy.ndarray":
            return self._array(found.parts)
        maker = self._allowed.maker(found.type)
        if maker is None:
            return self._cannot(f"a {found.type or 'second reference'} {NO_CLASS}")
        before = len(self.problems) + self.more
        parts = self._made(found.parts)
        if len(self.problems) + self.more > before:
            return None
        try:
            return maker(parts)
        except RecursionError:
            raise
        except Exception as error:  # noqa: BLE001 - a user's class may raise anything
            return self._cannot(f"a {found.type} cannot be made of it ({type(error).__name__})")

    def _array(self, parts: Any) -> object:
        try:
            numpy: Any = import_module("numpy")
            kind, shape, order, data = parts
            dtype = numpy.dtype(kind)
            if dtype.kind not in _PLAIN_KINDS:
                return self._cannot("an array of objects is not made from data")
            array = numpy.frombuffer(data, dtype=dtype).reshape(shape, order=order)
            return array.copy(order=order)
        except (ImportError, TypeError, ValueError, ArithmeticError, SyntaxError) as error:
            # The last: numpy reads the name of a kind by the grammar of Python
            return self._cannot(f"a numpy.ndarray cannot be made of it ({type(error).__name__})")

    def _cannot(self, why: str) -> object:
        if len(self.problems) < MOST:
            self.problems.append(Problem(tuple(self._path), why))
        else:
            self.more += 1
        return None
