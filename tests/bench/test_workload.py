"""The histories: the same everywhere, and as large as the page on performance says."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from itertools import pairwise
from pydoc_data.topics import topics
from statistics import mean

import pytest

from keepset.cli.bench.sizes import changed
from keepset.cli.bench.workload import (
    DOCUMENT,
    FLAGS,
    IDS,
    MAKERS,
    WINDOW,
    Chain,
    History,
    drafts,
    lean,
    naive,
    rare,
    trim,
)
from keepset.codec import Codec

DIGEST = """
import hashlib
import sys
from keepset.cli.bench.sizes import changed
from keepset.cli.bench.workload import MAKERS
print(hashlib.sha256(b"".join(changed(MAKERS[sys.argv[1]](7)))).hexdigest())
"""


def _digest(history: History) -> str:
    return hashlib.sha256(b"".join(changed(history))).hexdigest()


@pytest.mark.parametrize("name", MAKERS)
def test_a_history_is_the_same_in_every_process(name: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", DIGEST, name],
        env={**os.environ, "PYTHONHASHSEED": "4711"},
        capture_output=True,
        check=True,
        text=True,
    )
    assert run.stdout.strip() == _digest(MAKERS[name](7))


def test_another_seed_tells_another_story() -> None:
    assert Chain(1).text(200) == Chain(1).text(200)
    assert Chain(1).text(200) != Chain(2).text(200)


def test_every_word_follows_two_others_as_it_does_in_the_topics() -> None:
    words = [word for name in sorted(topics) for word in topics[name].split()]
    known = set(zip(words, words[1:], words[2:], strict=False))
    written = Chain().text(6_000).split()[:-1]
    triples = list(zip(written, written[1:], written[2:], strict=False))
    assert sum(triple not in known for triple in triples) <= 3  # where the source itself ends
    assert len(set(triples)) > len(triples) / 2


def test_a_lean_step_adds_a_message_and_sets_the_counter_and_one_of_200_flags() -> None:
    history = lean(30)
    for number, change in enumerate(history.changes, 1):
        assert set(change) == {"messages", "counter", "flags"}
        assert len(change["messages"]) == 1
        assert change["counter"] == number
        assert len(change["flags"]) == 1
    for before, after in pairwise(map(history.after, range(5))):
        differ = [name for name in before["flags"] if before["flags"][name] != after["flags"][name]]
        assert len(differ) == 1


def test_a_lean_state_has_a_short_question_forty_ids_and_messages_of_a_good_kilobyte() -> None:
    history = lean(50)
    assert len(history.start["question"]) == 120
    assert len(set(history.start["ids"])) == IDS == 40
    assert len(history.start["flags"]) == FLAGS == 200
    messages = history.after(50)["messages"]
    assert 1_250 < mean(len(Codec().pack(message)) for message in messages) < 1_350
    assert sum("usage_metadata" in message for message in messages) == 25
    assert len({message["id"] for message in messages}) == 50


def test_naive_is_lean_with_forty_documents_and_the_whole_response() -> None:
    history, plain = naive(3), lean(3)
    assert [len(one["text"]) for one in history.start["documents"]] == [DOCUMENT] * 40
    for change, less in zip(history.changes, plain.changes, strict=True):
        assert {name: change[name] for name in less} == less
        content = change["response"]["choices"][0]["message"]["content"]
        assert content == change["messages"][0]["content"]


def test_drafts_are_written_anew_in_each_step() -> None:
    texts = [change["draft"] for change in drafts(5).changes]
    assert [len(text) for text in texts] == [20_000] * 5
    assert len({text[:500] for text in texts}) == 5


@pytest.mark.parametrize("steps", [40, 200])
def test_the_rare_field_changes_twenty_times_whatever_the_length(steps: int) -> None:
    history = rare(steps)
    assert sum("notes" in change for change in history.changes) == 20
    assert all("counter" in change for change in history.changes)


def test_trim_drops_the_head_and_adds_a_tail() -> None:
    history = trim(4)
    before, after = history.after(3)["messages"], history.after(4)["messages"]
    assert len(before) == len(after) == WINDOW
    assert before[1:] == after[:-1]
    assert before[0] != after[-1]


def test_a_state_that_is_changed_in_place_leaves_the_history_alone() -> None:
    history = lean(3)
    digest = _digest(history)
    state = history.begin()
    for change in history.changes:
        history.apply(state, change)
    state["flags"].clear()
    state["messages"].clear()
    assert _digest(history) == digest
    assert len(history.after(3)["messages"]) == 3
