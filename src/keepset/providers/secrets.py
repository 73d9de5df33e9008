"""Secrets by reference: where `Secret` rules point to, read when a run resumes."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path

from keepset.errors import NotFoundError, UsageError


def _from_environment(name: str) -> str | None:
    return os.environ.get(name)


def _from_file(name: str) -> str | None:
    path = Path(name).expanduser()
    return path.read_text("utf-8").rstrip("\r\n") if path.is_file() else None


def _from_keyring(name: str) -> str | None:
    service, _, user = name.partition("/")
    try:
        keyring = importlib.import_module("keyring")
    except ImportError as error:
        raise UsageError(
            f"the reference keyring:{name} needs the package keyring",
            code="secret.no-provider",
            hint="Install it with `pip install keepset[keyring]`.",
        ) from error
    value = keyring.get_password(service, user)
    return value if isinstance(value, str) else None


SCHEMES: dict[str, Callable[[str], str | None]] = {
    "env": _from_environment,
    "file": _from_file,
    "keyring": _from_keyring,
}


def resolve(reference: str) -> str:
    """Read the secret that a reference names.

    Args:
        reference: ``env:NAME``, ``file:PATH`` (less the end of its last line) or
            ``keyring:SERVICE/USER``.

    Raises:
        UsageError: The scheme is unknown, or its provider is not installed.
        NotFoundError: There is nothing under the reference.
    """
    scheme, _, name = reference.partition(":")
    provider = SCHEMES.get(scheme)
    if provider is None or not name:
        raise UsageError(
            f"the secret reference {reference} has no known scheme",
            code="secret.no-provider",
            hint=f"Use one of {', '.join(f'{known}:…' for known in SCHEMES)}.",
        )
    try:
        value = provider(name)
    except OSError as error:
        raise _nothing(reference, f" ({type(error).__name__})") from error
    if not value:
        raise _nothing(reference)
    return value


def _nothing(reference: str, why: str = "") -> NotFoundError:
    return NotFoundError(
        f"there is no secret under {reference}{why}",
        code="secret.unresolved",
        hint="Set it where this process runs, then resume again; nothing was lost.",
        retryable=True,
    )
