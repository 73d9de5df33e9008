"""The key under which names of persons and of deleted runs are hashed.

A run id or a subject may be a person's name, so neither stands in the store where it outlives the
run: what stands there is an HMAC, whose key lies in a file of its own beside the database.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from keepset.errors import StoreError

KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class HashKey:
    """A key for keyed hashes."""

    key: bytes = field(repr=False)

    def check(self, store: bytes) -> bytes:
        """What tells this key from any other beside one store, 8 bytes; it gives nothing away."""
        return self.digest("store", store.hex())[:8]

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
        StoreError: ``store.key-file``: the file is missing and may not be made, cannot be read, is
            open to others, or does not hold a key.
    """
    data = _read(path)
    if data is None and create:
        _make(path)
        data = _read(path)
    if data is None:
        raise _no_key(path, "is missing")
    if len(data) != KEY_BYTES:
        raise _no_key(path, "does not hold a key")
    return HashKey(data)


def read_key(path: Path) -> HashKey | None:
    """Read the key in a file; None where the file is missing or does not hold a key.

    Raises:
        StoreError: ``store.key-file``: the file cannot be read, or is open to others.
    """
    data = _read(path)
    return HashKey(data) if data is not None and len(data) == KEY_BYTES else None


def renew_key(path: Path) -> HashKey:
    """Make a new key; a file that is there stays beside it, as ``<name>.lost-<hex>``.

    Raises:
        StoreError: ``store.key-file``: it cannot be made.
    """
    try:
        path.rename(path.with_name(f"{path.name}.lost-{secrets.token_hex(4)}"))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _no_key(path, f"cannot be replaced ({type(error).__name__})", _FOLDER) from error
    return file_key(path, create=True)


def wrong_key(path: Path) -> StoreError:
    """Make the error for a key file that belongs to another store."""
    return _no_key(path, "holds the key of another store")


def _read(path: Path) -> bytes | None:
    """What a file holds; None where there is none."""
    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise _no_key(path, "can be read by others", f"Run `chmod 600 {path}`.")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        hint = f"Make {path} a file that this user may read."
        raise _no_key(path, f"cannot be read ({type(error).__name__})", hint) from error


def _make(path: Path) -> None:
    """Write the whole key under another name and link it into place, so that nobody reads half."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(KEY_BYTES))
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(draft, path)
        finally:
            draft.unlink(missing_ok=True)
        _sync_folder(path.parent)
    except OSError as error:
        raise _no_key(path, f"cannot be made ({type(error).__name__})", _FOLDER) from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_FOLDER = "Make the folder of the store writable for this user, and see that the disk is not full."
_LOST = (
    "It lies beside the database and belongs to it: put it back from a backup. Where it is lost"
    " for good, open the store once with new_key=True; runs are then not found by a person's name."
)


def _no_key(path: Path, what: str, hint: str = _LOST) -> StoreError:
    return StoreError(f"the key file {path.name} {what}", code="store.key-file", hint=hint)
