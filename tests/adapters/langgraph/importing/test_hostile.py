"""Whatever bytes a store holds, nothing of them is run, and what is wrong is named by its place."""

from __future__ import annotations

import inspect
import pickle
import sqlite3
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

import keepset as ks
from keepset.adapters.langgraph.types import host_classes
from keepset.adapters.langgraph.vetting import Allowed, Vetting
from keepset.langgraph import KeepsetSaver
from keepset.readers.decoding import from_tagged
from tests.adapters.langgraph.importing import stores
from tests.adapters.langgraph.importing.stores import change, outcomes, taken
from tests.adapters.langgraph.saver.graphs import outer
from tests.adapters.langgraph.saver.steps import config
from tests.codec.exact import same
from tests.readers.decoding.hostile import (
    BROKEN_MSGPACK,
    deep_extensions,
    extensions_inside,
    planted_extensions,
    planted_pickles,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with two threads, of which one will be tampered with."""
    place = tmp_path / "old.sqlite"
    with stores.on_sqlite(place) as saver:
        for thread in ("bad", "good"):
            outer(saver).invoke({"log": ["in"]}, config(thread))
    return place


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.db"


def put_write(path: Path, tag: str, data: bytes) -> None:
    """Put bytes in place of what a task of the bad thread wrote last."""
    change(
        path,
        "update writes set type = ?, value = ? where rowid = (select max(rowid) from writes"
        " where thread_id = 'bad' and channel = 'log')",
        tag,
        data,
    )


def refused(path: Path, url: str, **how: Any) -> Any:
    moved = taken(path, url, **how)
    assert outcomes(moved) == {"bad": "left", "good": "taken"}
    with ks.open(url) as store:
        assert [one.run.key.run_id for one in store.runs()] == ["good"]
    return moved["bad"]


def test_a_call_that_the_bytes_name_is_never_made(path: Path, url: str, tmp_path: Path) -> None:
    marker = tmp_path / "made"
    for number, data in enumerate(planted_extensions(marker)):
        put_write(path, "msgpack", data)
        one = refused(path, f"{url}{number}")
        assert [(left.surface, left.path) for left in one.left] == [("write", "log.x")]
        assert "is not made from data" in one.left[0].why
        assert not marker.exists()


def test_the_saver_it_comes_from_would_have_made_that_call(tmp_path: Path) -> None:
    """The control: these bytes do name calls that succeed."""
    marker = tmp_path / "made"
    serde: Any = JsonPlusSerializer
    strict = "allowed_msgpack_modules" in inspect.signature(serde).parameters
    lax = serde(allowed_msgpack_modules=True) if strict else serde()
    lax.loads_typed(("msgpack", planted_extensions(marker)[0]))
    assert marker.exists()


def test_no_pickle_is_loaded_not_even_one_that_is_harmless(
    path: Path, url: str, tmp_path: Path
) -> None:
    marker = tmp_path / "made"
    for number, data in enumerate([*planted_pickles(marker), pickle.dumps(["log"])]):
        put_write(path, "pickle", data)
        one = refused(path, f"{url}{number}")
        assert one.left[0].why == "it is a pickle, and none is loaded"
        assert not marker.exists()


def test_a_module_that_the_data_names_is_not_imported(
    path: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "made"
    (tmp_path / "planted_module.py").write_text(f"open({str(marker)!r}, 'w').close()\nclass A: ...")
    monkeypatch.syspath_prepend(tmp_path)
    call = ormsgpack.packb(["planted_module", "A", {}])
    put_write(path, "msgpack", ormsgpack.packb(ormsgpack.Ext(2, call)))
    refused(path, url)
    assert not marker.exists()
    __import__("planted_module")
    assert marker.exists()  # the control


def test_a_method_of_a_class_that_is_allowed_is_not_called(
    path: Path, url: str, tmp_path: Path
) -> None:
    marker = tmp_path / "made"
    marker.write_text("x")
    calls = (["pathlib", "Path", str(marker), "unlink"], ["uuid", "UUID", "x", "__init__"])
    for number, call in enumerate(calls):
        put_write(path, "msgpack", ormsgpack.packb(ormsgpack.Ext(3, ormsgpack.packb(call))))
        refused(path, f"{url}{number}")
    assert marker.exists()


@pytest.mark.parametrize(
    "data",
    [
        *BROKEN_MSGPACK.values(),
        b"",
        b"\xc1",
        b"\x91" * 100_000 + b"\x01",
        extensions_inside(5_000),
        deep_extensions(40),
        b"\xdd\xff\xff\xff\xff",
    ],
)
def test_broken_and_endless_bytes_leave_out_their_thread_alone(
    path: Path, url: str, data: bytes
) -> None:
    put_write(path, "msgpack", data)
    refused(path, url)


def test_a_checkpoint_that_is_none_leaves_out_its_thread_alone(path: Path, url: str) -> None:
    other = {"id": "other", "channel_values": {}, "channel_versions": {}, "versions_seen": {}}
    for number, data in enumerate(
        (
            ormsgpack.packb([1]),
            ormsgpack.packb({"id": 1}),
            ormsgpack.packb(other),
            ormsgpack.packb({**other, "channel_values": [1]}),
            b"\xc1",
        )
    ):
        change(path, "update checkpoints set checkpoint = ? where thread_id = 'bad'", data)
        one = refused(path, f"{url}{number}", skips=True)
        assert one.why


def test_versions_that_nobody_can_compare_leave_out_their_thread(path: Path, url: str) -> None:
    with sqlite3.connect(path) as database:
        for row, data in database.execute(
            "select rowid, checkpoint from checkpoints where thread_id = 'bad'"
        ).fetchall():
            checkpoint = ormsgpack.unpackb(data)
            checkpoint["channel_versions"]["log"] = [1]
            database.execute(
                "update checkpoints set checkpoint = ? where rowid = ?",
                (ormsgpack.packb(checkpoint), row),
            )
    database.close()
    moved = taken(path, url)
    assert outcomes(moved) == {"bad": "left", "good": "taken"}
    assert moved["bad"].left[0].why == "it is no checkpoint of LangGraph's"


@pytest.mark.parametrize("kind", ["(1, ,)i1", "(1,M,)i1", "08,", "O", "S99999999999"])
def test_an_array_of_a_kind_that_is_none_leaves_out_its_thread(
    path: Path, url: str, kind: str
) -> None:
    parts = ormsgpack.packb([kind, [1], "C", bytes(8)])
    put_write(path, "msgpack", ormsgpack.packb(ormsgpack.Ext(6, parts)))
    assert "array" in refused(path, url).left[0].why


@pytest.mark.parametrize("place", ["first", "", 1.5, b"1"])
def test_a_write_whose_place_is_no_number_leaves_out_its_thread(
    path: Path, url: str, place: object
) -> None:
    change(
        path,
        "update writes set idx = ? where rowid = (select max(rowid) from writes"
        " where thread_id = 'bad')",
        place,
    )
    moved = taken(path, url)
    assert outcomes(moved) == {"bad": "unread", "good": "taken"}
    assert "no whole number" in moved["bad"].why


def test_ids_that_no_run_can_have_are_told(path: Path, url: str) -> None:
    for name in ("", "x" * 600, "langgraph#taken-over/ab/cd"):
        change(
            path,
            "insert into checkpoints select ?, checkpoint_ns, checkpoint_id, parent_checkpoint_id,"
            " type, checkpoint, metadata from checkpoints where thread_id = 'good'",
            name,
        )
    moved = taken(path, url)
    assert outcomes(moved)["good"] == "taken"
    others = {one.outcome.value for run, one in moved.items() if run not in ("good", "bad")}
    assert others == {"left"}
    with ks.open(url) as store:
        assert [one.run.key.run_id for one in store.runs()] == ["bad", "good"]


def test_a_value_that_is_skipped_goes_alone_and_it_is_said_where_a_resume_reads_it(
    path: Path, url: str, tmp_path: Path
) -> None:
    put_write(path, "msgpack", planted_extensions(tmp_path / "made")[0])
    moved = taken(path, url, skips=True)
    assert outcomes(moved) == {"bad": "taken", "good": "taken"}
    assert [(one.surface, one.path) for one in moved["bad"].left] == [("write", "log.x")]
    assert moved["good"].left == ()
    with SqliteSaver.from_conn_string(str(path)) as old, KeepsetSaver(url) as ours:
        before = stores.everything(old, "good")
        after = stores.everything(ours, "bad")
    assert [len(one[4]) for one in before] != [len(one[4]) for one in after]
    assert [one[:1] for one in before] == [one[:1] for one in after]


def test_a_channel_of_the_newest_checkpoint_is_one_that_a_resume_reads(
    path: Path, url: str
) -> None:
    with sqlite3.connect(path) as database:
        ((row, data),) = database.execute(
            "select rowid, checkpoint from checkpoints where thread_id = 'bad'"
            " order by checkpoint_id desc limit 1"
        ).fetchall()
        checkpoint = ormsgpack.unpackb(data)
        checkpoint["channel_values"]["log"] = ormsgpack.Ext(0, ormsgpack.packb(["os", "abort", 1]))
        database.execute(
            "update checkpoints set checkpoint = ? where rowid = ?",
            (ormsgpack.packb(checkpoint), row),
        )
    database.close()
    (left,) = taken(path, url, skips=True)["bad"].left
    assert (left.path, left.is_needed) == ("log", True)
    with KeepsetSaver(url) as ours:
        newest = ours.get_tuple(config("bad"))
        assert newest is not None
        assert set(newest.checkpoint["channel_values"]) >= {"count"}
        assert "log" not in newest.checkpoint["channel_values"]


def test_what_is_encrypted_is_said_to_be(path: Path, url: str) -> None:
    put_write(path, "msgpack+aes", b"\x01\x02")
    one = refused(path, url)
    assert one.left[0].why == "it is encrypted"
    assert "fallback=" in one.hint


@pytest.mark.parametrize("tag", ["bytes", "bytearray", "null", "msgpack"])
def test_each_way_in_which_a_value_is_stored_gives_what_the_saver_gives(tag: str) -> None:
    data = {"bytes": b"\x00", "bytearray": b"\x00", "null": b""}.get(tag, ormsgpack.packb([1]))
    expected = JsonPlusSerializer().loads_typed((tag, data))
    found = from_tagged(tag, data)
    made = Vetting(Allowed(host_classes())).value(found, ("x",))
    assert same(made, expected) or tag == "bytearray"
