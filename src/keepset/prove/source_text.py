"""The text of a module, the places of what stands in it, and edits that leave the rest alone."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Final

from keepset.errors import UsageError

_LINE: Final = re.compile(rb"\r\n|\r|\n")
_BOM: Final = "\ufeff"

Place = ast.expr | ast.stmt | ast.alias


@dataclass
class SourceText:
    """A module's text.

    Attributes:
        data: Its bytes, as UTF-8, which is what Python counts columns in.
        tree: What Python reads in it.
    """

    data: bytes
    tree: ast.Module
    _starts: list[int] = field(default_factory=list)
    _edits: list[tuple[int, int, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Find where each line begins."""
        self._starts = [0, *(found.end() for found in _LINE.finditer(self.data))]

    @property
    def newline(self) -> str:
        """How its lines end."""
        found = _LINE.search(self.data)
        return found.group().decode() if found else "\n"

    def start(self, node: Place) -> int:
        """Give the offset at which a node begins."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: Place) -> int:
        """Give the offset behind a node."""
        return self._starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)

    def line(self, number: int) -> int:
        """Give the offset at which a line begins, or the end of the text behind the last one."""
        return self._starts[number - 1] if number <= len(self._starts) else len(self.data)

    def rest(self, offset: int) -> bytes:
        """Give what stands between an offset and the end of its line."""
        found = _LINE.search(self.data, offset)
        return self.data[offset : found.start() if found else len(self.data)]

    def replace(self, start: int, end: int, new: bytes) -> None:
        """Note an edit."""
        self._edits.append((start, end, new))

    def edited(self) -> str:
        """Carry out the edits; those at one place in the order in which they were noted."""
        parts, at = [], 0
        for start, end, new in sorted(self._edits, key=lambda edit: edit[:2]):
            parts += [self.data[at:start], new]
            at = end
        return b"".join((*parts, self.data[at:])).decode()


def read(source: str) -> tuple[str, SourceText]:
    """Read a module's text.

    Returns:
        What stands in front of it and is no text of Python (a byte order mark), and the rest.

    Raises:
        UsageError: ``source.syntax``.
    """
    mark = _BOM if source.startswith(_BOM) else ""
    text = source.removeprefix(_BOM)
    try:
        return mark, SourceText(text.encode(), ast.parse(text))
    except (SyntaxError, ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise UsageError(
            f"the module cannot be read as Python{line}: nothing was written",
            code="source.syntax",
            hint="Import the module first, and mend what that finds.",
        ) from error
