"""What was looked at lately and held nothing, so that it need not be looked at again.

A host hands over the same value several times: what a task wrote is, a moment later, a part of the
state. Remembered is a digest, nothing of the value itself.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256
from typing import Final

from keepset.scan.known import KnownValues

_MOST: Final = 4096
"""How many digests are kept, of 32 bytes each, and how many keys."""
_LONGEST_KEY: Final = 64


class Clean:
    """Digests of what held nothing, each with how many forms of secrets were known then.

    Any thread may use it at any time: an entry is true by itself.
    """

    __slots__ = ("_digests", "_known", "_made")

    def __init__(self, known: KnownValues, made_paths: Collection[str]) -> None:
        """Remember nothing yet.

        Args:
            known: Registered secret values; once there are more, all is looked at again.
            made_paths: Temporary paths; nothing counts as clean while there are any.
        """
        self._known = known
        self._made = made_paths
        self._digests: dict[bytes, int] = {}

    def asked(self, name: str, data: bytes | memoryview) -> Asked:
        """Ask for data that stands under a name, before it is looked at."""
        digest = sha256(b"%d %b" % (len(name), name.encode("utf-8", "surrogatepass")))
        digest.update(data)
        return Asked(self, digest.digest(), self._known.forms)

    @property
    def empty(self) -> bool:
        """Whether nothing was noted yet."""
        return not self._digests

    def knows(self, digest: bytes, forms: int) -> bool:
        """Tell whether it held nothing when so many forms of secrets were known."""
        return self._digests.get(digest) == forms and not self._made

    def note(self, digest: bytes, forms: int) -> None:
        """Remember that it held nothing when so many forms of secrets were known."""
        if self._made:
            return
        digests = self._digests
        if len(digests) >= _MOST:
            digests = self._digests = {}
        digests[digest] = forms


class CleanKeys:
    """Keys of mappings that held nothing, each with how many forms of secrets were known then.

    The keys of a state are the same in each step. Any thread may use it at any time: an entry is
    true by itself.
    """

    __slots__ = ("_keys", "_known")

    def __init__(self, known: KnownValues) -> None:
        """Remember nothing yet.

        Args:
            known: Registered secret values; once there are more, all is looked at again.
        """
        self._known = known
        self._keys: dict[str, int] = {}

    @property
    def forms(self) -> int:
        """How many forms of secrets are known now."""
        return self._known.forms

    def knows(self, key: str) -> bool:
        """Tell whether a key held nothing when as many forms of secrets were known."""
        return self._keys.get(key) == self._known.forms

    def note(self, key: str, forms: int) -> None:
        """Remember that a key held nothing when so many forms of secrets were known."""
        if len(key) > _LONGEST_KEY:
            return
        if len(self._keys) >= _MOST:
            self._keys = {}
        self._keys[key] = forms


class Asked:
    """One question: is this known to hold nothing?

    Attributes:
        clean: Whether it is.
    """

    __slots__ = ("_all", "_digest", "_forms", "clean")

    def __init__(self, known: Clean, digest: bytes, forms: int) -> None:
        """Look it up."""
        self._all = known
        self._digest = digest
        self._forms = forms
        self.clean = known.knows(digest, forms)

    def note(self) -> None:
        """Say that it was looked at since, and holds nothing."""
        self._all.note(self._digest, self._forms)
