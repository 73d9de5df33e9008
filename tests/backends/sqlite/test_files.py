"""Files: private, ours, and left alone where they are not."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from keepset.backends.sqlite import open_sqlite, writing
from keepset.backends.sqlite.connecting import Place, open_store
from keepset.backends.sqlite.files import check_place, check_version
from keepset.backends.sqlite.migrations import newest_schema
from keepset.errors import IntegrityError, KeepsetError, StoreError
from keepset.plan.reads import ReadEverything
from keepset.testing.contract.base import Scribe, step
from tests.backends.sqlite.disks import make_read_only, small_disk, unwritable


@pytest.fixture(params=[0o000, 0o077, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def _picture(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def _refuse(path: Path, kind: type[KeepsetError], code: str) -> None:
    """Opening is refused with this code and leaves every byte of the folder as it is."""
    before = _picture(path.parent)
    with pytest.raises(kind) as caught:
        open_sqlite(path, timeout=0.2)
    assert caught.value.code == code
    assert caught.value.hint
    assert str(path) in caught.value.message
    assert _picture(path.parent) == before


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A closed store with one run in it."""
    backend = open_sqlite(tmp_path / "runs.db")
    scribe = Scribe(backend)
    for seq in range(1, 40):
        scribe.save(step(seq, changes=b"x" * 2000))
    backend.close()
    return tmp_path / "runs.db"


