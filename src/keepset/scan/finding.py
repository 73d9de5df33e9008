"""What a detector reports: one `Finding` per value that does not belong in a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Position of a value inside a state: mapping keys and attribute names, and positions."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found. It never holds the value, so it may be logged and printed.

    Attributes:
        kind: A reason code, one of `keepset.scan.reasons.REASONS`.
        path: Where the value is. A mapping key that is itself a secret stands as its position.
        detail: The rule, type or name that it was found by.
        advice: A sentence that names the rule to declare.
        whole: Whether the value as a whole is meant; False for a part of a longer text.
        span: Start and end of that part, in characters of a str or bytes of a bytes object; None
            where the whole value is meant.
        in_key: Whether the mapping key at `path` is meant, and not the value under it.
    """

    kind: str
    path: Path
    detail: str
    advice: str
    whole: bool = True
    span: tuple[int, int] | None = None
    in_key: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text that is a secret.

    Attributes:
        start: Position of its first character.
        end: Position after its last character.
        kind: A reason code.
        detail: Id of the rule that matched, or the name of a registered value.
        carrier: Whether a text that consists of nothing but this and its wrapping (a URL, a
            header, a connection string) is a secret as a whole.
    """

    start: int
    end: int
    kind: str
    detail: str
    carrier: bool = False
