"""Secrets of hundreds of kinds, by the rules of Kingfisher, in this process and without a network.

Of that package only what looks at bytes is used: its validation, which asks the services that a
secret is for, is never imported by us, and its cache of rules on the disk is off. A text is handed
over in memory, and what comes back has its secrets left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Final

from keepset.audit.eyes import Sight
from keepset.errors import UsageError

DEEP: Final = "secret.deep"
"""Code of a secret that only these rules know."""

_SHORTEST: Final = 8
_LONGEST_VALUE: Final = 4_096


class Deep:
    """Looks at texts with Kingfisher's rules."""

    name = "deep"

    def __init__(self) -> None:
        """Make the rules ready, which takes some seconds.

        Raises:
            UsageError: ``audit.no-deep``: the package is not installed.
        """
        try:
            kingfisher = import_module("kingfisher_sdk")
        except ImportError as error:
            raise UsageError(
                "--deep looks with the rules of a package that is not installed",
                code="audit.no-deep",
                hint='pip install "keepset[deep]"',
            ) from error
        self._scanner: Any = kingfisher.Scanner(kingfisher.Rules(cache=False), redact=True)

    def see(self, text: str, names: Sequence[str]) -> Iterable[Sight]:
        """Give the rules that match; of several at one place the first."""
        if len(text) < _SHORTEST:
            return
        before, after = _around(text, names)
        data = f"{before}{text}{after}".replace("\0", " ").encode("utf-8", "replace")
        length, behind = len(text.strip().encode("utf-8", "replace")), 0
        found = [_place(one) for one in self._scanner.scan(data) if one.visible]
        for start, end, rule in sorted(found):
            if start >= behind:
                behind = end
                yield Sight(DEEP, rule, end - start >= length)


def _place(finding: Any) -> tuple[int, int, str]:
    where = finding.location
    return where["start_offset"], where["end_offset"], finding.rule_id


def _around(text: str, names: Sequence[str]) -> tuple[str, str]:
    """Write the name that a value stands under before it, as a file of settings would.

    Many rules ask for a name beside the value. A longer text stands for itself.
    """
    if not names or len(text) > _LONGEST_VALUE or len(text.split()) != 1:
        return "", ""
    return f'{names[-1]} = "', '"\n'
