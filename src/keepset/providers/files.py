"""Files that a user asked for: whole or not at all, and none that somebody else has made.

A file is written beside its name, and takes that in one step when all of it is on the disk. What a
process that was killed has left beside it is removed by the next one that writes a file of that
name: a lock says which of them are still being written.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from keepset.errors import StoreError, UsageError

_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK})
_DATABASE: Final = b"SQLite format 3\0"
_PART: Final = "part"
_PRIVATE: Final = 0o600
_USUAL: Final = 0o666
"""Of which a process takes away what its umask says."""


def _nobodys(begin: bytes) -> bool:
    """Tell of no file that it may be replaced without being told so."""
    del begin
    return False


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file that is to be made.

    Attributes:
        path: Where.
        replaces: Whether it may take the place of a file that is there.
        is_ours: Tells from the first bytes of one that is there that the same command has made it,
            so that nobody has to be asked.
        is_private: Whether only its owner may read it.
        is_plain: Whether it has to be a plain file; else a pipe and a device are written to.
    """

    path: Path
    replaces: bool = False
    is_ours: Callable[[bytes], bool] = _nobodys
    is_private: bool = False
    is_plain: bool = False

    def require(self) -> None:
        """Refuse what could not be written in the end, before the work for it is done.

        Raises:
            UsageError: ``file.there``: a file is there that nobody said to replace;
                ``file.database``: it is a database, which is never replaced.
            StoreError: ``file.cannot-write``.
        """
        self._replaced()

    def is_special(self) -> bool:
        """Tell whether it is a pipe or a device, which may be written to more than once."""
        return self.path.exists() and not self.path.is_file()

    def write(self, content: str) -> None:
        """Write a text; see `writing`."""
        with self.writing() as file:
            file.write(content.encode())

    @contextmanager
    def writing(self) -> Iterator[BinaryIO]:
        """Give a file to write to, which takes its name when the block has ended well.

        Raises:
            UsageError: See `require`; also where one has come there meanwhile.
            StoreError: ``file.cannot-write``: also in the midst of it; nothing is half there.
        """
        before = self._replaced()
        try:
            if before is not None and not stat.S_ISREG(before.st_mode):
                with self.path.open("wb") as file:
                    yield file
                return
            place = self.path.resolve()  # a link stays one
            with _beside(place, _PRIVATE if self.is_private else _USUAL) as (part, file):
                yield file
                file.flush()
                if before is not None and not self.is_private:
                    _as_before(file, before)
                os.fsync(file.fileno())
                self._land(part, place, before)
        except OSError as error:
            raise self._refused(error) from error

    def _replaced(self) -> os.stat_result | None:
        """Give what is there and may be replaced or written to; None where nothing is."""
        try:
            found = require_writable(self.path, is_plain=self.is_plain)
            if found is not None and stat.S_ISREG(found.st_mode):
                self._require_ours()
        except OSError as error:
            raise self._refused(error) from error
        return found

    def _require_ours(self) -> None:
        with self.path.open("rb") as file:
            begin = file.read(1024)
        if begin.startswith(_DATABASE):
            raise UsageError(
                f"{self.path} is a database of SQLite's",
                code="file.database",
                hint="Name another file: a database is never replaced.",
            )
        if not (self.replaces or self.is_ours(begin)):
            raise self._there()

    def _land(self, part: Path, place: Path, before: os.stat_result | None) -> None:
        """Give a file its name in one step; one that has come there meanwhile stays."""
        if before is not None or self.replaces:
            part.replace(place)
            return
        try:
            place.hardlink_to(part)
        except FileExistsError as error:
            raise self._there() from error
        except OSError as error:  # a file system without such links
            if error.errno not in _NO_LINKS or place.exists():
                raise
            part.replace(place)

    def _there(self) -> UsageError:
        return UsageError(
            f"{self.path} is there already",
            code="file.there",
            hint="Name another file, or say --replace.",
        )

    def _refused(self, error: OSError) -> StoreError:
        return StoreError(
            f"{self.path} cannot be written: {error.strerror or type(error).__name__}",
            code="file.cannot-write",
            hint="Look at its folder, at who may write there, and at the room on its disk; "
            "nothing is half there.",
        )


def require_all(files: Collection[Wanted]) -> None:
    """Refuse files of which one could not be written in the end, or two are the same.

    Raises:
        UsageError: ``file.twice``; see `Wanted.require`.
        StoreError: ``file.cannot-write``.
    """
    for file in files:
        file.require()
    seen: set[Path] = set()
    for place in (file.path.resolve() for file in files if not file.is_special()):
        if place in seen:
            raise UsageError(
                f"{place} is named for two things",
                code="file.twice",
                hint="Give each a file of its own.",
            )
        seen.add(place)


def require_writable(path: Path, *, is_plain: bool = True) -> os.stat_result | None:
    """Refuse a path at which no file can be made or written to; give what is there, or None.

    Args:
        path: The path.
        is_plain: Whether a pipe and a device are refused.

    Raises:
        OSError: It is a folder, its folder is not there, or this user may not write.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        found = None
    if found is None or stat.S_ISREG(found.st_mode):
        folder = path.resolve().parent
        folder.stat()
        _require_right(folder, os.W_OK | os.X_OK)
    elif is_plain or stat.S_ISDIR(found.st_mode):
        raise OSError(errno.EINVAL, "it is no plain file")
    if found is not None:
        _require_right(path, os.W_OK)
    return found


def _require_right(path: Path, rights: int) -> None:
    if not os.access(path, rights):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))


@contextmanager
def _beside(place: Path, mode: int) -> Iterator[tuple[Path, BinaryIO]]:
    """Make the file beside, locked, and remove it in the end, also when a signal ends the process.

    Those that nobody writes to any more are removed before.
    """
    _clear(place)
    is_ours = False
    while not is_ours:
        # Known before the file is there: a handler of a signal may raise between any two calls.
        part = place.with_name(f"{_label(place)}{secrets.token_hex(8)}.{_PART}")
        try:
            handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, mode)
            with os.fdopen(handle, "wb") as file:
                with suppress(OSError):  # where there are no locks nobody takes it for left behind
                    fcntl.flock(handle, fcntl.LOCK_EX)
                is_ours = part.exists()  # else another one has removed it before it was locked
                if is_ours:
                    yield part, file
        finally:
            try:  # noqa: SIM105 - a function of Python's own may be interrupted as it begins
                os.unlink(part)  # noqa: PTH108 - so may `Path.unlink`
            except FileNotFoundError:
                pass


def _label(place: Path) -> str:
    """Give how the names of files beside one begin, which have fewer than 255 bytes."""
    return f".{os.fsencode(place.name)[:200].decode(errors='ignore')}."


def _clear(place: Path) -> None:
    """Remove what processes that were killed have left beside a file."""
    ours = re.compile(rf"{re.escape(_label(place))}[0-9a-f]{{16}}\.{_PART}")
    with suppress(OSError):  # a folder may be one to write to, and not to look into
        for name in os.listdir(place.parent):  # noqa: PTH208 - names alone are looked at
            if ours.fullmatch(name):
                with suppress(OSError):
                    _remove_if_left(place.parent / name)


def _remove_if_left(part: Path) -> None:
    handle = os.open(part, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        part.unlink()
    finally:
        os.close(handle)


def _as_before(file: BinaryIO, before: os.stat_result) -> None:
    """Give a file the rights and, where that may be done, the owner of the one it replaces."""
    with suppress(OSError):
        os.fchown(file.fileno(), before.st_uid, before.st_gid)
    os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
