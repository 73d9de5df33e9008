"""The documented format is enough: who has only the documentation reads all that a store holds."""

from __future__ import annotations

import ast
import json
import operator
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypedDict

import ormsgpack
import pytest

import keepset as ks
from tests.adapters.jsonl.test_values import packed
from tests.backends.sqlite import stranger
from tests.backends.sqlite.stranger import Ext
from tests.cli.terminal import ROOT, say

STEPS = 330
WORDS = [f"word{number}" for number in range(500)]


@dataclass
class Item:
    name: str
    tags: list[str]


class State(TypedDict, total=False):
    log: Annotated[list[str], ks.Keep()]
    table: Annotated[dict[str, Any], ks.Keep()]
    draft: Annotated[str, ks.Keep()]
    items: Annotated[list[Item], ks.Keep()]
    anything: Annotated[Any, ks.Keep()]
    images: Annotated[list[dict[str, Any]], ks.Keep()]
    rare: Annotated[tuple[int, ...], ks.Keep()]


def _text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words))


def _step(state: dict[str, Any], number: int, chance: random.Random) -> None:
    """Change a state as an agent does: a bit of everything."""
    state["log"] = [*state.get("log", []), _text(chance, 120)]
    table = {**state.get("table", {}), chance.choice("abcdef"): {"at": number, "n": [number, None]}}
    table.pop(chance.choice("abcxyz"), None)
    state["table"] = table
    draft = state.get("draft", _text(chance, 900))
    at = chance.randrange(len(draft))
    state["draft"] = draft[:at] + f"<{number}>" + draft[at + 5 :]
    if number % 7 == 0:
        state["items"] = [*state.get("items", [])[-4:], Item(f"i{number}", ["a", str(number)])]
        state["anything"] = {1: number, "x": (number, b"\0" * number, -0.0, 1 << 70)}
    if number % 40 == 1:
        image = {"data": f"{number}" + _text(chance, 9_000), "note": number}
        state["images"] = [*state.get("images", []), image]
    if number % 40 == 2:
        state["images"] = [{**one, "note": number} for one in state["images"]]
    if number % 25 == 3:
        state["rare"] = (number,) * 3
    if number % 25 == 20:
        state.pop("rare", None)


def _grow(store: ks.Store, run_id: str) -> None:
    chance = random.Random(run_id)  # noqa: S311 - the same each time
    run = store.run(State, run_id)
    state: dict[str, Any] = {}
    saved: list[Any] = []
    for number in range(STEPS):
        _step(state, number, chance)
        saved.append(run.save(f"s{number % 3}", dict(state)))
        if number % 5 == 0:
            run.put_writes(saved[-1], f"task-{number}", [("log", [_text(chance, 30)]), ("c", 1)])
    for at in (STEPS - 2, 200, 40, 40, -5, -5, -5, -5, -5, -5):
        run = store.run(State, run_id).fork(saved[at])
        own = dict(run.state)
        for number in range(30):
            _step(own, number, chance)
            saved.append(run.save("forked", dict(own)))


