"""Files of JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keepset.readers.ports import Item, Overview, RunFacts, Unreadable
from keepset.readers.traces import JsonOpener

DOCUMENTS: list[dict[str, Any]] = [
    {"thread_id": "a", "step": 9, "ts": "2026-01-02T00:00:00Z", "messages": [1], "n": 1},
    {"thread_id": "b", "step": 1, "error": "boom", "input": {"q": 1}},
    {"thread_id": "a", "step": 10, "ts": "2026-01-03T00:00:00Z", "messages": [1, 2], "n": 1},
    {"no": "run"},
]


def read(path: Path) -> tuple[Overview, list[RunFacts], dict[str, list[Item]]]:
    opener = JsonOpener()
    assert opener.recognises(str(path))
    with opener.open(str(path)) as reader:
        facts = list(reader.runs())
        return reader.overview(), facts, {one.run: list(reader.items(one.run)) for one in facts}


@pytest.fixture(params=["lines", "list", "indented", "windows"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    found = tmp_path / "trace"
    lines = [json.dumps(one) for one in DOCUMENTS]
    text = {
        "lines": "\n".join(lines),
        "windows": "\r\n\r\n".join(lines) + "\r\n",
        "list": json.dumps(DOCUMENTS),
        "indented": json.dumps(DOCUMENTS, indent=2),
    }[str(request.param)]
    found.write_bytes(text.encode())
    return found


def test_documents_are_put_together_by_their_run_and_given_by_their_entries(path: Path) -> None:
    overview, facts, items = read(path)
    assert overview.rows == {"documents": 4}
    assert overview.runs == 3
    assert [one.run for one in facts] == ["a", "b", "(file)"]
    assert (facts[0].checkpoints, facts[0].first, facts[0].last) == (2, 1767312000, 1767398400)
    told = [(one.field, one.surface, one.value) for one in items["a"]]
    assert told == [
        ("messages", "state", [1]),
        ("n", "state", 1),
        ("messages", "state", [1, 2]),
        ("n", "state", 1),
    ]
    steps = [one.step for one in items["a"]]
    assert steps == sorted(steps)
    assert [(one.field, one.surface) for one in items["b"]] == [
        ("error", "error"),
        ("input", "input"),
    ]
    assert [one.value for one in items["(file)"]] == ["run"]


def test_a_file_of_one_document_is_one_run(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"session_id": 7, "index": 1, "state": {"a": [1]}}, indent=1))
    _, facts, items = read(path)
    assert [one.run for one in facts] == ["7"]
    assert [(one.field, one.value) for one in items["7"]] == [("state", {"a": [1]})]


def test_documents_that_are_no_objects_are_values(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[1, 2]\n[3]\n")
    _, _, items = read(path)
    assert [one.value for one in items["(file)"]] == [[1, 2], [3]]


def test_a_line_that_is_no_json_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b'{"run_id": "a", "x": 1}\n{"run_id": "a", "x": \n\xff\xfe\n{"run_id": "a", "x": 2}'
    )
    _, _, items = read(path)
    assert [one.value for one in items["a"]] == [1, 2]
    assert {type(one.value) for one in items["(file)"]} == {Unreadable}
    with JsonOpener().open(str(path)) as reader:
        assert reader.orphans() == {"documents": 2}


def test_a_document_beyond_all_bounds_is_told_as_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from keepset.readers import traces  # noqa: PLC0415 - its bound is made small here
    from keepset.readers.decoding import bounds  # noqa: PLC0415 - the same

    monkeypatch.setattr(traces, "LARGEST", 100)
    monkeypatch.setattr(bounds, "LARGEST", 100)
    path = tmp_path / "a.jsonl"
    path.write_text('{"x": 1}\n{"x": "' + "y" * 1000 + '"}\n{"x": 2}\n')
    _, _, items = read(path)
    values = [one.value for one in items["(file)"]]
    assert values[0] == 1
    assert isinstance(values[1], Unreadable)
    assert values[2] == 2
    path.write_text('[{"x": "' + "y" * 1000 + '"},\n{"x": 2}]')
    assert isinstance(read(path)[2]["(file)"][0].value, Unreadable)


def test_an_array_beyond_the_bound_of_a_value_is_read_item_by_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from keepset.readers import traces  # noqa: PLC0415 - its bound is made small here
    from keepset.readers.decoding import bounds  # noqa: PLC0415 - the same

    documents = [
        {"thread_id": f"t{number % 3}", "step": number, "api_key": f"value {number}"}
        for number in range(300)
    ]
    path = tmp_path / "all.json"
    path.write_text(json.dumps(documents))
    whole = read(path)
    monkeypatch.setattr(traces, "LARGEST", 100)
    monkeypatch.setattr(bounds, "LARGEST", 100)
    overview, runs, items = read(path)
    assert overview.version == "a list of documents"
    assert overview.rows == {"documents": 300}
    assert items == whole[2]
    assert {one.run: one.checkpoints for one in runs} == {"t0": 100, "t1": 100, "t2": 100}
    path.write_text(json.dumps([*documents, {"step": 301, "long": "y" * 500}], indent=1))
    assert read(path)[2]["t0"] == whole[2]["t0"]
    assert isinstance(read(path)[2]["(file)"][0].value, Unreadable)
