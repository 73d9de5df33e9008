"""One tree of errors: every error that keepset raises on purpose is a `KeepsetError`.

The classes are grouped by what a caller would do about them. Each carries a `code` that never
changes between releases, a `hint` that says what to do next, and whether the same call may
succeed when it is made again. Messages hold paths, types, ids and digests, never values.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self


class KeepsetError(Exception):
    """The root of the tree.

    Args:
        message: What happened, without any stored value in it.
        code: A stable, dotted name of the cause, such as ``store.locked``.
        hint: What to do next, as one sentence; may be empty.
        retryable: Whether the same call may succeed later without a change by the caller.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, code: str, hint: str = "", retryable: bool = False) -> None:
        """Keep the parts apart, so that a program reads `code` and a person reads the text."""
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.retryable = retryable

    def __str__(self) -> str:
        """Give the message with its code, and the hint on a line of its own."""
        text = f"{self.message} [{self.code}]"
        return f"{text}\n{self.hint}" if self.hint else text

    def within(self, place: str) -> Self:
        """Give the same error with the place where it happened in front of its message."""
        return type(self)(
            f"{place}: {self.message}", code=self.code, hint=self.hint, retryable=self.retryable
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by keyword, so that an error crosses a process boundary whole."""
        keywords = {"code": self.code, "hint": self.hint, "retryable": self.retryable}
        return _rebuild, (type(self), self.message, keywords)


def _rebuild(cls: type[KeepsetError], message: str, keywords: dict[str, Any]) -> KeepsetError:
    return cls(message, **keywords)


class UsageError(KeepsetError):
    """The call or the command line is wrong; nothing was read or written."""

    exit_code = 2


class NotFoundError(KeepsetError):
    """The run, checkpoint, file or class that was asked for is not there."""

    exit_code = 3


class ConflictError(KeepsetError):
    """Another writer was first: stale parent, lost lease, old token, old incarnation."""

    exit_code = 4


class PolicyError(KeepsetError):
    """A value does not belong in a checkpoint: secret, undeclared, too large, not serialisable."""

    exit_code = 5


class SchemaError(KeepsetError):
    """A contract is unsound, or stored state has a shape that this code does not have."""

    exit_code = 6


class IntegrityError(KeepsetError):
    """What is stored is damaged: a digest does not match or a row is missing."""

    exit_code = 7


class DecodeError(KeepsetError):
    """Stored bytes are not what the codec writes."""

    exit_code = 8


class SealedError(KeepsetError):
    """Encrypted data cannot be opened: the key is missing or destroyed, or bytes were changed."""

    exit_code = 9


class StoreError(KeepsetError):
    """The place where bytes live refuses: locked, unreachable, read-only, full, not ours."""

    exit_code = 11
