"""Each line of the doctor says what was found, how bad it is, and what to do about it."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

from keepset.backends.port import Setting, Settings, StoredFile
from keepset.cli import doctor, look
from keepset.providers.keys import KEY_BYTES
from tests.cli import shop
from tests.cli.terminal import ROOT, say


def lines(key: Path | None = None, **changed: Any) -> dict[str, doctor.Line]:
    settings = Settings(
        **{
            "engine": "sqlite",
            "version": "3.40.1",
            "location": "runs.db",
            "format": 1,
            "settings": (Setting("journal_mode", "wal", "wal", "readers and a writer at once"),),
            "files": (StoredFile("runs.db", 4_096, 0o600), StoredFile("runs.db-wal", 10, 0o600)),
            "free_disk": 10**12,
            **changed,
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        good = Path(folder, "runs.db.key")
        good.touch(0o600)
        good.write_bytes(bytes(KEY_BYTES))
        return {line.name: line for line in doctor.store(settings, key or good)}


def test_a_sound_store_has_only_good_lines_and_nothing_to_do() -> None:
    assert {(line.state, line.fix) for line in lines().values()} == {("ok", "")}


def test_a_setting_that_is_not_as_wanted_says_what_it_protects() -> None:
    setting = Setting("secure_delete", "0", "1", "deleted values stay in the file")
    line = lines(settings=(setting,))["secure_delete"]
    assert line.state == "fail"
    assert "deleted values stay in the file" in line.fix


def test_settings_are_told_in_the_words_of_the_page_on_stores_beside_their_raw_value() -> None:
    page = (ROOT / "docs" / "sqlite.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| `?(\w+)", page, re.MULTILINE))
    raw = {"synchronous": "2", "secure_delete": "1", "temp_store": "2", "trusted_schema": "0"}
    for name, value in raw.items():
        assert doctor.worded(name, value) == f"{rows[name]} ({value})"
    setting = Setting("synchronous", "0", "2", "what was saved survives a loss of power")
    line = lines(settings=(setting,))["synchronous"]
    assert (line.value, line.fix[:23]) == ("off (0)", "It should be full (2): ")


@pytest.mark.parametrize(
    ("size", "mode", "state"),
    [(32, 0o600, "ok"), (32, 0o400, "ok"), (32, 0o640, "fail"), (31, 0o600, "fail")],
)
def test_a_key_file_that_others_may_use_or_that_holds_no_key_is_a_finding(
    tmp_path: Path, size: int, mode: int, state: str
) -> None:
    key = tmp_path / "runs.db.key"
    key.write_bytes(bytes(size))
    key.chmod(mode)
    line = lines(key)["key file"]
    assert (line.state, bool(line.fix)) == (state, state == "fail")


def test_a_missing_key_file_is_told_with_what_to_do(tmp_path: Path) -> None:
    store = shop.fill(tmp_path)
    (tmp_path / "runs.db.key").unlink()
    said = say("doctor", "--store", store, "--json")
    assert said.code == 40
    [line] = [line for line in said.result("doctor")["lines"] if line["name"] == "key file"]
    assert (line["state"], line["value"]) == ("fail", "missing")
    assert "backup" in line["fix"]


def test_a_key_file_that_others_may_read_is_told_as_a_line_and_not_as_an_error(
    tmp_path: Path,
) -> None:
    store = shop.fill(tmp_path)
    (tmp_path / "runs.db.key").chmod(0o644)
    said = say("doctor", "--store", store, "--json")
    assert said.code == 40
    fixes = [line["fix"] for line in said.result("doctor")["lines"] if line["name"] == "key file"]
    assert fixes == [f"Others may use it: chmod 600 {store}.key"]


@pytest.mark.parametrize(("mode", "state"), [(0o600, "ok"), (0o640, "fail"), (0o604, "fail")])
def test_a_file_that_others_may_open_is_a_finding(mode: int, state: str) -> None:
    files = (StoredFile("runs.db", 1, mode),)
    assert lines(files=files)["permissions of runs.db"].state == state


@pytest.mark.parametrize(("size", "state"), [(1_000, "ok"), (65_000_000, "warn")])
def test_a_large_write_ahead_log_is_worth_a_word(size: int, state: str) -> None:
    files = (StoredFile("runs.db-wal", size, 0o600),)
    assert lines(files=files)["write-ahead log"].state == state


@pytest.mark.parametrize(
    ("free", "state"), [(10**12, "ok"), (100_000_000, "warn"), (1_000_000, "fail")]
)
def test_little_room_is_told_before_it_is_none(free: int, state: str) -> None:
    line = lines(free_disk=free)["free space"]
    assert line.state == state
    assert bool(line.fix) == (state != "ok")


@pytest.mark.parametrize(
    ("mode", "state"), [("", "ok"), ("strict", "ok"), ("observe", "warn"), ("off", "fail")]
)
def test_the_mode_of_the_environment_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, mode: str, state: str
) -> None:
    monkeypatch.setenv("KEEPSET_MODE", mode)
    [line] = [line for line in doctor.surroundings() if line.name == "KEEPSET_MODE"]
    assert line.state == state


def test_a_description_of_a_field_that_cannot_be_read_counts_as_personal() -> None:
    structure = '{"fields": {"odd": 3, "own": {"rule": {"personal": true}}, "open": {"rule": {}}}}'
    assert look.personal_fields(structure, ["odd", "own", "open", "new"]) == {"odd", "own", "new"}
    assert look.personal_fields("", ["any"]) == {"any"}
