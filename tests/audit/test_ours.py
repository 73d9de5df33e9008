"""Our own stores, audited: what is in them is told, and nothing of them is changed."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import keepset as ks
from keepset.audit.ours.opener import OurOpener, is_ours
from keepset.backends.sqlite.migrations import newest_schema
from keepset.errors import KeepsetError
from keepset.readers.databases.deleted import deleted_bytes
from keepset.readers.ports import Foreign, Item
from tests.audit import naive, ours
from tests.cli.terminal import say, start


SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schemas" / "audit.json").read_text("utf-8")
)


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ours.observed(tmp_path_factory.mktemp("observed"))


@pytest.fixture(scope="module")
def protected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ours.protected(tmp_path_factory.mktemp("protected"))


def result(path: Path, *arguments: str, code: int) -> Any:
    said = say("audit", path, "--json", *arguments)
    assert said.code == code, said.err
    assert naive.KEY not in said.out
    document = json.loads(said.out)
    jsonschema.validate(document, SCHEMA)
    return document["result"]


def found(result: Any, code: str) -> list[Any]:
    return [one for one in result["findings"] if one["code"] == code]


def items(path: Path) -> list[Item]:
    with OurOpener().open(str(path)) as reader:
        return [item for facts in reader.runs() for item in reader.items(facts.run)]


def test_a_store_of_ours_is_known_by_its_content_and_told_as_ours(
    tmp_path: Path, protected: Path
) -> None:
    copy = tmp_path / "some file"
    copy.write_bytes(protected.read_bytes())
    told = result(copy, code=0)
    assert told["kind"] == "keepset"
    assert told["runs"]["count"] == 1
    assert told["runs"]["checkpoints"] == 41
    assert told["measured"] is None
    assert not is_ours(str(tmp_path / "none"))
    assert not is_ours("postgresql://nowhere/none")


def test_secrets_that_got_in_under_observe_are_found_on_each_surface(observed: Path) -> None:
    told = result(observed, code=40)
    secrets = [one for one in told["findings"] if one["code"].startswith("secret.")]
    assert {one["surface"] for one in secrets} >= {"state", "write", "error", "metadata"}
    assert all(one["severity"] == "error" for one in secrets)
    assert {one["field"] for one in found(told, "repr.leftover")} >= {"db"}
    assert {one["field"] for one in found(told, "path.temporary")} >= {"workdir"}
    assert {one["field"] for one in found(told, "content.beside-ids")} == {"docs"}
    verdicts = {one["field"]: one["keep"] for one in told["fields"]}
    assert verdicts["payment"]
    assert not verdicts["api_key"]
    assert not verdicts["docs"]
    assert told["runs"]["unfinished"] == 2
    assert not found(told, "audit.imports")
    assert told["imports"] == []


def test_a_secret_that_a_contract_lets_in_is_found(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with ks.open(ours.url(path)) as store:
        store.run(ours.Chat, "ticket").save("begin", ours.Chat(owner=naive.KEY))
    told = result(path, code=40)
    (secret,) = [one for one in told["findings"] if one["code"].startswith("secret.")]
    assert (secret["field"], secret["copies"]) == ("owner", 1)


def test_a_withheld_secret_is_told_as_withheld_and_not_as_a_secret(protected: Path) -> None:
    told = result(protected, code=0)
    (withheld,) = found(told, "audit.withheld")
    assert (withheld["severity"], withheld["field"], withheld["copies"]) == (
        "advice", "api_key", 1,
    )  # fmt: skip
    assert not [one for one in told["findings"] if one["code"].startswith("secret.")]
    (verdict,) = [one for one in told["fields"] if one["field"] == "api_key"]
    assert not verdict["keep"]
    assert "withheld" in verdict["why"]


def test_a_contract_without_a_version_is_told(protected: Path, tmp_path: Path) -> None:
    (finding,) = found(result(protected, code=0), "audit.unversioned")
    assert "Chat" in finding["message"]
    path = tmp_path / "runs.db"
    with ks.open(ours.url(path)) as store:
        store.run(ours.Versioned, "one").save("begin", ours.Versioned("b"))
    assert not found(result(path, code=0), "audit.unversioned")


def test_bytes_by_field_are_those_that_the_file_has(protected: Path) -> None:
    """What is packed is told apart by field in `stats` as well."""
    weights: Counter[str] = Counter()
    loose: Counter[str] = Counter()
    with closing(sqlite3.connect(protected)) as connection:
        packed = dict(
            connection.execute("select field, sum(length(data)) from segment group by field")
        )
        (last,) = connection.execute("select max(last) from segment").fetchone()
        ((first_loose,),) = connection.execute(
            "select checkpoint from step where id & 4294967295 = ?", (last + 1,)
        )
    for item in items(protected):
        if item.surface == "state":
            (loose if item.step >= first_loose else weights)[item.field] += item.size
    assert set(packed) - {""} == {"log", "notes", "items", "question", "api_key"}
    assert weights == {name: size for name, size in packed.items() if name}
    assert loose["log"] > 0


def test_what_a_list_or_a_mapping_gains_is_looked_at_once(protected: Path) -> None:
    lines = [
        line
        for item in items(protected)
        if item.field == "log" and isinstance(item.value, list)
        for line in item.value
    ]
    assert lines == [{"text": f"line {number}"} for number in range(40)]
    notes = [item.value for item in items(protected) if item.field == "notes"]
    assert sum(len(one) for one in notes if isinstance(one, dict)) == 40


def test_objects_of_classes_that_are_not_here_are_data(protected: Path) -> None:
    values = [item.value for item in items(protected) if item.field == "items"]
    first = values[0]
    assert isinstance(first, list)
    assert first == [Foreign("Chat/Item", {"name": "lamp", "note": "bought 0"})]


def test_no_file_appears_beside_a_store_and_none_is_changed(protected: Path) -> None:
    def seen() -> list[tuple[str, bytes]]:
        return sorted((one.name, one.read_bytes()) for one in protected.parent.iterdir())

    before = seen()
    assert say("audit", protected).code == 0
    assert seen() == before


def test_a_process_that_knows_none_of_the_classes_audits_and_writes_a_contract(
    observed: Path, tmp_path: Path
) -> None:
    said = start("audit", observed, "--write-contract", tmp_path / "state.py")
    assert said.code == 40, said.err
    assert 'ks.Secret("env:API_KEY")' in (tmp_path / "state.py").read_text()
    assert "in keepset" not in said.out


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


def test_all_tenants_are_read_or_the_one_that_is_named(tmp_path: Path) -> None:
    path = ours.protected(tmp_path)
    with ks.open(ours.url(path), tenant="a/b", mode="observe") as store:
        store.run(ours.Chat, "x/y").save("begin", ours.Chat(question=naive.KEY))
    assert result(path, code=40)["runs"]["count"] == 2
    with OurOpener().open(str(path)) as reader:
        assert [facts.run for facts in reader.runs()] == ["a%2Fb/x%2Fy", "default/ticket"]
        assert [item.value for item in reader.items("a%2Fb/x%2Fy")] == [naive.KEY]
    assert result(path, "--tenant", "default", code=0)["runs"]["count"] == 1
    assert result(path, "--tenant", "a/b", code=40)["runs"]["largest"] == "x/y"
    said = say("audit", path, "--tenant", "nobody")
    assert said.code == 3
    assert "a/b, default" in said.err


def test_a_tenant_of_a_store_that_has_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": 1}')
    said = say("audit", path, "--tenant", "default")
    assert said.code == 2
    assert "audit.tenant" in said.err


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


def test_a_store_without_runs_is_clean(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    ks.open(ours.url(path)).close()
    said = say("audit", path)
    assert said.code == 0, said.err
    assert "0 runs" in said.out


def test_a_damaged_run_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    path = ours.protected(tmp_path)
    with ks.open(ours.url(path)) as store:
        store.run(ours.Chat, "whole").save("begin", ours.Chat(question="Why?"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("update segment set data = zeroblob(20) where field = 'log'")
        connection.commit()
    told = result(path, code=50)
    (damaged,) = found(told, "audit.unreadable")
    assert "integrity." in damaged["message"]
    assert told["read"]["values"] == 1


def test_a_run_that_is_deleted_meanwhile_is_not_an_error_of_the_program(tmp_path: Path) -> None:
    path = ours.protected(tmp_path)
    with OurOpener().open(str(path)) as reader:
        (facts,) = reader.runs()
        with ks.open(ours.url(path)) as store:
            store.delete(facts.run)
        with pytest.raises(KeepsetError) as caught:
            list(reader.items(facts.run))
    assert caught.value.code == "run.not-found"


def test_nothing_is_loaded_opened_made_or_resolved(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with ks.open(ours.url(path)) as store:
        state = ours.Supplied(question="Why?", docs=["a"], key=naive.KEY, folder=naive.WORKDIR)
        store.run(ours.Supplied, "one").save("begin", state)
    told = result(path, code=0)
    assert {one["field"] for one in told["fields"]} == {"question"}


def test_forks_and_bundled_writes_are_read_and_all_of_their_bytes_are_told(tmp_path: Path) -> None:
    path = ours.looped(tmp_path)
    found = items(path)
    lines = [
        line
        for item in found
        if (item.surface, item.field) == ("state", "log") and isinstance(item.value, list)
        for line in item.value
    ]
    assert len(lines) == len(set(lines)) == 102
    written = sum(
        item.size for item in found if item.surface in {"write", "interrupt", "resume", "error"}
    )
    with closing(sqlite3.connect(path)) as connection:
        ((rows, size),) = connection.execute("select count(*), sum(length(value)) from write")
        ((large,),) = connection.execute("select sum(length(data)) from blob")
    assert rows < 100  # they are bundled
    assert written in {size, size + large}  # a large value is told where it is met first
    assert any(isinstance(item.value, str) and len(item.value) == 100_000 for item in found)
    assert result(path, code=0)["runs"]["unfinished"] == 1


def test_a_reading_of_one_tenant_does_not_go_on_as_that_of_another(tmp_path: Path) -> None:
    path, part = ours.protected(tmp_path), tmp_path / "part"
    stopped = say("audit", path, "--resume", part, "--limit-time", "0", "--tenant", "default")
    assert stopped.code == 50
    assert part.exists()
    said = say("audit", path, "--resume", part, "--limit-time", "9")
    assert said.code == 2
    assert "audit.resume-other" in said.err
    assert (
        say("audit", path, "--resume", part, "--limit-time", "9", "--tenant", "default").code == 0
    )
