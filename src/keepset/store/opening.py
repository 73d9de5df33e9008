"""From a URL to a backend and the parts of a store around it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from keepset.backends.port import Backend
from keepset.backends.sqlite import Durability, open_memory, open_sqlite
from keepset.codec import GLOBAL, Codec
from keepset.errors import NotFoundError, UsageError
from keepset.plan.guard import Mode
from keepset.providers import HashKey, file_key, fresh_key, new_id, now_ms, resolve, temporary_roots
from keepset.run.services import Services
from keepset.scan import KnownValues, Scanner

Role = Literal["writer", "viewer"]
SQLITE = "sqlite:///"
MEMORY = "memory:"


@dataclass(frozen=True, slots=True)
class Options:
    """How a store is opened; see `keepset.open`."""

    tenant: str
    role: Role
    mode: str
    durability: Durability
    timeout: float
    compression: bool
    new_key: bool


def open_services(url: str, options: Options) -> Services:
    """Open the backend that a URL names and put a store's parts together.

    Raises:
        UsageError: The URL or an option is not known.
        StoreError: The place refuses.
    """
    _check(options)
    mode = mode_in_force(options.mode)
    opened = _backend_of(url)
    backend, key = opened(options)
    known = KnownValues()
    return Services(
        backend=backend,
        tenant=options.tenant,
        role=options.role,
        mode=mode,
        key=key,
        known=known,
        scanner=Scanner(known, temporary_roots()),
        resolve=resolve,
        now=now_ms,
        new_id=new_id,
        inspector=Codec(GLOBAL, opaque=True),
        compressed=options.compression,
    )


def _backend_of(url: object) -> Callable[[Options], tuple[Backend, HashKey | None]]:
    if url == MEMORY:
        return lambda _: (open_memory(), fresh_key())
    path = url.removeprefix(SQLITE) if isinstance(url, str) else ""
    if not path or path == url or path.startswith(":memory:") or not Path(path).name:
        raise UsageError(
            "the store URL is not known",
            code="store.url",
            hint="Use sqlite:///relative.db, sqlite:////absolute.db or memory:.",
        )
    return lambda options: _open_file(Path(path), options)


def _open_file(path: Path, options: Options) -> tuple[Backend, HashKey | None]:
    """Make the key before the database, so that no store is ever without one."""
    key_path = path.with_name(f"{path.name}.key")
    fresh = not path.exists() or (path.is_file() and not path.stat().st_size)
    viewing = options.role != "writer"
    if viewing and fresh:
        raise NotFoundError(
            f"there is no store at {path}",
            code="store.not-found",
            hint="A viewer makes none; look at the path: sqlite:///runs.db is relative.",
        )
    if not viewing and (fresh or options.new_key) and path.parent.is_dir():
        file_key(key_path, create=True)
    backend = open_sqlite(path, durability=options.durability, timeout=options.timeout)
    try:
        lost = viewing and not key_path.exists()
        return backend, None if lost else file_key(key_path, create=False)
    except BaseException:
        backend.close()
        raise


def _check(options: Options) -> None:
    check_name("tenant", options.tenant)
    if options.role not in get_args(Role):
        raise _not_known("role", options.role, get_args(Role))
    if options.durability not in get_args(Durability):
        raise _not_known("durability", options.durability, get_args(Durability))
    if not isinstance(options.timeout, int | float) or not 0 < options.timeout < math.inf:
        raise UsageError(
            "the timeout is not a number of seconds above 0",
            code="usage.timeout",
            hint="Write timeout=30.0.",
        )


def mode_in_force(asked: str) -> Mode:
    """The mode that was asked for, unless ``KEEPSET_MODE`` says another.

    Raises:
        UsageError: The mode is not known.
    """
    name = os.environ.get("KEEPSET_MODE") or asked
    try:
        return Mode(name)
    except ValueError as error:
        raise _not_known("mode", name, tuple(Mode)) from error


def check_name(what: str, name: object) -> str:
    """Refuse a tenant or run id that is not a text of 1 to 512 characters.

    Raises:
        UsageError: It is not.
    """
    valid = isinstance(name, str) and 0 < len(name) <= 512  # noqa: PLR2004 - said in the docs
    if valid and isinstance(name, str) and "\0" not in name and _encodable(name):
        return name
    raise UsageError(
        f"the {what} is not a text of 1 to 512 characters",
        code="usage.name",
        hint="Give a plain string without NUL and lone surrogates.",
    )


def _encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _not_known(what: str, given: object, known: tuple[str, ...]) -> UsageError:
    return UsageError(
        f"the {what} {given!r} is not known",
        code=f"usage.{what}",
        hint=f"Use one of {', '.join(known)}.",
    )
