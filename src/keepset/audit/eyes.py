"""Eyes that look closer than the detectors: at texts alone, and only where somebody asks for it.

What our own detectors have found is not shown to them: it is counted already, and nobody else has
to see it. What was seen in a text is remembered by its digest, so that each text is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Final, NamedTuple, Protocol

from keepset.audit.texts import Path, Text, is_name, texts
from keepset.scan import Finding, Scanner
from keepset.verdict import reasons

MOST_TEXTS: Final = 50_000
"""Texts that are remembered by an eye; the oldest half is forgotten when there are more."""

_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_NAMES: Final = 3


class Sight(NamedTuple):
    """One thing that was seen in a text; it holds no part of it.

    Attributes:
        kind: A reason code.
        detail: The rule that it was seen by.
        is_whole: Whether it is the whole text.
    """

    kind: str
    detail: str
    is_whole: bool = False


class Eye(Protocol):
    """Looks at one text after the other."""

    @property
    def name(self) -> str:
        """The option that it belongs to."""
        ...

    def see(self, text: str, names: Sequence[str]) -> Iterable[Sight]:
        """Look at a text.

        Args:
            text: The text.
            names: Names of the fields and keys that it stands under, the innermost last.
        """
        ...


class Closer:
    """Shows the texts of values to eyes.

    Args:
        eyes: Those that look.
        scanner: Our own detectors.
    """

    def __init__(self, eyes: Sequence[Eye], scanner: Scanner) -> None:
        """Remember nothing yet."""
        self._scanner = scanner
        self._eyes: list[tuple[Eye, dict[bytes, tuple[Sight, ...]]]] = [(eye, {}) for eye in eyes]

    @property
    def has_eyes(self) -> bool:
        """Whether anybody looks."""
        return bool(self._eyes)

    def look(self, value: object, path: Path, found: Sequence[Finding]) -> list[Finding]:
        """Look at the texts of a value.

        Args:
            value: Plain data.
            path: Where it is.
            found: What our own detectors have found in it.

        Returns:
            What was seen. Of what was seen in a key, the path ends with that very key: it is not
            to be told.
        """
        if not self.has_eyes:
            return []
        secrets = {one.path: one for one in found if reasons.is_secret(one.kind)}
        seen: list[Finding] = []
        for one in texts(value, path):
            text = self._shown(one, secrets)
            if text:
                seen += self._look(one, text)
        return seen

    def look_at_name(self, name: str, path: Path) -> list[Finding]:
        """Look at a name that is told by itself, such as that of a field.

        Args:
            name: The name, without what our own detectors know in it.
            path: Where it is; names of what it stands under.
        """
        if not self.has_eyes or is_name(name):
            return []
        return self._look(Text((*path, name), name, is_key=True), name)

    def _shown(self, one: Text, secrets: dict[Path, Finding]) -> str:
        """Give what is shown of a text: nothing of a secret that is known."""
        known = secrets.get(one.path)
        if known is not None and known.whole:
            return ""
        return self._scanner.text(one.text) if known is not None or one.is_key else one.text

    def _look(self, one: Text, text: str) -> list[Finding]:
        names = [name for name in one.path if isinstance(name, str)][-_NAMES:]
        names = names[:-1] if one.is_key else names
        key = blake2b("\0".join((*names, text)).encode("utf-8", "surrogatepass"), digest_size=16)
        digest = key.digest()
        return [
            Finding(
                sight.kind,
                one.path,
                sight.detail,
                "",
                whole=sight.is_whole and not one.is_key,
                in_key=one.is_key,
            )
            for eye, known in self._eyes
            for sight in self._seen(eye, known, digest, text, names)
        ]

    @staticmethod
    def _seen(
        eye: Eye,
        known: dict[bytes, tuple[Sight, ...]],
        digest: bytes,
        text: str,
        names: Sequence[str],
    ) -> tuple[Sight, ...]:
        seen = known.get(digest)
        if seen is None:
            seen = tuple(eye.see(text, names))
            if len(known) >= MOST_TEXTS:
                for old in list(islice(known, MOST_TEXTS // 2)):
                    del known[old]
            known[digest] = seen
        return seen


def words(names: Iterable[str]) -> list[str]:
    """Give the words that names are made of, in small letters: ``homePhone`` has two."""
    return [word.lower() for name in names for word in _WORDS.findall(name)]
