"""Tell a network file system from a local one.

SQLite's write-ahead log needs shared memory and locks that hold between processes; over a network
they do not, and two machines that write would destroy the file.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath, PurePosixPath

NETWORK = frozenset(
    {
        "9p",
        "acfs",
        "afpfs",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs3",
        "nfs4",
        "ocfs2",
        "pvfs2",
        "smb2",
        "smb3",
        "smbfs",
        "webdav",
    }
)
"""Types of file systems that lie on another machine, as Linux and macOS name them."""

NETWORK_FUSE = frozenset(
    {
        "blobfuse",
        "blobfuse2",
        "ceph",
        "curlftpfs",
        "davfs",
        "gcsfuse",
        "glusterfs",
        "goofys",
        "juicefs",
        "mount-s3",
        "rclone",
        "s3fs",
        "seaweedfs",
        "smbnetfs",
        "sshfs",
    }
)
"""The same behind FUSE, where Linux names them ``fuse.<type>``."""


def is_network(kind: str) -> bool:
    """Tell whether a type of file system lies on another machine."""
    name = kind.lower()
    if name.startswith("fuse."):
        return name.removeprefix("fuse.") in NETWORK_FUSE
    return name in NETWORK or name in NETWORK_FUSE


def linux_mounts(text: str) -> Iterator[tuple[str, str]]:
    """Give mount point and type of each line of ``/proc/mounts``.

    Source: proc(5) and fstab(5): blanks inside a field are written as octal escapes.
    """
    for line in text.splitlines():
        fields = line.split(" ")
        if len(fields) >= 3:  # noqa: PLR2004 - device, mount point, type, then options
            yield _unescape(fields[1]), fields[2]


def _unescape(field: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, char)
    return field


def macos_mounts(text: str) -> Iterator[tuple[str, str]]:
    """Give mount point and type of each line that ``mount`` prints on macOS.

    A line is ``<device> on <mount point> (<type>, <option>, ...)``.
    """
    for line in text.splitlines():
        place, bracket, options = line.rpartition(" (")
        _, on, point = place.partition(" on ")
        if bracket and on:
            yield point, options.rstrip(")").split(",")[0].strip()


def kind_at(path: PurePath, mounts: Iterable[tuple[str, str]]) -> str:
    """Give the type of the file system that holds an absolute path; empty where unknown.

    The deepest mount point above the path counts, and of two mounts on one point the later.
    """
    deepest, kind = -1, ""
    for point, name in mounts:
        where = PurePosixPath(point)
        depth = len(where.parts)
        if depth >= deepest and path.is_relative_to(where):
            deepest, kind = depth, name
    return kind


def file_system(path: Path) -> str:
    """Give the type of the file system that holds a path on this machine; empty where unknown."""
    if sys.platform == "darwin":
        listing = subprocess.run(["/sbin/mount"], capture_output=True, check=False, text=True)
        return kind_at(path, macos_mounts(listing.stdout))
    try:
        text = Path("/proc/mounts").read_text("utf-8", "surrogateescape")
    except OSError:
        return ""
    return kind_at(path, linux_mounts(text))
