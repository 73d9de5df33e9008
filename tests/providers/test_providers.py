"""Ids rise, keys are made once, secrets are read by reference."""

from __future__ import annotations

import stat
import tempfile
import threading
import uuid
from pathlib import Path

import pytest

from keepset.errors import NotFoundError, StoreError, UsageError
from keepset.providers import HashKey, file_key, new_id, now_ms, resolve, temporary_roots


def test_ids_are_uuids_of_version_7_and_always_rise() -> None:
    # Another test of this process may have had a clock that is ahead.
    now = max(now_ms(), (uuid.UUID(new_id(0)).int >> 80) + 1)
    ids = [new_id(now - number % 3) for number in range(5_000)]
    assert ids == sorted(set(ids))
    first = uuid.UUID(ids[0])
    assert (first.version, first.variant) == (7, uuid.RFC_4122)
    assert first.int >> 80 == now


@pytest.mark.parametrize("broken", [2**48, 2**63, 2**200, -1, -(2**63)])
def test_a_clock_that_is_broken_for_a_moment_does_no_harm(broken: int) -> None:
    now = uuid.UUID(new_id(now_ms())).int >> 80
    ids = [new_id(now + 1), new_id(broken), new_id(broken), new_id(now + 2)]
    assert ids == sorted(set(ids))
    assert [uuid.UUID(made).int >> 80 for made in ids] == [now + 1] * 3 + [now + 2]


def test_ids_made_by_many_threads_differ() -> None:
    made: list[str] = []
    threads = [
        threading.Thread(target=lambda: made.extend([new_id(7) for _ in range(500)]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 4_000


def test_a_key_file_is_private_and_made_once(tmp_path: Path) -> None:
    path = tmp_path / "store.key"
    keys: list[HashKey] = []
    threads = [
        threading.Thread(target=lambda: keys.append(file_key(path, create=True))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({key.key for key in keys}) == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
    assert keys[0].key.hex() not in repr(keys[0])


@pytest.mark.parametrize("content", [None, b"", b"short", b"x" * 33])
def test_a_missing_or_damaged_key_file_is_an_error_with_a_way_out(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "store.key"
    if content is not None:
        path.write_bytes(content)
        path.chmod(0o600)
    with pytest.raises(StoreError, match="key file") as failed:
        file_key(path, create=False)
    assert "backup" in failed.value.hint


def test_a_hash_tells_lists_of_names_apart() -> None:
    key = HashKey(b"k" * 32)
    digests = {
        key.digest("run", "a", "bc"),
        key.digest("run", "ab", "c"),
        key.digest("run", "abc"),
        key.digest("subject", "a", "bc"),
        HashKey(b"j" * 32).digest("run", "a", "bc"),
    }
    assert len(digests) == 5


def test_a_secret_is_read_from_the_environment_or_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KEEPSET_TEST", "value")
    (tmp_path / "key").write_text("from file\n")
    assert resolve("env:KEEPSET_TEST") == "value"
    assert resolve(f"file:{tmp_path / 'key'}") == "from file"


@pytest.mark.parametrize("reference", ["env:KEEPSET_NOT_THERE", "file:/no/such/file", "file:/"])
def test_a_secret_that_is_not_there_is_named_by_its_reference(reference: str) -> None:
    with pytest.raises(NotFoundError, match=reference):
        resolve(reference)


@pytest.mark.parametrize("reference", ["plain", "vaults:x", "env:", ""])
def test_an_unknown_scheme_is_refused_with_the_known_ones(reference: str) -> None:
    with pytest.raises(UsageError) as refused:
        resolve(reference)
    assert "env:" in refused.value.hint


def test_the_platform_s_folder_for_temporary_files_is_known() -> None:
    assert str(Path(tempfile.gettempdir()).resolve()) in temporary_roots()
