"""Our own stores, audited: what is in them is told, and nothing of them is changed."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph

import keepset as ks
from keepset.audit.ours.opener import OurOpener, is_ours
from keepset.errors import NotFoundError
from keepset.langgraph import KeepsetSaver
from keepset.plan import blobs
from keepset.readers.ports import Foreign, Item
from tests.audit import naive, ours
from tests.cli.terminal import say, start


class Keyed(TypedDict, total=False):
    api_key: str
    note: str


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
    return said.result("audit")


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
    assert not loose  # its end, which changed nothing


def test_fields_of_a_young_run_weigh_what_its_rows_take_compressed_as_they_are(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.db"
    with ks.open(ours.url(path)) as store:
        run = store.run(ours.Chat, "young")
        for number in range(3):
            text = f"the same words again and again, {number}. " * 500
            run.save("step", ours.Chat(question=text, notes={"short": str(number)}))
    with closing(sqlite3.connect(path)) as connection:
        ((rows,),) = connection.execute("select sum(length(changes)) from step")
        assert connection.execute("select count(*) from segment").fetchone() == (0,)
    weights: Counter[str] = Counter()
    for item in items(path):
        if item.surface == "state":
            weights[item.field] += item.size
    assert weights.total() == rows < 3_000
    assert weights["question"] > 10 * weights["notes"] > 0


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


def test_a_process_that_knows_none_of_the_classes_audits_and_writes_a_contract(
    observed: Path, tmp_path: Path
) -> None:
    said = start("audit", observed, "--write-contract", tmp_path / "state.py")
    assert said.code == 40, said.err
    assert 'ks.Secret("env:API_KEY")' in (tmp_path / "state.py").read_text()
    assert "in keepset" not in said.out


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


class Drafts(TypedDict, total=False):
    draft: str


def test_a_run_that_is_pruned_while_it_is_audited_is_not_said_to_be_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "ROOM", 0)  # as where there is more than is kept at once
    path = tmp_path / "runs.db"
    with ks.open(path) as store:
        run = store.run(Drafts, "r")
        for text in ("first ", "second ", "third "):
            run.save("step", {"draft": text * 20_000})
        with OurOpener().open(str(path)) as reader:
            given = iter(reader.items("r"))
            next(given)
            store.prune("r", keep_latest=1)
            with pytest.raises(NotFoundError) as caught:
                list(given)
    assert caught.value.code == "run.rewritten"


def test_the_version_of_a_channel_that_is_called_as_a_secret_is_none(tmp_path: Path) -> None:
    builder: Any = StateGraph(Keyed)
    builder.add_node("note", lambda _: {"note": "x"})
    builder.add_edge(START, "note")
    config: Any = {"configurable": {"thread_id": "one"}}
    with SqliteSaver.from_conn_string(str(tmp_path / "old.db")) as old:
        builder.compile(checkpointer=old).invoke({"api_key": naive.KEY}, config)
        path = tmp_path / "ours.db"
        with KeepsetSaver(f"sqlite:///{path}", fallback=old) as saver:
            saver.bind(builder.compile()).update_state(config, {"note": "y"})
    assert [one for one in result(path, code=0)["findings"] if one["severity"] == "error"] == []
