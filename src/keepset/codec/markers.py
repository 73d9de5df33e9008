"""What stands in a checkpoint in place of something that does not belong in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from keepset.errors import PolicyError


@dataclass(frozen=True, slots=True)
class StoredError:
    """An exception, as it is stored: what it was and what it said.

    Attributes:
        type_name: The exception's class, with its module unless it is a builtin.
        message: Its text.
    """

    type_name: str
    message: str


@dataclass(frozen=True, slots=True)
class BlobRef:
    """A large packed value that lies elsewhere.

    Attributes:
        digest: Digest of the packed bytes.
        size: Their number.
    """

    digest: bytes
    size: int


_FREE = frozenset(
    {
        "__class__",
        "__copy__",
        "__deepcopy__",
        "__dir__",
        "__doc__",
        "__eq__",
        "__hash__",
        "__init_subclass__",
        "__module__",
        "__ne__",
        "__reduce__",
        "__reduce_ex__",
        "__repr__",
        "__slots__",
        "__subclasshook__",
        "kind",
        "path",
    }
)


NOT_STORED = "rule.not-stored"
"""Kind of the marker that stands for a value which its field's rule does not store."""


class _AskedError(PolicyError, AttributeError):
    """Withheld, and also the answer to a tool that asks which protocols an object has."""


def _used(marker: Any, *_: object, **__: object) -> NoReturn:
    raise _error(marker)


def _error(marker: Any, cls: type[PolicyError] = PolicyError) -> PolicyError:
    kind, path = marker.kind, marker.path
    where = path or "the state"
    field = path.partition(".")[0].partition("[")[0] or "the field"
    if kind == NOT_STORED:
        return cls(
            f"{where}: the value is not stored, and nothing restores it",
            code="restore.not-stored",
            hint="Supply it again, or give it a rule that a resumed run restores it by, such as "
            "Reopen(factory) or Refetch(load, using=…).",
        )
    return cls(
        f"{where}: the value was withheld from the checkpoint ({kind}) and cannot be used",
        code="secret.withheld",
        hint=f'Declare {field} as Secret("env:NAME"), so that a resumed run reads it afresh; or '
        f'as Keep(secrets="allow") if it is no secret.',
    )


class Withheld:
    """Stands in a state where a secret stood when the checkpoint was written.

    It can be recognised (`isinstance`), shown (`repr`), hashed, copied, pickled and compared with
    another marker. Whatever else code does with it, it does in the belief that it holds the
    secret; so all of that raises PolicyError ``secret.withheld``. Only for names with two
    underscores, which tools ask any object for, the error is an AttributeError as well.

    Attributes:
        kind: Reason code of the finding, such as ``secret.format``.
        path: Where the secret stood, as `format_path` writes it.
    """

    __slots__ = ("kind", "path")

    kind: str
    path: str

    def __init__(self, kind: str, path: str) -> None:
        """Mark what was withheld and where; neither holds any part of the secret."""
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "path", path)

    def __repr__(self) -> str:
        return f"<withheld {self.kind} at {self.path or 'the state'}>"

    def __hash__(self) -> int:
        return hash((Withheld, self.kind, self.path))

    def __eq__(self, other: object) -> bool:
        if type(other) is not Withheld:
            _used(self)
        return self.kind == other.kind and self.path == other.path

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __copy__(self) -> Withheld:
        return self

    def __deepcopy__(self, memo: object) -> Withheld:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Withheld, (self.kind, self.path)

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return self.__reduce__()

    def __dir__(self) -> list[str]:
        return ["kind", "path"]

    def __getattribute__(self, name: str) -> Any:
        if name in _FREE:
            return object.__getattribute__(self, name)
        raise _error(self, _AskedError if name.startswith("__") else PolicyError)

    # Everything that a secret could be used for.
    __str__ = _used
    __format__ = _used
    __bytes__ = _used
    __bool__ = _used
    __len__ = _used
    __length_hint__ = _used
    __int__ = _used
    __float__ = _used
    __complex__ = _used
    __index__ = _used
    __round__ = _used
    __trunc__ = _used
    __floor__ = _used
    __ceil__ = _used
    __fspath__ = _used
    __iter__ = _used
    __next__ = _used
    __reversed__ = _used
    __contains__ = _used
    __getitem__ = _used
    __setitem__ = _used
    __delitem__ = _used
    __missing__ = _used
    __call__ = _used
    __await__ = _used
    __aiter__ = _used
    __anext__ = _used
    __enter__ = _used
    __exit__ = _used
    __aenter__ = _used
    __aexit__ = _used
    __setattr__ = _used
    __delattr__ = _used
    __lt__ = _used
    __le__ = _used
    __gt__ = _used
    __ge__ = _used
    __add__ = _used
    __radd__ = _used
    __iadd__ = _used
    __sub__ = _used
    __rsub__ = _used
    __isub__ = _used
    __mul__ = _used
    __rmul__ = _used
    __imul__ = _used
    __matmul__ = _used
    __rmatmul__ = _used
    __truediv__ = _used
    __rtruediv__ = _used
    __floordiv__ = _used
    __rfloordiv__ = _used
    __mod__ = _used
    __rmod__ = _used
    __imod__ = _used
    __divmod__ = _used
    __rdivmod__ = _used
    __pow__ = _used
    __rpow__ = _used
    __and__ = _used
    __rand__ = _used
    __iand__ = _used
    __or__ = _used
    __ror__ = _used
    __ior__ = _used
    __xor__ = _used
    __rxor__ = _used
    __ixor__ = _used
    __lshift__ = _used
    __rlshift__ = _used
    __rshift__ = _used
    __rrshift__ = _used
    __neg__ = _used
    __pos__ = _used
    __abs__ = _used
    __invert__ = _used