@pytest.mark.usefixtures("umask")
def test_the_files_of_a_store_are_private_under_every_umask(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        backend = open_sqlite("runs.db")
    Scribe(backend).save()
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == {"runs.db": 0o600, "runs.db-wal": 0o600, "runs.db-shm": 0o600}
    reported = {Path(file.path).name: file.mode for file in backend.settings().files}
    assert reported == modes
    backend.close()


def test_an_empty_file_becomes_a_store_and_private(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.touch(0o644)
    backend = open_sqlite(path)
    Scribe(backend).save()
    backend.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_name_with_odd_characters_is_a_name(tmp_path: Path) -> None:
    path = tmp_path / "ünï ?mode=ro#%41.db"
    backend = open_sqlite(path)
    Scribe(backend).save()
    backend.close()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_link_leads_to_the_store(store: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(store)
    backend = open_sqlite(link)
    assert backend.execute(ReadEverything(Scribe(backend).key)).lines[0].steps
    backend.close()


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    for name, data in (("text", b"hello\n" * 500), ("zeros", b"\0" * 5000), ("short", b"x")):
        path = tmp_path / name
        path.write_bytes(data)
        _refuse(path, StoreError, "store.not-a-database")


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
@pytest.mark.parametrize("application", [0, 7])
def test_a_database_of_another_program_is_left_alone(
    tmp_path: Path, mode: str, application: int
) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.execute(f"PRAGMA application_id = {application}")
    connection.execute("CREATE TABLE checkpoints (a)")
    connection.commit()
    connection.close()
    _refuse(path, StoreError, "store.not-ours")


def test_an_empty_database_that_another_program_has_numbered_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {newest_schema()}")
    _refuse(path, StoreError, "store.not-ours")


def test_a_database_of_another_program_in_use_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE checkpoints (a)")
    connection.commit()
    _refuse(path, StoreError, "store.not-ours")
    connection.close()


def test_a_store_of_a_newer_keepset_is_left_alone(store: Path) -> None:
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA user_version = 9999")
    connection.close()
    _refuse(store, StoreError, "store.newer-format")


def test_a_newer_schema_that_still_lies_in_the_log_is_seen(store: Path) -> None:
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA user_version = 9999")
    with pytest.raises(StoreError) as caught:
        open_sqlite(store)
    assert caught.value.code == "store.newer-format"
    connection.close()


def test_a_store_that_was_cut_off_is_damaged(store: Path) -> None:
    size = store.stat().st_size
    for left in (size // 2, 8192):
        os.truncate(store, left)
        _refuse(store, IntegrityError, "store.damaged")


def test_an_empty_file_with_a_log_beside_it_is_damaged(store: Path) -> None:
    backend = open_sqlite(store)
    Scribe(backend).look().save()
    for suffix in ("", "-wal"):
        shutil.copy(f"{store}{suffix}", f"{store}.copy{suffix}")
    backend.close()
    copy = store.with_name(f"{store.name}.copy")
    os.truncate(copy, 0)
    _refuse(copy, IntegrityError, "store.damaged")


def test_a_page_that_was_overwritten_is_damage_and_no_lost_run(store: Path) -> None:
    data = bytearray(store.read_bytes())
    data[5 * 4096 :] = b"\x5a" * (len(data) - 5 * 4096)
    store.write_bytes(data)
    backend = open_sqlite(store)
    with pytest.raises(IntegrityError) as caught:
        backend.execute(ReadEverything(Scribe(backend).key))
    assert caught.value.code == "store.damaged"
    backend.close()


def test_a_store_whose_making_was_killed_in_the_middle_is_made_anew(store: Path) -> None:
    """The first page is written and the rest is not; the journal says that the file was empty.

    Source of the journal's header: https://www.sqlite.org/fileformat2.html, section 3.
    """
    path = store.with_name("half.db")
    path.write_bytes(store.read_bytes()[:4096])
    magic = bytes.fromhex("d9d505f920a163d7")
    header = magic + b"".join(n.to_bytes(4, "big") for n in (0, 1, 0, 512, 4096))
    store.with_name("half.db-journal").write_bytes(header.ljust(512, b"\0"))
    backend = open_sqlite(path)
    Scribe(backend).save()
    backend.close()
    assert sorted(file.name for file in store.parent.iterdir()) == ["half.db", "runs.db"]


def test_what_is_not_a_plain_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(StoreError) as caught:
            open_sqlite(tmp_path / name)
        assert caught.value.code == "store.not-a-file"


def test_a_folder_that_is_missing_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        open_sqlite(tmp_path / "missing" / "runs.db")
    assert caught.value.code == "store.no-folder"
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_disk_is_refused_before_anything_is_tried(tmp_path: Path) -> None:
    with small_disk(tmp_path, 4 << 20) as disk:
        open_sqlite(disk / "runs.db").close()
        make_read_only(disk)
        _refuse(disk / "runs.db", StoreError, "store.read-only")
        _refuse(disk / "new.db", StoreError, "store.read-only")


def test_a_file_without_the_right_to_write_is_refused(store: Path) -> None:
    with unwritable(store):
        _refuse(store, StoreError, "store.read-only")


def test_a_folder_without_the_right_to_write_is_refused(store: Path) -> None:
    with unwritable(store.parent):
        _refuse(store, StoreError, "store.read-only")
        _refuse(store.with_name("new.db"), StoreError, "store.read-only")


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "9p"])
def test_a_network_file_system_is_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(StoreError) as caught:
        check_place(tmp_path / "runs.db", lambda _: kind)
    assert caught.value.code == "store.network-file-system"
    assert kind in caught.value.message
    check_place(tmp_path / "runs.db", lambda _: "ext4")


def test_a_sqlite_without_strict_tables_is_refused() -> None:
    with pytest.raises(StoreError) as caught:
        check_version((3, 36, 0))
    assert caught.value.code == "store.sqlite-too-old"
    check_version((3, 37, 0))
    check_version((4, 0, 0))


@pytest.mark.parametrize("replace", [True, False])
def test_a_file_that_was_taken_away_gets_no_more_saves(store: Path, *, replace: bool) -> None:
    backend = open_sqlite(store)
    scribe = Scribe(backend).look()
    scribe.save()
    if replace:
        open_sqlite(store.with_name("new.db")).close()
        store.with_name("new.db").rename(store)
    else:
        store.unlink()
    with pytest.raises(StoreError) as caught:
        scribe.save()
    assert caught.value.code == "store.replaced"
    backend.close()


@pytest.mark.parametrize("saved", [0, 1])
@pytest.mark.parametrize("replace", [True, False])
def test_a_file_whose_log_was_taken_away_gets_no_more_saves(
    store: Path, *, replace: bool, saved: int
) -> None:
    log = store.with_name(f"{store.name}-wal")
    backend = open_sqlite(store)
    scribe = Scribe(backend).look()
    for _ in range(saved):
        scribe.save()
    kept = log.rename(log.with_name("kept"))
    if replace:
        log.write_bytes(b"")
    for _ in range(2):
        with pytest.raises(StoreError) as caught:
            scribe.save()
        assert caught.value.code == "store.replaced"
    kept.rename(log)
    scribe.save()
    backend.close()
    again = open_sqlite(store)
    stored = again.execute(ReadEverything(scribe.key))
    assert [row.seq for row in stored.lines[0].steps] == [*range(1, 41 + saved)]
    again.close()


def test_a_log_that_another_one_removes_while_the_store_is_opened_again_is_no_other_log(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = open_sqlite(store)
    scribe = Scribe(backend).look()
    scribe.save()
    child = os.fork()
    if child == 0:
        os._exit(0)  # the file was closed for the fork
    os.waitpid(child, 0)
    other = open_sqlite(store)

    def close_the_other_first(place: Place) -> sqlite3.Connection:
        other.close()
        assert not store.with_name(f"{store.name}-wal").exists()
        store.with_name("other").touch()  # else the new log may have the inode of the old one
        return open_store(place)

    monkeypatch.setattr(writing, "open_store", close_the_other_first)
    scribe.save()
    scribe.save()
    backend.close()
