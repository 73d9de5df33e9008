"""The import on a command line: a dry run first, one report, and documented exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import ormsgpack
import pytest

import keepset as ks
from tests.adapters.landed import held
from tests.adapters.langgraph.importing import stores
from tests.adapters.langgraph.importing.stores import change
from tests.adapters.langgraph.saver.graphs import outer
from tests.adapters.langgraph.saver.steps import config
from tests.cli.terminal import on_a_terminal, say, start

TYPES = [word for name in stores.OWN for word in ("--types", name)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "old.sqlite"
    with stores.on_sqlite(place) as saver:
        for thread in ("one", "two"):
            outer(saver).invoke({"log": ["in"]}, config(thread))
    return place


def spoil(path: Path) -> None:
    call = ormsgpack.packb(["app.models", "Order", {"password": "planted-in-a-call"}])
    change(
        path,
        "update writes set type = 'msgpack', value = ? where rowid ="
        " (select max(rowid) from writes where thread_id = 'one' and channel = 'log')",
        ormsgpack.packb(ormsgpack.Ext(2, call)),
    )


def runs(store: Path) -> list[str]:
    with ks.open(f"sqlite:///{store}") as opened:
        return held(opened)


def test_without_apply_nothing_is_written_and_the_line_that_does_it_is_printed(
    path: Path, tmp_path: Path
) -> None:
    said = say("import", path, "--into", tmp_path / "runs.db")
    assert said.code == 0
    assert "2 runs can be taken over, 6 checkpoints" in said.out
    assert (
        "all that can be was written to memory, read back and compared, value by value" in said.out
    )
    assert said.out.splitlines()[-2] == "this was a dry run: nothing was written"
    assert said.out.splitlines()[-1].endswith(
        f"import {path} --into {tmp_path / 'runs.db'} --apply"
    )
    assert [one.name for one in tmp_path.iterdir()] == ["old.sqlite"]


def test_metadata_that_stays_behind_is_named_and_never_its_value(
    path: Path, tmp_path: Path
) -> None:
    with stores.on_sqlite(path) as saver:
        at = {"configurable": {"thread_id": "three", "user": "ann", "api_key": "sk-planted-in-it"}}
        outer(saver).invoke({"log": ["in"]}, at)
    words = ("import", path, "--into", tmp_path / "runs.db")
    said = say(*words)
    assert "metadata left behind: api_key, user (--metadata-keys takes it over)" in said.out
    assert "planted" not in said.out + said.err
    result = say(*words, "--metadata-keys", "user", "--json").result("import")
    assert result["metadata"] == ["api_key"]


def test_with_apply_all_is_there_and_the_same_again_says_so(path: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    first = say("import", path, "--into", store, "--apply", "--json")
    assert first.code == 0
    result = first.result("import")
    assert (result["runs"]["taken"], result["checkpoints"]["taken"]) == (2, 6)
    assert result["bytes"] > 1_000
    assert runs(store) == ["one", "two"]
    again = say("import", path, "--into", f"sqlite:///{store}", "--json")
    assert again.result("import")["runs"]["there"] == 2
    assert say("show", "one", "--store", store).code == 0


def test_only_the_runs_that_are_named_are_taken_over(path: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    said = say("import", path, "--into", store, "--runs", "two", "--runs", "none", "--apply")
    assert said.code == 40
    assert "none: left out: there is no thread of this id" in said.out
    assert runs(store) == ["two"]


def test_a_value_that_cannot_be_taken_over_is_told_by_its_place_and_never_printed(
    path: Path, tmp_path: Path
) -> None:
    spoil(path)
    store = tmp_path / "runs.db"
    said = say("import", path, "--into", store, "--apply", "--json")
    assert said.code == 40
    assert "planted" not in said.out + said.err
    ((told,),) = [said.result("import")["told"]]
    assert told["run"] == "one"
    assert [(one["surface"], one["path"], one["why"]) for one in told["left"]] == [
        ("write", "log", "a app.models.Order is not made from data")
    ]
    assert "--types" in told["hint"]
    assert runs(store) == ["two"]
    without = say("import", path, "--into", store, "--apply", "--skip-values")
    assert without.code == 40
    assert "write log: a app.models.Order is not made from data" in without.out
    assert runs(store) == ["one", "two"]


def test_classes_are_named_on_the_command_line(tmp_path: Path) -> None:
    place, store = tmp_path / "old.sqlite", tmp_path / "runs.db"
    with stores.on_sqlite(place) as saver:
        stores.KINDS["talked"][0](saver, "talked")
    assert say("import", place, "--into", store, "--apply").code == 40
    assert say("import", place, "--into", store, "--apply", *TYPES).code == 0
    assert runs(store) == ["talked"]


def test_another_tenant_has_runs_of_its_own(path: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    assert say("import", path, "--into", store, "--tenant", "acme", "--apply").code == 0
    assert runs(store) == []
    assert say("runs", "--store", store, "--tenant", "acme", "--json").code == 0


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "audit.empty"),
        (b'{"a": 1}', "import.unknown-store"),
        (None, "audit.not-found"),
    ],
)
def test_a_place_that_holds_no_runs_is_refused_by_name(
    tmp_path: Path, content: bytes | None, code: str
) -> None:
    place = tmp_path / "place"
    if content is not None:
        place.write_bytes(content)
    said = say("import", place, "--into", tmp_path / "runs.db", "--json")
    assert said.error()["code"] == code
    assert not (tmp_path / "runs.db").exists()


@pytest.mark.parametrize("applies", [(), ("--apply",)])
@pytest.mark.parametrize(
    "refused",
    [
        ("missing/runs.db", 11, "store.no-folder"),
        ("old.sqlite", 11, "store.not-ours"),
        (".", 11, "store.not-a-file"),
        ("memory:", 2, "store.memory"),
        ("sqlite:runs.db", 2, "store.url"),
        ("postgresql://ann:planted@host/db", 2, "store.url"),
    ],
)
def test_a_target_that_would_refuse_is_refused_by_a_dry_run_as_well(
    path: Path, tmp_path: Path, refused: tuple[str, int, str], applies: tuple[str, ...]
) -> None:
    into, code, name = refused
    into = into if ":" in into else str(tmp_path / into)
    before = path.read_bytes()
    said = say("import", path, "--into", into, *applies, "--json")
    assert (said.code, said.error()["code"]) == (code, name)
    assert "planted" not in said.out + said.err
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["old.sqlite"]


def test_a_store_of_ours_is_no_place_to_import_from(path: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    say("import", path, "--into", store, "--apply")
    said = say("import", store, "--into", tmp_path / "other.db", "--json")
    assert said.error()["code"] == "import.unknown-store"


def test_a_graph_that_is_none_is_refused_before_anything_is_read(
    path: Path, tmp_path: Path
) -> None:
    for name, code in (("json:dumps", "langgraph.not-a-graph"), ("json:nothing", "reference.name")):
        said = say("import", path, "--into", tmp_path / "runs.db", "--graph", name, "--json")
        assert said.error()["code"] == code
    said = say("import", path, "--into", tmp_path / "runs.db", "--types", "json:dumps", "--json")
    assert said.error()["code"] == "langgraph.types"


def test_what_the_code_of_a_graph_prints_goes_to_stderr(path: Path, tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(
        "print('noise')\nfrom tests.adapters.langgraph.saver.graphs import outer\n"
        "GRAPH = outer(None)\n"
    )
    said = start(
        *("import", path, "--into", tmp_path / "runs.db", "--graph", "noisy:GRAPH", "--json"),
        environment={"PYTHONPATH": f"{tmp_path}:{Path.cwd()}"},
    )
    assert json.loads(said.out)["result"]["runs"]["taken"] == 2
    assert "noise" in said.err


def test_on_a_terminal_a_bar_is_shown_and_gone_at_the_end(path: Path, tmp_path: Path) -> None:
    shown = on_a_terminal("import", path, "--into", tmp_path / "runs.db", "--apply")
    assert "importing" in shown
    assert "2 runs taken over, 6 checkpoints" in shown


def test_where_no_escapes_are_wanted_no_bar_is_drawn(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "runs.db"
    printed = [
        on_a_terminal("import", path, "--into", target, "--apply", NO_COLOR="1"),
        on_a_terminal("export", target, "--to", tmp_path / "back.sqlite", NO_COLOR="1"),
        on_a_terminal("audit", path, NO_COLOR="1"),
    ]
    assert ["\x1b" in one for one in printed] == [False, False, False]
    assert "2 runs can be exported" in printed[1]


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("langgraph", "langchain_core"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
from keepset.cli import app
app.main(sys.argv[1:])
"""


def test_without_langgraph_its_threads_are_refused_with_what_to_install(
    path: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, "import", str(path), "--into", str(tmp_path / "runs.db")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "[import.not-installed]" in done.stderr
    assert 'pip install "keepset[langgraph]"' in done.stderr
