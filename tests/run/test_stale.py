"""Who knows too little is refused by name, also where it has to load again before it finds out."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest

import keepset as ks
from keepset.errors import ConflictError, PolicyError
from tests.run.states import Chat


class Log(TypedDict):
    """A list that only grows."""

    lines: Annotated[list[str], ks.Keep(append_only=True)]


@pytest.mark.parametrize("begun_anew", [False, True])
@pytest.mark.parametrize("forgotten", [False, True])
def test_a_run_that_was_deleted_is_refused_as_deleted(*, begun_anew: bool, forgotten: bool) -> None:
    """Also where it had to forget what it remembered, and finds nothing, or another life, there."""
    with ks.open("memory:") as store:
        run = store.run(Chat, "r")
        run = run.fork(run.save("one", {"count": 1}))
        run.save("two", {"count": 1})
        store.delete("r")
        if begun_anew:
            store.run(Chat, "r").save("new", {"count": 2})
        if forgotten:
            assert run.core.forget()
        with pytest.raises(ConflictError) as caught:
            run.save("late", {"count": 3})
        assert caught.value.code == "conflict.deleted"
        assert store.run(Chat, "r").state == ({"count": 2} if begun_anew else None)


@pytest.mark.parametrize("pruned", [False, True])
def test_a_list_that_is_to_grow_only_is_held_to_it_where_it_is_written_whole(
    *, pruned: bool
) -> None:
    """A fork of many forks, and one whose past was pruned, begin with every field whole."""
    with ks.open("memory:") as store:
        run = store.run(Log, "r")
        state: dict[str, Any] = {"lines": ["a", "b"]}
        saved = run.save("one", state)
        for _ in range(1 if pruned else 4):
            run = run.fork(saved)
            saved = saved if pruned else run.save("more", state)
        if pruned:
            store.run(Log, "r", branch=0).save("two", state)
            store.run(Log, "r", branch=0).save("three", state)
            assert store.prune("r", keep_latest=1).removed
            run = store.run(Log, "r")
        else:
            run = run.fork(saved)
        with pytest.raises(PolicyError) as caught:
            run.save("broken", {"lines": ["a", "changed"]})
        assert caught.value.code == "policy.append-only"
        run.save("grown", {"lines": ["a", "b", "c"]})
        assert store.run(Log, "r").state == {"lines": ["a", "b", "c"]}
