"""The key under which names of persons and of deleted runs are hashed.

A run id or a subject may be a person's name, so neither stands in the store where it outlives the
run: what stands there is an HMAC, whose key lies in a file of its own beside the database.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from keepset.errors import StoreError

KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class HashKey:
    """A key for keyed hashes."""

    key: bytes = field(repr=False)

    def digest(self, purpose: str, *names: str) -> bytes:
        """HMAC-SHA-256 over a purpose and names, 16 bytes; no two lists of names read alike."""
        state = hmac.new(self.key, digestmod=hashlib.sha256)
        for name in (purpose, *names):
            data = name.encode("utf-8", "surrogatepass")
            state.update(len(data).to_bytes(8, "big"))
            state.update(data)
        return state.digest()[:16]


def fresh_key() -> HashKey:
    """A key that lives as long as the process."""
    return HashKey(secrets.token_bytes(KEY_BYTES))


def file_key(path: Path, *, create: bool) -> HashKey:
    """Read the key in a file, which is made with mode 0600 where it is missing.

    Many processes may do this at once; all get the same key.

    Raises:
        StoreError: The file is missing and may not be made, or does not hold a key.
    """
    if not path.exists():
        if not create:
            raise _no_key(path, "is missing")
        _make(path)
    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise _no_key(path, "can be read by others", f"Run `chmod 600 {path}`.")
        key = path.read_bytes()
    except OSError as error:
        raise _no_key(path, f"cannot be read ({type(error).__name__})") from error
    if len(key) != KEY_BYTES:
        raise _no_key(path, "does not hold a key")
    return HashKey(key)


def _make(path: Path) -> None:
    """Write the whole key under another name and link it into place, so that nobody reads half."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            return
        finally:
            draft.unlink()
        _sync_folder(path.parent)
    except OSError as error:
        raise _no_key(path, f"cannot be made ({type(error).__name__})") from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_LOST = (
    "It lies beside the database and belongs to it: put it back from a backup. Where it is lost"
    " for good, open the store once with new_key=True; runs are then not found by a person's name."
)


def _no_key(path: Path, what: str, hint: str = _LOST) -> StoreError:
    return StoreError(f"the key file {path.name} {what}", code="store.key-file", hint=hint)
