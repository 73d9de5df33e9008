"""Our own stores, opened for an audit in every state that they are found in."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import keepset as ks
from keepset.audit.ours.opener import OurOpener
from keepset.backends.sqlite.migrations import newest_schema
from keepset.errors import KeepsetError
from keepset.readers.databases.deleted import deleted_bytes
from tests.audit import ours
from tests.audit.test_ours import found, result
from tests.cli.terminal import say


@pytest.fixture(scope="module")
def protected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ours.protected(tmp_path_factory.mktemp("protected"))


def test_no_file_appears_beside_a_store_and_none_is_changed(protected: Path) -> None:
    def seen() -> list[tuple[str, bytes]]:
        return sorted((one.name, one.read_bytes()) for one in protected.parent.iterdir())

    before = seen()
    assert say("audit", protected).code == 0
    assert seen() == before


def test_no_file_appears_beside_a_store_that_was_written_meanwhile(tmp_path: Path) -> None:
    path = ours.protected(tmp_path)
    files = sorted(tmp_path.iterdir())
    with OurOpener().open(str(path)) as reader:
        names = {facts.run for facts in reader.runs()}
        with ks.open(ours.url(path)) as store:
            store.run(ours.Chat, "another").save("begin", ours.Chat(question="Why?"))
        assert {facts.run for facts in reader.runs()} == {*names, "another"}
    assert sorted(tmp_path.iterdir()) == files


WRITE = """
import sys
import keepset as ks
from tests.audit.ours import Chat
with ks.open(sys.argv[1]) as store:
    run = store.run(Chat, "busy")
    state = Chat(question="Why?", log=[])
    for number in range(100_000):
        state["log"] = [*state["log"][-50:], {"text": f"line {number}"}]
        run.save("step", state)
        if number == 100:
            print("begun", flush=True)
"""


def test_a_store_is_audited_while_another_process_writes_to_it(tmp_path: Path) -> None:
    path = ours.protected(tmp_path)
    with OurOpener().open(str(path)) as reader:
        assert reader.overview().runs == 1  # nobody writes yet
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITE, ours.url(path)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "begun\n"
            assert {facts.run for facts in reader.runs()} == {"ticket", "busy"}
            for _ in range(5):
                steps = {item.step for item in reader.items("busy")}
                assert len(steps) > 100
            assert writer.poll() is None
            assert say("audit", path).code == 0
        finally:
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
    assert say("audit", path).code == 0


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that also somebody without rights may come to, as no folder of pytest's is."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        yield place
        place.chmod(0o755)


READ = """
import os, sys
from keepset.cli import app
app.run(["audit", sys.argv[2]])  # all that is imported is, while that may be read
print("--", flush=True)
if os.getuid() == 0:
    os.setuid(65534)  # root may do all
sys.exit(app.run(["audit", sys.argv[1]]))
"""


@pytest.mark.parametrize("log", [False, True])
def test_a_store_in_a_folder_that_lets_nothing_be_written_is_audited(
    folder: Path, protected: Path, *, log: bool
) -> None:
    path = ours.protected(folder)
    if log:
        killed = WRITE.replace("number == 100", "number == 100 and not __import__('os').kill("
                               "__import__('os').getpid(), 9)")  # fmt: skip
        subprocess.run([sys.executable, "-c", killed, ours.url(path)], check=False)
        assert path.with_name(f"{path.name}-wal").stat().st_size
        path.with_name(f"{path.name}-shm").unlink()
    names = sorted(one.name for one in folder.iterdir())
    for one in folder.iterdir():
        one.chmod(0o444)
    folder.chmod(0o555)
    # Who may write nothing cannot write down which lines were run either.
    surroundings = {name: value for name, value in os.environ.items() if "COV" not in name}
    done = subprocess.run(
        [sys.executable, "-c", READ, path, protected],
        capture_output=True, text=True, check=False, env=surroundings,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert ("2 runs" if log else "1 run") in done.stdout.partition("--")[2]
    assert sorted(one.name for one in folder.iterdir()) == names


def test_deleted_data_that_still_lies_in_the_file_is_told(tmp_path: Path) -> None:
    path = ours.protected(tmp_path)
    with ks.open(ours.url(path)) as store:
        run = store.run(ours.Chat, "large")
        run.save("begin", ours.Chat(question="a secret of the trade " * 20_000))
        store.delete("large")
    assert result(path, code=0)["deleted_bytes"] == 0
    with closing(sqlite3.connect(path)) as connection:  # as one does who knows nothing of it
        connection.execute("pragma secure_delete = off")
        connection.execute("create table other as select zeroblob(100000) || randomblob(100000) x")
        connection.execute("drop table other")
        connection.commit()
        connection.execute("pragma wal_checkpoint(truncate)")
    told = result(path, code=40)
    assert told["deleted_bytes"] > 90_000
    assert found(told, "audit.deleted-bytes")
    with path.open("r+b") as file:  # lists of pages that lead nowhere, or in a circle
        for first in (b"\xff" * 4, b"\0\0\0\1"):
            file.seek(32)
            file.write(first + b"\xff" * 4)
            file.flush()
            assert deleted_bytes(path) >= 0


def test_a_store_of_an_older_schema_is_read_and_stays_as_it_is(tmp_path: Path) -> None:
    path = ours.protected(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("drop index run_leases")
        for column in ("lease_by", "lease_number", "lease_until"):
            connection.execute(f"alter table run drop column {column}")
        connection.execute("pragma user_version = 1")
    before = path.read_bytes()
    told = result(path, code=0)
    assert told["version"] == "schema 1"
    assert told["runs"]["count"] == 1
    assert path.read_bytes() == before


def test_a_store_of_a_newer_keepset_is_refused_by_that_name(tmp_path: Path) -> None:
    path = ours.protected(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"pragma user_version = {newest_schema() + 1}")
    said = say("audit", path)
    assert "store.newer-format" in said.err
    assert "Upgrade keepset" in said.err


def test_a_run_that_is_deleted_meanwhile_is_not_an_error_of_the_program(tmp_path: Path) -> None:
    path = ours.protected(tmp_path)
    with OurOpener().open(str(path)) as reader:
        (facts,) = reader.runs()
        with ks.open(ours.url(path)) as store:
            store.delete(facts.run)
        with pytest.raises(KeepsetError) as caught:
            list(reader.items(facts.run))
    assert caught.value.code == "run.not-found"