def _graph(url: str) -> None:
    pytest.importorskip("langgraph")
    from langgraph.graph import END, START, StateGraph  # noqa: PLC0415 - not everywhere
    from langgraph.types import Command, interrupt  # noqa: PLC0415 - the same

    from keepset.langgraph import KeepsetSaver  # noqa: PLC0415 - the same

    class Growing(TypedDict, total=False):
        log: Annotated[list[str], operator.add]
        count: int

    def step(state: Growing) -> Growing:
        number = state.get("count", 0) + 1
        return {"log": [f"{number} " + "x" * 80], "count": number}

    builder: Any = StateGraph(Growing)
    builder.add_node("step", step)
    builder.add_node("ask", lambda _: {"log": [interrupt("go on?") * 40_000]})
    builder.add_edge(START, "step")
    builder.add_conditional_edges("step", lambda state: "step" if state["count"] % 60 else "ask")
    builder.add_edge("ask", END)
    at: Any = {"configurable": {"thread_id": "graph"}, "recursion_limit": 200}
    with KeepsetSaver(url) as saver:
        graph = saver.bind(builder.compile())
        graph.invoke({"log": ["in"]}, at)
        graph.invoke(Command(resume="yes"), at)
        graph.invoke({"log": ["again"]}, at)
        old = list(graph.get_state_history(at))[30].config
        graph.update_state(old, {"log": ["forked"]}, as_node="step")
        graph.invoke(None, {**at, "configurable": at["configurable"]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that real saves made, and all of it as lines of JSON."""
    made = tmp_path_factory.mktemp("store")
    made.chmod(0o700)
    url = f"sqlite:///{made}/runs.db"
    with ks.open(url) as store:
        _grow(store, "long")
        _grow(store, "pruned")
        plain = ks.Store(replace(store.services, compressed=False))
        _grow(plain, "not compressed")
        store.prune("pruned", every=3)
        chance = random.Random("open")  # noqa: S311 - the same each time
        for name in ("one", "two"):
            store.run(State, name).save("only", {"draft": _text(chance, 2_000), "log": ["a"]})
    _graph(url)
    said = say("export", url, "--to", made / "runs.jsonl", "--apply")
    assert said.code == 0, said.err
    return made


def _value(told: Any) -> Any:
    return ormsgpack.unpackb(packed(told), ext_hook=Ext)


def _same(ours: Any, theirs: Any) -> bool:
    """Types, signs of zero and the order of keys count."""
    return repr(ours) == repr(theirs)


def test_a_reader_of_the_documentation_reads_every_checkpoint_and_every_pending_write(
    folder: Path,
) -> None:
    store = stranger.Store(str(folder / "runs.db"))
    runs = {name: store.run(tenant, name) for tenant, name in store.runs()}
    lines = [json.loads(one) for one in (folder / "runs.jsonl").read_text().splitlines()]
    assert len(lines) == sum(len(own) for run in runs.values() for own in run.headers.values())
    writes = 0
    for told in lines:
        run, seq = runs[told["run_id"]], told["seq"]
        place = (told["namespace"], told["line"])
        line = next(o.id for o in run.lines.values() if (o.namespace, o.branch) == place)
        header = next(one for one in run.headers[line] if one.seq == seq)
        assert header[1:5] == (told["checkpoint"], told["parent"], told["name"], told["status"])
        assert _same(header.metadata, _value(told["metadata"]))
        state = {name: _value(value) for name, value in told["state"].items()}
        found = run.state(line, seq)
        assert found.keys() == state.keys()
        assert all(_same(found[name], state[name]) for name in state), (told["run_id"], seq)
        pending = [(w["task"], w["path"], w["index"], w["channel"]) for w in told["writes"]]
        own = run.writes(line, seq)
        assert [write[:4] for write in own] == pending
        assert all(
            _same(write[4], _value(w["value"]))
            for write, w in zip(own, told["writes"], strict=True)
        )
        writes += len(own)
    assert writes > 100
    store.close()


def test_the_store_that_is_read_has_all_that_the_format_has(folder: Path) -> None:
    import sqlite3  # noqa: PLC0415 - looks at rows, beside the reader

    def count(sql: str) -> int:
        return int(db.execute(f"SELECT count(*) FROM {sql}").fetchone()[0])  # noqa: S608 - below

    with sqlite3.connect(f"file:{folder}/runs.db?mode=ro", uri=True) as db:
        assert count("segment WHERE field = ''") > 3
        assert count("segment WHERE substr(data, 1, 1) = x'01'") > 3
        assert count("(SELECT DISTINCT line, field, start FROM segment WHERE first > 60)") > 2
        assert count("segment WHERE substr(data, 1, 1) = x'00'") > 3
        assert count("blob WHERE substr(data, 1, 1) = x'01'") > 3
        assert count("write WHERE ordinal = -2147483648") > 3
        assert count("write WHERE ordinal <> -2147483648") > 3
        assert count("step WHERE substr(changes, 1, 1) = x'28'") > 1
        assert count("line WHERE parent IS NOT NULL") > 4
    db.close()


def test_the_page_says_which_version_of_the_schema_it_describes(folder: Path) -> None:
    store = stranger.Store(str(folder / "runs.db"))
    page = (ROOT / "docs" / "sqlite.md").read_text("utf-8")
    assert f"the schema that these pages describe: {store.version}." in page
    store.close()


def test_the_reader_imports_nothing_of_keepset() -> None:
    tree = ast.parse(Path(stranger.__file__).read_text("utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    own = {"__future__", "collections", "itertools", "sqlite3", "typing", "uuid"}
    assert names - own == {"ormsgpack", "zstandard"}
