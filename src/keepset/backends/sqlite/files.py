"""Look at the place where a database is, or is to be, without changing anything there."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from keepset.backends.sqlite.failures import (
    DRIVER_ERRORS,
    NEWER,
    NOT_A_DATABASE,
    NOT_OURS,
    READ_ONLY,
    failure,
    translate,
)
from keepset.backends.sqlite.forks import GATE
from keepset.backends.sqlite.network import file_system, is_network
from keepset.errors import IntegrityError, KeepsetError, StoreError, UsageError

COMPANIONS = ("", "-wal", "-shm")
"""What follows the path of the database in the names of its files."""

PRIVATE = 0o600
"""Permission bits of a store's files: the owner reads and writes, nobody else does anything."""

OLDEST = (3, 37, 0)
"""The oldest SQLite with STRICT tables."""

_SMALLEST_PAGE = 512


def check_version(version: tuple[int, ...]) -> None:
    """Refuse a SQLite that is too old.

    Raises:
        StoreError: ``store.sqlite-too-old``.
    """
    if version < OLDEST:
        raise StoreError(
            f"Python was built with SQLite {'.'.join(map(str, version))}",
            code="store.sqlite-too-old",
            hint="keepset needs SQLite 3.37 or newer: use a newer Python or system.",
        )


def locate(path: str | os.PathLike[str]) -> Path:
    """Give the absolute path of a database, links followed: its companions lie beside that.

    Raises:
        UsageError: ``store.url``: no file can have this path.
        StoreError: ``store.cannot-open``: this user cannot get there.
    """
    try:
        found = Path(path).resolve()
        with suppress(FileNotFoundError, NotADirectoryError):
            found.stat()
    except ValueError as error:
        raise _no_path(f"{type(error).__name__}: a NUL, or text that is not Unicode") from error
    except RuntimeError as error:
        raise _cannot_open(Path(path), OSError(errno.ELOOP, "links lead in a circle")) from error
    except OSError as error:
        raise _cannot_open(Path(path), error) from error
    if not found.name:
        raise _no_path("it is the root of the file system")
    return found


def is_to_be_made(path: Path) -> bool:
    """Tell whether a store is still to be made at a path: no file is there, or an empty one.

    Args:
        path: What `locate` gave.

    Raises:
        StoreError: The place cannot hold a store; see `check_place`.
    """
    check_place(path)
    return _size(path) == 0


def check_place(
    path: Path, kind_of: Callable[[Path], str] = file_system, *, writing: bool = True
) -> None:
    """Refuse a place that cannot hold a store.

    Args:
        path: The database's path, absolute, links followed.
        kind_of: Gives the type of the file system that holds a path.
        writing: Whether the folder and the file have to be writable.

    Raises:
        StoreError: The folder is missing, on a network file system or read-only; or the path is
            no plain file.
    """
    folder = path.parent
    if not folder.is_dir():
        raise _refused(path, "no-folder", "its folder does not exist", "Create the folder first.")
    kind = kind_of(folder)
    if is_network(kind):
        raise _refused(
            path,
            "network-file-system",
            f"it lies on a network file system ({kind})",
            "SQLite's locks do not hold there and the file would be destroyed: use a local disk.",
        )
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    except OSError as error:
        raise _cannot_open(path, error) from error
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "not a plain file"
        raise _refused(path, "not-a-file", f"it is {what}", "Give the path of a file.")
    for needed in (folder, path) if writing else ():
        if needed.exists() and not os.access(needed, os.W_OK):
            raise failure(READ_ONLY, str(path), needed.name)


def make_file(path: Path) -> bool:
    """Make an empty, private file where there is none; False where there is one already.

    Raises:
        StoreError: It cannot be made.
    """
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, PRIVATE)
    except FileExistsError:
        return False
    except OSError as error:
        raise _cannot_open(path, error) from error
    try:
        os.fchmod(handle, PRIVATE)  # the umask may have taken the owner's own rights away
    finally:
        os.close(handle)
    return True


def _size(path: Path) -> int:
    """Bytes of a file, 0 where there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def check_file(path: Path, application: int, newest: int) -> None:
    """Refuse a file that is not a store, without opening it for writing.

    SQLite itself reads it, as one that nobody changes, since closing a handle of our own would
    drop the locks that this process may hold on the file. An empty file passes: it is a new store.

    Args:
        path: The database's path.
        application: The application id of our stores.
        newest: The newest schema that this code knows.

    Raises:
        StoreError: Not a database, another application's, or of a newer keepset.
        IntegrityError: Cut off or damaged.
    """
    # The log first: another process may be making the store, and the database is there before it.
    logged = _size(path.with_name(f"{path.name}-wal"))
    size = path.stat().st_size
    if size == 0:
        if logged:
            raise IntegrityError(
                f"{path} is empty, but its write-ahead log is not",
                code="store.damaged",
                hint="The database was cut off: restore it, and keep the -wal file as it is.",
            )
        return
    if size < _SMALLEST_PAGE:
        raise failure(NOT_A_DATABASE, str(path), f"{size} bytes")
    stored, version, changes = _read_header(path)
    if stored != application and (stored or version or changes or logged):
        raise failure(NOT_OURS, str(path), f"application id {stored}")
    if version > newest:
        raise failure(NEWER, str(path), f"schema {version}, known up to {newest}")


def _read_header(path: Path) -> tuple[int, int, int]:
    """Read application id, schema number and count of schema changes from the first page.

    Where there were no changes it holds nothing, as that of a store that is being made.

    A writable schema is what makes SQLite read them though the file is shorter than its first page
    says, as it is while, or after a kill when, a part of the content lies in the log.
    """
    try:
        with (
            GATE.mine(),
            closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as connection,
        ):
            connection.execute("PRAGMA writable_schema = ON")
            ((stored,),) = connection.execute("PRAGMA application_id")
            ((version,),) = connection.execute("PRAGMA user_version")
            ((changes,),) = connection.execute("PRAGMA schema_version")
    except DRIVER_ERRORS as error:
        raise translate(error, str(path)) from error
    return int(stored), int(version), int(changes)


def file_sizes(path: Path) -> list[tuple[str, int, int]]:
    """Give path, size in bytes and permission bits of the database and its companion files."""
    found = []
    for companion in COMPANIONS:
        file = path.with_name(path.name + companion)
        try:
            status = file.stat()
        except FileNotFoundError:
            continue
        found.append((str(file), status.st_size, stat.S_IMODE(status.st_mode)))
    return found


def _cannot_open(path: Path, error: OSError) -> KeepsetError:
    if error.errno == errno.EROFS:
        return failure(READ_ONLY, str(path), "read-only file system")
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return _refused(path, "full", "the disk is full", "Free space or raise the quota.")
    return _refused(
        path,
        "cannot-open",
        f"it cannot be opened ({errno.errorcode.get(error.errno or 0, 'OSError')})",
        "Check that this user may read and write in the folder.",
    )


def _no_path(why: str) -> UsageError:
    return UsageError(
        f"the path of the store is not one that a file can have ({why})",
        code="store.url",
        hint="Give the path of a file: sqlite:///relative.db or sqlite:////absolute.db.",
    )


def _refused(path: Path, code: str, what: str, hint: str) -> StoreError:
    return StoreError(f"{path}: {what}", code=f"store.{code}", hint=hint)
