"""Key files: made once, private, replaced only where that was asked for."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from keepset.errors import StoreError
from keepset.providers import HashKey, file_key, read_key, renew_key
from tests.backends.sqlite.disks import small_disk


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_key_file_that_others_can_read_is_refused_with_the_command_that_helps(
    tmp_path: Path, mode: int
) -> None:
    path = tmp_path / "store.key"
    file_key(path, create=True)
    path.chmod(mode)
    for look in (partial(file_key, create=True), read_key):
        with pytest.raises(StoreError) as failed:
            look(path)
        assert failed.value.code == "store.key-file"
        assert f"chmod 600 {path}" in failed.value.hint


def test_a_key_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    path = tmp_path / "store.key"
    path.mkdir(0o700)
    with pytest.raises(StoreError, match="IsADirectoryError") as failed:
        read_key(path)
    assert failed.value.code == "store.key-file"


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33, b"y" * 32])
def test_a_key_that_is_renewed_stays_beside_the_new_one(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "store.key"
    path.write_bytes(content)
    path.chmod(0o600)
    key = renew_key(path)
    assert key == read_key(path)
    assert key.key != content
    (old,) = tmp_path.glob("store.key.lost-*")
    assert old.read_bytes() == content
    assert len(os.listdir(tmp_path)) == 2  # noqa: PTH208 - hidden files count as well


def test_a_check_value_tells_keys_and_stores_apart() -> None:
    one, two = HashKey(b"k" * 32), HashKey(b"j" * 32)
    values = {one.check(b"store"), two.check(b"store"), one.check(b"other")}
    assert [len(value) for value in values] == [8, 8, 8]


def test_a_disk_without_space_for_a_key_is_left_clean(tmp_path: Path) -> None:
    with small_disk(tmp_path, 16 << 10) as disk:
        ballast = disk / "ballast"
        with pytest.raises(OSError, match="space"):
            ballast.write_bytes(b"x" * (64 << 10))
        with pytest.raises(StoreError) as failed:
            file_key(disk / "store.key", create=True)
        assert failed.value.code == "store.key-file"
        assert "full" in failed.value.hint
        assert list(disk.iterdir()) == [ballast]
