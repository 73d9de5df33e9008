"""Which file system holds a path, read from what Linux and macOS tell."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from keepset.backends.sqlite.network import (
    file_system,
    is_network,
    kind_at,
    linux_mounts,
    macos_mounts,
)

LINUX = r"""
proc /proc proc rw,nosuid 0 0
/dev/sda1 / ext4 rw,relatime 0 0
server:/export /mnt/team\040files nfs4 rw,vers=4.2 0 0
tmpfs /mnt/team\040files/local tmpfs rw 0 0
me@host:/home /mnt/ssh fuse.sshfs rw,user_id=0 0 0
/dev/sdb1 /media/disk fuseblk rw 0 0
//server/share /mnt/share cifs rw 0 0
/dev/sdc1 /mnt/share xfs rw 0 0
nonsense
"""
MACOS = """
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
//guest@server/share on /Volumes/my (old) share (smbfs, nodev, nosuid, mounted by me)
server:/export on /Volumes/nfs (nfs, nodev)
map auto_home on /System/Volumes/Data/home (autofs, automounted)
nonsense
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/srv/runs.db", "ext4"),
        ("/mnt/team files/runs.db", "nfs4"),
        ("/mnt/team files", "nfs4"),
        ("/mnt/team files 2/runs.db", "ext4"),
        ("/mnt/team files/local/runs.db", "tmpfs"),
        ("/mnt/ssh/a/b/runs.db", "fuse.sshfs"),
        ("/mnt/share/runs.db", "xfs"),
    ],
)
def test_the_deepest_and_latest_mount_on_linux_holds_a_path(path: str, kind: str) -> None:
    assert kind_at(PurePosixPath(path), linux_mounts(LINUX)) == kind


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/Users/me/runs.db", "apfs"),
        ("/Volumes/my (old) share/runs.db", "smbfs"),
        ("/Volumes/nfs/runs.db", "nfs"),
    ],
)
def test_the_deepest_mount_on_macos_holds_a_path(path: str, kind: str) -> None:
    assert kind_at(PurePosixPath(path), macos_mounts(MACOS)) == kind


def test_where_no_mount_is_known_the_kind_is_unknown() -> None:
    assert kind_at(PurePosixPath("/a"), linux_mounts("")) == ""


def test_what_lies_on_another_machine_is_network_and_what_lies_here_is_not() -> None:
    far = ["nfs", "nfs4", "NFS", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "fuse.rclone", "afs"]
    near = ["ext4", "xfs", "btrfs", "apfs", "tmpfs", "overlay", "fuseblk", "zfs", "virtiofs", ""]
    assert [kind for kind in (*far, *near) if is_network(kind)] == far


def test_this_machine_tells_what_holds_a_path(tmp_path: Path) -> None:
    assert file_system(tmp_path.resolve()) != ""
