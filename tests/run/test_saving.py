"""A run gives back what was saved, at every checkpoint, on every line."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.errors import ConflictError, NotFoundError, PolicyError, UsageError
from tests.run.states import Chat, Item


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'runs.db'}"


def message(number: int) -> dict[str, Any]:
    return {"role": "user", "content": f"message {number} " + "word " * 20, "id": number}


def test_a_run_without_a_checkpoint_has_no_state(url: str) -> None:
    with ks.open(url) as store:
        assert store.run(Chat, "r").state is None


def test_what_was_saved_comes_back_equal_and_of_the_same_types(url: str) -> None:
    state: Chat = {"question": "why?", "items": [Item("a", ["x"])], "count": True}
    with ks.open(url) as store:
        store.run(Chat, "r").save("one", state)
        again = store.run(Chat, "r").state
    assert again == state
    assert type(again["count"]) is bool
    assert type(again["items"][0]) is Item


def test_every_checkpoint_of_a_long_run_can_be_read_again(url: str) -> None:
    state: dict[str, Any] = {"messages": [], "flags": {}, "draft": "", "count": 0}
    expected: dict[str, Any] = {}
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        for number in range(200):
            state["messages"].append(message(number))
            state["flags"][f"flag {number % 7}"] = number % 2 == 0
            state["draft"] = f"draft {number} " + "text " * (number % 30)
            state["count"] = number
            if number % 50 == 49:
                del state["messages"][:40]
            expected[run.save("step", state).id] = copy.deepcopy(state)
        reader = store.run(Chat, "r")
        assert reader.state == state
        assert {c.id: reader.at(c.id).values for c in reader.history()} == expected
        assert store.verify().problems == ()
        assert store.verify().checkpoints == 200


def test_a_value_changed_in_place_after_a_save_shows_only_in_the_next_checkpoint(url: str) -> None:
    state: dict[str, Any] = {"anything": {"deep": [{"deeper": [1, {"value": 1}]}]}}
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        first = run.save("one", state)
        state["anything"]["deep"][0]["deeper"][1]["value"] = True
        second = run.save("two", state)
        assert run.at(first.id).values["anything"]["deep"][0]["deeper"][1]["value"] == 1
        value = run.at(second.id).values["anything"]["deep"][0]["deeper"][1]["value"]
    assert value is True


def test_a_resumed_state_changed_in_place_before_the_first_save_is_noticed(url: str) -> None:
    with ks.open(url) as store:
        store.run(Chat, "r").save("one", {"messages": [message(0)]})
        run = store.run(Chat, "r")
        state = run.state
        state["messages"][0]["content"] = "changed"
        run.save("two", state)
        assert store.run(Chat, "r").state["messages"][0]["content"] == "changed"


def test_a_field_that_goes_away_is_absent_from_then_on_and_may_come_back(url: str) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        run.save("one", {"question": "q", "draft": "d"})
        run.save("two", {"question": "q"})
        assert store.run(Chat, "r").state == {"question": "q"}
        run.save("three", {"question": "q", "draft": "d"})
        assert store.run(Chat, "r").state == {"question": "q", "draft": "d"}


def test_a_fork_has_its_own_future_and_shares_its_past(url: str) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        ids = [run.save("step", {"count": n, "messages": [message(n)] * n}).id for n in range(100)]
        fork = run.fork(ids[70])
        assert fork.state["count"] == 70
        fork.save("other", {"count": -1, "messages": [message(70)] * 70})
        run.save("step", {"count": 100})
        assert [c.seq for c in fork.history(3)] == [72, 71, 70]
        assert fork.history(1)[0].parent == ids[70]
        assert run.state == {"count": 100}
        assert fork.at(ids[99]).values["count"] == 99
        assert store.run(Chat, "r").state["count"] == -1, "a new reader is on the newest line"
        assert store.run(Chat, "r", branch=0).state == {"count": 100}
        assert store.run(Chat, "r").fork(ids[3]).history(1)[0].id == ids[3]
        assert store.verify().problems == ()


def test_forks_of_forks_stay_readable_at_any_depth(url: str) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        last = run.save("root", {"draft": "x" * 500, "count": 0})
        for depth in range(1, 9):
            run = run.fork(last.id)
            last = run.save("fork", {"draft": "x" * 500 + "y" * depth, "count": depth})
        assert store.run(Chat, "r").state == {"draft": "x" * 500 + "y" * 8, "count": 8}
        assert [c.step for c in run.history()] == ["fork"] * 8 + ["root"]
        assert store.verify().problems == ()


def test_large_values_are_stored_once_for_a_run(tmp_path: Path) -> None:
    large = "".join(f"{n:x} " for n in range(60_000))
    with ks.open(f"sqlite:///{tmp_path / 'a.db'}") as store:
        run = store.run(Chat, "r")
        for number in range(50):
            run.save("step", {"draft": large, "anything": [large], "count": number})
        assert store.run(Chat, "r").state["anything"] == [large]
        sizes = dict(store.stats().bytes_by_field)
        assert 0 < sizes["blobs"] < 2 * len(large)
        assert sum(sizes.values()) - sizes["blobs"] < 50_000


def test_two_equal_large_values_do_not_become_one_object(url: str) -> None:
    large = [{"text": "z" * 70_000}]
    with ks.open(url) as store:
        store.run(Chat, "r").save("one", {"anything": [copy.deepcopy(large), copy.deepcopy(large)]})
        state = store.run(Chat, "r").state
        state["anything"][0][0]["text"] = "changed"
        assert state["anything"][1] == large


def test_the_second_of_two_writers_of_one_run_is_refused_and_nothing_is_lost(url: str) -> None:
    with ks.open(url) as store:
        store.run(Chat, "r").save("zero", {"count": 0})
        first, second = store.run(Chat, "r"), store.run(Chat, "r")
        assert first.state == second.state
        first.save("one", {"count": 1})
        with pytest.raises(ConflictError):
            second.save("one", {"count": 2})
        assert store.run(Chat, "r").state == {"count": 1}
        first.save("two", {"count": 3})


def test_a_writer_that_loaded_before_a_deletion_cannot_bring_the_run_back(url: str) -> None:
    with ks.open(url) as store:
        late, never_loaded = store.run(Chat, "r"), store.run(Chat, "r")
        late.save("one", {"count": 1})
        assert store.delete("r")
        with pytest.raises(ConflictError) as refused:
            late.save("two", {"count": 2})
        assert refused.value.code == "conflict.deleted"
        assert store.runs() == []
        never_loaded.save("one", {"count": 3})
        assert store.run(Chat, "r").state == {"count": 3}


def test_a_value_of_an_unknown_type_is_refused_with_its_path_and_the_run_goes_on(url: str) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        run.save("one", {"count": 1})
        with pytest.raises(PolicyError, match=r"anything\[0\]\.client"):
            run.save("two", {"count": 2, "anything": [{"client": object()}]})
        run.save("two", {"count": 3})
        assert [c.seq for c in run.history()] == [2, 1]


def test_metadata_is_kept_beside_the_state(url: str) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        saved = run.save("one", {"count": 1}, status="paused", metadata={"score": 0.5, "n": [1]})
        (read,) = run.history()
        assert read == saved
        assert read.metadata == {"score": 0.5, "n": [1]}
        assert store.runs(status="paused")[0].checkpoint == saved.id


@pytest.mark.parametrize("name", ["", "x" * 513, "a\0b", "\ud800", 7])
def test_a_run_id_that_no_database_can_hold_is_refused(name: Any) -> None:
    with ks.open("memory:") as store, pytest.raises(UsageError):
        store.run(Chat, name)


def test_a_checkpoint_that_is_not_there_is_named(url: str) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        run.save("one", {"count": 1})
        with pytest.raises(NotFoundError, match="no-such-id"):
            run.at("no-such-id")


@pytest.mark.parametrize("claimed", [True, False])
def test_a_run_goes_on_while_others_prune_it(url: str, *, claimed: bool) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        state: dict[str, Any] = {"messages": []}
        for number in range(150):
            state["messages"].append(message(number))
            run.save("step", state)
        if not claimed:
            run = store.run(Chat, "r")
            state = run.state
        for number in range(150, 300):
            if number % 25 == 0:
                assert store.prune("r", keep_latest=3).kept == 3
            state["messages"].append(message(number))
            run.save("step", state)
        assert store.run(Chat, "r").state == state
        assert store.verify().problems == ()
        assert len(run.history()) == 28


def test_a_fork_without_a_step_of_its_own_survives_a_pruning_of_its_past(url: str) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        ids = [run.save("step", {"count": n}).id for n in range(100)]
        fork = run.fork(ids[30])
        assert store.prune("r", keep_latest=1).kept == 2
        assert store.run(Chat, "r").state == {"count": 30}
        fork.save("other", {"count": -1})
        assert store.run(Chat, "r").state == {"count": -1}
        assert store.verify().problems == ()


def test_a_pruning_removes_the_text_of_what_goes_from_every_file(tmp_path: Path) -> None:
    with ks.open(f"sqlite:///{tmp_path / 'a.db'}", compression=False) as store:
        run = store.run(Chat, "r")
        for number in range(100):
            run.save("step", {"draft": f"planted <{number}>"})
        files = [file.read_bytes() for file in tmp_path.iterdir()]
        assert any(b"planted <17>" in data for data in files), "control"
        store.prune("r", keep_latest=1)
        data = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        assert b"planted <17>" not in data
        assert b"planted <99>" in data
