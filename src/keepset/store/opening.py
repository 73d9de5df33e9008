"""From a URL to a backend and the parts of a store around it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from keepset.backends.port import Backend
from keepset.backends.sqlite import (
    Durability,
    SQLiteBackend,
    is_to_be_made,
    locate,
    open_memory,
    open_sqlite,
)
from keepset.codec import GLOBAL, Codec
from keepset.errors import StoreError, UsageError
from keepset.plan.guard import Mode
from keepset.providers import (
    HashKey,
    file_key,
    fresh_key,
    new_id,
    now_ms,
    read_key,
    renew_key,
    resolve,
    temporary_roots,
    wrong_key,
)
from keepset.run.leasing import SECONDS, Leases
from keepset.run.services import Services
from keepset.scan import KnownValues, Scanner
from keepset.store.places import Place, file_of

Role = Literal["writer", "viewer"]
_LONGEST_LEASE = 86_400


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
    lease: float = SECONDS


def open_services(place: Place, options: Options) -> Services:
    """Open the backend of a place and put a store's parts together.

    Raises:
        UsageError: The place or an option is not known.
        NotFoundError: A viewer's store is not there.
        StoreError: The place refuses, or the key is not the store's.
    """
    _check(options)
    mode = mode_in_force(options.mode)
    opened = _backend_of(place)
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
        leases=Leases(backend, now_ms, options.lease),
        compressed=options.compression,
    )


def _backend_of(place: Place) -> Callable[[Options], tuple[Backend, HashKey | None]]:
    path = file_of(place)
    if path is None:
        return lambda _: (open_memory(), fresh_key())
    return lambda options: _open_file(path, options)


def _require_file(path: Path) -> None:
    if path.exists() and not path.is_file() and not path.is_dir():
        raise StoreError(
            f"{path} is no file that can hold a store",
            code="store.not-a-database",
            hint="It is a pipe, a socket or a device: give the path of a plain file.",
        )


def _open_file(name: str, options: Options) -> tuple[Backend, HashKey | None]:
    """Open a database and its key, which lies beside the file itself, wherever links lead to it."""
    path = locate(name)
    key_path = path.with_name(f"{path.name}.key")
    _require_file(path)
    _require_file(key_path)
    if options.role == "writer" and is_to_be_made(path):
        _make_key(key_path, anew=options.new_key)  # before the database: none is ever without one
    backend = open_sqlite(
        path,
        durability=options.durability,
        timeout=options.timeout,
        readonly=options.role != "writer",
    )
    try:
        return backend, _key_of(backend, key_path, options)
    except BaseException:
        backend.close()
        raise


def _make_key(path: Path, *, anew: bool) -> None:
    """Make the key of a store that is still to be made, where there is none."""
    if anew and read_key(path) is None:
        renew_key(path)
    else:
        file_key(path, create=True)


def _key_of(backend: SQLiteBackend, path: Path, options: Options) -> HashKey | None:
    """The key of a store; None for a viewer where it is lost.

    Raises:
        StoreError: ``store.key-file``: it is lost, damaged, open to others or of another store.
    """
    viewing = options.role != "writer"
    key = read_key(path)
    fits = key is not None and backend.knows_key(key.check)
    if not fits and options.new_key and not viewing:
        key = renew_key(path)
        backend.knows_key(key.check, replace_it=True)
    elif not fits and key is not None:
        raise wrong_key(path)
    elif key is None and not (viewing and not path.exists()):
        return file_key(path, create=False)
    return key


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
    if not isinstance(options.lease, int | float) or not 1 <= options.lease <= _LONGEST_LEASE:
        raise UsageError(
            "the lease is not a number of seconds from 1 to 86,400",
            code="usage.lease",
            hint="Write lease=30.0.",
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
