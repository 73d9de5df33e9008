"""Opening a store: every path gives a store or a coded error, and a key belongs to its store."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, TypedDict

import pytest

import keepset as ks
from keepset.errors import KeepsetError, NotFoundError, PolicyError, StoreError, UsageError
from tests.backends.sqlite.disks import small_disk

CHILD = """
import os, sys
from keepset.errors import KeepsetError
import keepset as ks
ks.open("memory:").close()  # whatever is imported late is imported now, while that is allowed
os.setegid(65534)
os.seteuid(65534)
try:
    ks.open(sys.argv[1], role=sys.argv[2])
except KeepsetError as error:
    print(error.code)
"""


class Note(TypedDict):
    text: str


def _save(path: Path, run_id: str = "run", subject: str | None = "Ann") -> None:
    with ks.open(f"sqlite:///{path}") as store:
        store.run(Note, run_id, subject=subject).save("write", {"text": "hello"})


def _refusal(url: str, **options: object) -> KeepsetError:
    with pytest.raises(KeepsetError) as caught:
        ks.open(url, **options)  # type: ignore[arg-type] # options by name
    assert caught.value.hint
    str(caught.value).encode()
    return caught.value


def _names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))  # noqa: PTH208 - hidden files count as well


@pytest.mark.parametrize("role", ["writer", "viewer"])
@pytest.mark.parametrize(
    ("name", "kind", "code"),
    [
        ("x" * 300 + ".db", StoreError, "store.cannot-open"),
        ("a\0b.db", UsageError, "store.url"),
        ("a\ud800b.db", UsageError, "store.url"),
        (".", StoreError, "store.not-a-file"),
        ("..", StoreError, "store.not-a-file"),
        ("missing/a.db", StoreError, "store.no-folder"),
        ("file/a.db", StoreError, "store.no-folder"),
        ("loop", StoreError, "store.cannot-open"),
    ],
)
def test_a_path_that_cannot_hold_a_store_is_a_coded_error(
    tmp_path: Path, name: str, kind: type[KeepsetError], code: str, role: str
) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    before = _names(tmp_path)
    error = _refusal(f"sqlite:///{tmp_path}/{name}", role=role)
    assert (type(error), error.code) == (kind, code)
    assert _names(tmp_path) == before


@pytest.mark.parametrize("url", ["sqlite:////", "sqlite:///.", "sqlite:///", "sqlite:///:memory:"])
def test_a_url_without_a_file_name_is_not_known(url: str) -> None:
    error = _refusal(url)
    assert (type(error), error.code) == (UsageError, "store.url")


@pytest.mark.parametrize("place", ["kept.db", "./kept.db", "deep/kept.db", "no suffix", "a:b.db"])
def test_the_path_of_a_file_names_its_store_as_a_url_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    for name in (place, Path(place), tmp_path / place, f"sqlite:///{place}"):
        with ks.open(name) as store:
            store.run(Note, f"by {type(name).__name__}").save("write", {"text": "hello"})
    with ks.open(tmp_path / place, role="viewer") as store:
        assert len(list(store.runs())) == 2


def test_an_async_store_and_a_langgraph_saver_take_a_path_as_well(tmp_path: Path) -> None:
    async def opened() -> None:
        async with ks.aopen(str(tmp_path / "kept.db")) as store:
            await (await store.run(Note, "run")).save("write", {"text": "hello"})

    asyncio.run(opened())
    saver = pytest.importorskip("keepset.langgraph").KeepsetSaver
    for place in (str(tmp_path / "kept.db"), tmp_path / "kept.db"):
        with saver(place) as one:
            assert one.get_tuple({"configurable": {"thread_id": "none"}}) is None


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("sqlite:kept.db", 'Write "kept.db" or "sqlite:///kept.db".'),
        ("sqlite://kept.db", 'Write "kept.db" or "sqlite:///kept.db".'),
        ("file:///var/kept.db", 'Write "/var/kept.db" or "sqlite:////var/kept.db".'),
        (":memory:", 'Write "memory:" for a store in memory'),
        ("sqlite:///:memory:", 'Write "memory:" for a store in memory'),
        ("memory", 'Write "memory:" for a store in memory'),
        ("memory://", 'Write "memory:" for a store in memory'),
        ("postgresql://ann:planted@host/db", "Write the path of a file, kept.db"),
        ("", "Write the path of a file, kept.db"),
        (b"kept.db", "Write the path of a file, kept.db"),
        (None, "Write the path of a file, kept.db"),
    ],
)
def test_what_is_neither_a_path_nor_a_known_url_is_told_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Any, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    error = _refusal(wrong)
    assert (type(error), error.code) == (UsageError, "store.url")
    assert error.hint.startswith(hint)
    assert "planted" not in str(error) + error.hint
    assert _names(tmp_path) == []


@pytest.mark.parametrize("role", ["writer", "viewer"])
def test_a_folder_that_this_user_may_not_enter_is_a_coded_error(tmp_path: Path, role: str) -> None:
    tmp_path.chmod(0o700)
    path = tmp_path / "runs.db"
    _save(path)
    if os.geteuid():
        tmp_path.chmod(0o000)
        code = _refusal(f"sqlite:///{path}", role=role).code
        tmp_path.chmod(0o700)
    else:
        command = [sys.executable, "-c", CHILD, f"sqlite:///{path}", role]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        code = done.stdout.strip()
    assert code == "store.cannot-open"


def test_a_link_finds_the_key_beside_the_file_that_it_leads_to(tmp_path: Path) -> None:
    real, links = tmp_path / "real", tmp_path / "links"
    real.mkdir()
    links.mkdir()
    _save(real / "runs.db")
    (links / "runs.db").symlink_to(real / "runs.db")
    with ks.open(f"sqlite:///{links}/runs.db") as store:
        assert [row.run.key.run_id for row in store.runs(subject="Ann")] == ["run"]
    assert _names(links) == ["runs.db"]
    (links / "new.db").symlink_to(real / "new.db")
    _save(links / "new.db")
    assert _names(links) == ["new.db", "runs.db"]
    assert _names(real) == ["new.db", "new.db.key", "runs.db", "runs.db.key"]


def test_an_empty_file_becomes_a_store_for_a_writer_and_is_none_for_a_viewer(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.db"
    path.touch()
    error = _refusal(f"sqlite:///{path}", role="viewer")
    assert (type(error), error.code) == (NotFoundError, "store.not-found")
    assert _names(tmp_path) == ["runs.db"]
    _save(path)
    with ks.open(f"sqlite:///{path}", role="viewer") as store:
        assert len(store.runs(subject="Ann")) == 1


def test_threads_that_open_an_empty_file_at_once_share_one_key(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.touch()
    threads = [threading.Thread(target=_save, args=(path, f"run-{n}")) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with ks.open(f"sqlite:///{path}") as store:
        assert len(store.runs(subject="Ann")) == 6
    assert _names(tmp_path) == ["runs.db", "runs.db.key"]


@pytest.mark.parametrize("role", ["writer", "viewer"])
def test_the_key_of_another_store_is_refused(tmp_path: Path, role: str) -> None:
    _save(tmp_path / "mine.db")
    _save(tmp_path / "other.db")
    shutil.copy(tmp_path / "other.db.key", tmp_path / "mine.db.key")
    error = _refusal(f"sqlite:///{tmp_path}/mine.db", role=role)
    assert (type(error), error.code) == (StoreError, "store.key-file")
    assert "new_key=True" in error.hint


@pytest.mark.parametrize("lost", [None, b"", b"short", b"k" * 32])
def test_a_key_that_is_lost_for_good_is_replaced_on_request_alone(
    tmp_path: Path, lost: bytes | None
) -> None:
    path, key = tmp_path / "runs.db", tmp_path / "runs.db.key"
    _save(path)
    key.unlink()
    if lost is not None:
        key.write_bytes(lost)
        key.chmod(0o600)
    assert _refusal(f"sqlite:///{path}").code == "store.key-file"
    with ks.open(f"sqlite:///{path}", new_key=True) as store:
        assert store.runs(subject="Ann") == []
        assert len(store.runs()) == 1
        store.run(Note, "later", subject="Ann").save("write", {"text": "hello"})
    kept = [file.read_bytes() for file in tmp_path.glob("runs.db.key.lost-*")]
    assert kept == ([] if lost is None else [lost])
    before = key.read_bytes()
    with ks.open(f"sqlite:///{path}", new_key=True) as store:
        assert [row.run.key.run_id for row in store.runs(subject="Ann")] == ["later"]
    assert key.read_bytes() == before
    assert len(_names(tmp_path)) == 2 + len(kept)


def test_a_key_that_others_can_read_is_not_replaced_but_refused(tmp_path: Path) -> None:
    path, key = tmp_path / "runs.db", tmp_path / "runs.db.key"
    _save(path)
    key.chmod(0o644)
    assert "chmod 600" in _refusal(f"sqlite:///{path}", new_key=True).hint
    assert _names(tmp_path) == ["runs.db", "runs.db.key"]


def test_a_viewer_without_the_key_sees_runs_but_no_person(tmp_path: Path) -> None:
    _save(tmp_path / "runs.db")
    (tmp_path / "runs.db.key").unlink()
    with ks.open(f"sqlite:///{tmp_path}/runs.db", role="viewer", new_key=True) as store:
        assert len(store.runs()) == 1
        with pytest.raises(StoreError) as caught:
            store.runs(subject="Ann")
        assert caught.value.code == "store.key-file"
        with pytest.raises(PolicyError):
            store.run(Note, "run").save("write", {"text": "again"})
    assert not (tmp_path / "runs.db.key").exists()


def test_a_full_disk_leaves_no_draft_of_a_key(tmp_path: Path) -> None:
    with small_disk(tmp_path, 16 << 10) as disk:
        with pytest.raises(OSError, match="space"):
            (disk / "ballast").write_bytes(b"x" * (64 << 10))
        error = _refusal(f"sqlite:///{disk}/new.db")
        assert isinstance(error, StoreError)
        assert _names(disk) == ["ballast"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("durability", "fast"),
        ("durability", None),
        ("timeout", 0),
        ("timeout", -1.0),
        ("timeout", float("nan")),
        ("timeout", float("inf")),
        ("timeout", "30"),
        ("role", "admin"),
        ("mode", "lenient"),
        ("tenant", ""),
    ],
)
def test_an_option_that_is_not_known_is_refused_before_anything_is_made(
    tmp_path: Path, option: str, value: object
) -> None:
    error = _refusal(f"sqlite:///{tmp_path}/runs.db", **{option: value})
    assert isinstance(error, UsageError)
    assert _names(tmp_path) == []


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "10"])
def test_a_limit_that_is_no_number_from_one_on_is_refused(limit: object) -> None:
    with ks.open("memory:") as store, pytest.raises(UsageError) as caught:
        store.runs(limit=limit)  # type: ignore[arg-type] # what is refused here
    assert caught.value.code == "usage.limit"
