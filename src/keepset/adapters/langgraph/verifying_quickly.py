"""A quick look at two values: it says of most that are the same that they are, and no in doubt.

Values of Python's plain types are written as bytes that say their exact types and their order; they
are the same if the bytes are. A pickler writes them thirty times as fast as two values are walked
through. Nothing is read from these bytes, and an object of any other type is not written at all.
"""

from __future__ import annotations

import io
import pickle
from typing import Any, Final

from keepset.codec import Codec
from keepset.contracts.records import kind_of

_PROTOCOL: Final = 5
_BESIDE: Final = ("__pydantic_extra__", "__pydantic_private__")
_HOLDERS: Final = (list, dict)
_FAULTS: Final = (pickle.PicklingError, RecursionError, ValueError)


class Looking(Codec):
    """Reads for one who changes nothing: states of a history have their objects in common.

    A difference is applied to lists and mappings in place, so that each state has its own of these.
    """

    __slots__ = ()

    def copy(self, value: Any) -> Any:
        """Copy the lists and mappings of a value, but none that an object holds."""
        try:
            return _shallow(value)
        except RecursionError:
            return super().copy(value)


def _shallow(value: Any) -> Any:
    if type(value) is list:
        return [_shallow(one) if type(one) in _HOLDERS else one for one in value]
    if type(value) is dict:
        return {key: _shallow(o) if type(o) in _HOLDERS else o for key, o in value.items()}
    return value


class _Plain(pickle.Pickler):
    """Writes values of plain types alone, one that stands in two places twice."""

    def __init__(self, out: io.BytesIO) -> None:
        super().__init__(out, _PROTOCOL)
        self.fast = True

    def reducer_override(self, value: object) -> Any:
        raise pickle.PicklingError(type(value).__qualname__)


class Pictures:
    """Compares values by such bytes."""

    def __init__(self) -> None:
        """Begin with an empty buffer."""
        self._begin()

    def _begin(self) -> None:
        self._out = io.BytesIO()
        self._plain = _Plain(self._out)

    def same(self, one: Any, other: Any) -> bool:
        """Tell whether two values are surely the same; False where it cannot be said so quickly.

        Of a pydantic model it does not count which fields were given and which have their defaults.
        """
        if type(one) is list and type(other) is list:
            return len(one) == len(other) and all(map(self._same, one, other))
        return self._same(one, other)

    def _same(self, one: Any, other: Any) -> bool:
        cls = type(one)
        if cls is not type(other):
            return False
        if kind_of(cls) == "pydantic":
            one, other = (
                (vars(model), *(getattr(model, name, None) for name in _BESIDE))
                for model in (one, other)
            )
        try:
            return self._written(one) == self._written(other)
        except _FAULTS:
            self._begin()  # without what was half written
            return False

    def _written(self, value: object) -> bytes:
        self._out.seek(0)
        self._out.truncate()
        self._plain.dump(value)
        return self._out.getvalue()
