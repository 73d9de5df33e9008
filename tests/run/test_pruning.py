"""Pruning keeps what stays readable, whatever the run is doing meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.errors import ConflictError, NotFoundError, UsageError
from tests.run.states import Chat


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'runs.db'}"


def test_a_text_that_grew_large_by_and_by_survives_a_pruning(url: str) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        state: dict[str, Any] = {"draft": "", "anything": [{"text": ""}]}
        for number in range(30):
            state["draft"] += f"{number} " + "word " * 800
            state["anything"][0]["text"] += "text " * 800
            run.save("step", state)
        store.prune("r", keep_latest=2)
        assert store.run(Chat, "r").state == state
        assert store.verify().problems == ()


def test_a_large_value_in_pieces_survives_a_pruning_and_its_pieces_go_with_it(url: str) -> None:
    image, output = "i" * 90_000, "one line of a tool, " * 5_000
    with ks.open(url, compression=False) as store:
        run = store.run(Chat, "r")
        for number in range(6):
            run.save("step", {"anything": [{"n": number, "image": image, "log": output}]})
        kept = {"anything": [{"n": 6, "image": image}]}
        run.save("step", kept)
        before = dict(store.stats().bytes_by_field)["blobs"]
        store.prune("r", keep_latest=2)
        assert store.run(Chat, "r").state == kept
        assert store.verify().problems == ()
        store.prune("r", keep_latest=1)
        assert store.run(Chat, "r").state == kept
        assert dict(store.stats().bytes_by_field)["blobs"] < before - len(output) + 1_000
        run.save("again", kept)
        assert store.verify().problems == ()


def test_large_values_that_nothing_refers_to_any_more_go(url: str) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        for number in range(5):
            run.save("step", {"anything": [chr(65 + number) * 100_000]})
        before = dict(store.stats().bytes_by_field)["blobs"]
        store.prune("r", keep_latest=1)
        assert dict(store.stats().bytes_by_field)["blobs"] < before
        assert store.run(Chat, "r").state == {"anything": ["E" * 100_000]}


def test_a_large_pending_write_stays_with_its_checkpoint(url: str) -> None:
    large = "z" * 100_000
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        first = run.save("one", {"count": 1})
        run.put_writes(first, "gone", [("draft", "y" * 100_000)])
        last = run.save("two", {"count": 2})
        run.put_writes(last, "stays", [("draft", large)])
        store.prune("r", keep_latest=1)
        assert [w.value for w in store.run(Chat, "r").writes(last)] == [large]
        assert store.verify().problems == ()


@pytest.mark.parametrize("claimed", [True, False])
def test_forks_and_writes_go_on_after_others_have_pruned(url: str, *, claimed: bool) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        ids = [run.save("step", {"count": n}).id for n in range(100)]
        if not claimed:
            run = store.run(Chat, "r")
            assert run.state == {"count": 99}
        store.prune("r", keep_latest=2)
        run.put_writes(ids[99], "task", [("count", 1)])
        store.prune("r", keep_latest=1)
        fork = run.fork(ids[99])
        fork.save("other", {"count": -1})
        with pytest.raises(NotFoundError):
            run.fork(ids[50])
        assert store.run(Chat, "r").state == {"count": -1}
        assert store.verify().problems == ()


@pytest.mark.parametrize(
    "policy", [{}, {"keep_latest": 0}, {"keep_latest": "a"}, {"every": 1.5}, {"older_than": 5}]
)
def test_a_policy_that_means_nothing_is_refused(policy: Any) -> None:
    with ks.open("memory:") as store:
        store.run(Chat, "r").save("one", {"count": 1})
        with pytest.raises(UsageError):
            store.prune("r", **policy)


def test_steps_whose_differences_are_huge_are_packed_early(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keepset.plan.packing.BYTES_PER_SEGMENT", 50_000)
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        for number in range(40):
            run.save("step", {"anything": [f"{number}:{item}" for item in range(800)]})
        fields = dict(store.stats().bytes_by_field)
        assert fields["anything"] > 0, "some steps are packed before there are 64"
        assert store.verify().problems == ()
        assert store.verify().checkpoints == 40


def test_a_writer_that_another_one_overtook_is_refused_after_a_pruning_too(url: str) -> None:
    with ks.open(url) as store:
        idle = store.run(Chat, "r")
        assert idle.state is None
        writer = store.run(Chat, "r")
        for number in range(70):
            writer.save("step", {"count": number})
        late = store.run(Chat, "r")
        assert late.state == {"count": 69}
        writer.save("step", {"count": 70})
        store.prune("r", keep_latest=2)
        for loser in (late, idle):
            with pytest.raises(ConflictError):
                loser.save("step", {"count": -1})
        writer.save("step", {"count": 71})
        assert store.run(Chat, "r").state == {"count": 71}
