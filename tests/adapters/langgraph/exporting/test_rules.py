"""What is not stored does not leave, unless a loader gives it; classes leave where named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

import keepset.langgraph
from tests.adapters.langgraph.exporting import shop
from tests.adapters.langgraph.exporting.legs import config
from tests.adapters.langgraph.exporting.stories import put
from tests.cli.terminal import say

GRAPH = "tests.adapters.langgraph.exporting.shop:build"
ORDER = "tests.adapters.langgraph.exporting.shop:Order"
PLANTED = "sk-proj-" + "Ab3dEf6hIj9lMn2pQr5tUv8xYz1Bc4De7Gh0Jk"


@pytest.fixture
def url(tmp_path: Path) -> str:
    tmp_path.chmod(0o700)
    return f"sqlite:///{tmp_path}/runs.db"


@pytest.fixture
def bought(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A thread that waits, with fields of all rules."""
    monkeypatch.setenv("SHOP_KEY", shop.KEY)
    graph: Any = keepset.langgraph.compile(shop.build(), url)
    graph.invoke({"key": shop.KEY}, config("t"))
    graph.checkpointer.close()
    return url


def _state(path: Path, thread: str = "t") -> dict[str, Any]:
    with SqliteSaver.from_conn_string(str(path)) as saver:
        found = saver.get_tuple(config(thread))
    assert found is not None
    return dict(found.checkpoint["channel_values"])


def _history(path: Path) -> list[Any]:
    with SqliteSaver.from_conn_string(str(path)) as saver:
        listed = sorted(saver.list(config("t")), key=lambda one: one.checkpoint["id"])
    return [one.checkpoint["channel_values"].get("docs") for one in listed]


def test_what_no_rule_stores_is_not_there_and_the_report_says_what_has_to_be_given(
    bought: str, tmp_path: Path
) -> None:
    target = tmp_path / "new.sqlite"
    said = say("export", bought, "--to", target, "--graph", GRAPH, "--apply", "--json")
    assert said.code == 0, said.out + said.err
    (run,) = said.result("export")["told"]
    assert run["why"].startswith("not stored, to be given when it goes on: ")
    for told in ("docs: Refetch(load, ids)", "key: Secret(env:SHOP_KEY)", "cart: Scratch"):
        assert told in run["why"]
    state = _state(target)
    assert not {"docs", "key", "cart"} & state.keys()
    assert state["order"] == shop.Order("o1", 3)
    assert shop.KEY.encode() not in target.read_bytes()


def test_restored_content_is_that_of_each_checkpoint_and_is_loaded_once_for_each_version(
    bought: str, tmp_path: Path
) -> None:
    target = tmp_path / "new.sqlite"
    shop.CALLS.clear()
    options = ("--graph", GRAPH, "--restore", "--apply", "--json")
    said = say("export", bought, "--to", target, *options)
    assert said.code == 0, said.out + said.err
    assert shop.CALLS == [["reset"], ["reset", "pay"]]
    reset, pay = shop.LIBRARY["reset"], shop.LIBRARY["pay"]
    assert _history(target) == [None, None, [reset], [reset, pay]]
    assert "docs" not in said.result("export")["told"][0]["why"]
    with SqliteSaver.from_conn_string(str(target)) as saver:
        graph = shop.build().compile(checkpointer=saver)
        assert graph.invoke(Command(resume="yes"), config("t"))["reply"] == f"yes: {pay}"
    assert shop.KEY.encode() not in target.read_bytes()


def test_a_class_that_nobody_names_leaves_its_thread_out_and_is_named(
    bought: str, tmp_path: Path
) -> None:
    target = tmp_path / "new.sqlite"
    said = say("export", bought, "--to", target, "--apply", "--json")
    (run,) = said.result("export")["told"]
    assert (said.code, run["outcome"], "Shop/Order" in run["why"]) == (40, "left", True)
    assert "--types" in run["hint"]
    named = say("export", bought, "--to", target, "--types", f"Shop/Order={ORDER}", "--apply")
    assert named.code == 0, named.out
    assert _state(target)["order"] == shop.Order("o1", 3)


def _planted(url: str, mode: str) -> None:
    place = {"headers": {"Authorization": f"Bearer {PLANTED}"}, "log": ["a", PLANTED]}
    put(url, "t", {"place": place, "own": PLANTED, "said": f"my key is {PLANTED}, ok?"}, mode=mode)


def test_a_secret_that_was_withheld_is_not_in_the_target_and_is_counted(
    url: str, tmp_path: Path
) -> None:
    _planted(url, "protect")
    target = tmp_path / "new.sqlite"
    said = say("export", url, "--to", target, "--apply", "--json")
    assert said.code == 0, said.out
    assert PLANTED.encode() not in target.read_bytes()
    state = _state(target)
    assert "own" not in state
    assert state["place"] == {"headers": {}, "log": ["a", None]}
    assert state["said"].startswith("my key is ")
    places = {one["path"] for one in said.result("export")["withheld"]}
    assert {"own", "place.headers.Authorization", "place.log[*]"} <= {
        path.replace('"', "").replace("['*']", "[*]").replace(".*", "[*]") for path in places
    }


def test_the_search_for_the_secret_finds_one_that_was_stored_on_purpose(
    url: str, tmp_path: Path
) -> None:
    _planted(url, "observe")
    target = tmp_path / "new.sqlite"
    assert say("export", url, "--to", target, "--apply").code == 0
    assert PLANTED.encode() in target.read_bytes()


def test_what_is_named_and_is_no_graph_or_class_is_refused_by_name(
    bought: str, tmp_path: Path
) -> None:
    target = tmp_path / "new.sqlite"
    for option, name, code in (
        ("--graph", "json:dumps", "langgraph.not-a-graph"),
        ("--graph", "json:decoder", "langgraph.not-a-graph"),
        ("--types", "json:dumps", "langgraph.types"),
    ):
        said = say("export", bought, "--to", target, option, name, "--json")
        assert (said.code, said.error()["code"]) == (2, code)
    assert not target.exists()
