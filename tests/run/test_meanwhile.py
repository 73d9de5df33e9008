"""What others do between two requests of a reader is no damage."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.backends.port import Backend
from keepset.errors import IntegrityError, KeepsetError, NotFoundError
from keepset.plan.prune import Policy, Pruned
from keepset.plan.reads import Load, ReadBlobs, ReadHeaderPage, ReadHeaderSegments
from keepset.plan.requests import Flow
from keepset.plan.verify import verify_run
from keepset.run.pending import read_writes
from keepset.run.reader import Reader
from keepset.store.operations import prune_run
from tests.run.hosts import Host
from tests.run.states import Chat

A, B = "first " * 20_000, "second " * 20_000


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


def driven(
    flow: Flow[Any],
    backend: Backend,
    meanwhile: Callable[[], object],
    before: Callable[[object], bool] = lambda request: isinstance(request, ReadBlobs),
) -> Any:
    """Run a flow; do something once, just before it asks for large values or what is named."""
    answer: Any = None
    error: KeepsetError | None = None
    done = False
    try:
        while True:
            request: Any = flow.throw(error) if error else flow.send(answer)
            if not done and before(request):
                done = True
                meanwhile()
            answer = error = None
            try:
                answer = backend.execute(request)
            except KeepsetError as refused:
                error = refused
    except StopIteration as stop:
        assert done
        return stop.value


def saved(store: ks.Store) -> tuple[ks.Run, Reader]:
    run = store.run(Chat, "r")
    run.save("one", {"draft": A})
    run.save("two", {"draft": B})
    services = run.core.services
    return run, Reader(services, "r", services.inspector)


def test_a_run_that_is_pruned_while_it_is_verified_is_verified_as_it_then_is(url: str) -> None:
    with ks.open(url) as store:
        run, reader = saved(store)
        services = run.core.services
        flow = verify_run(reader.key, reader.mark, services.inspector)
        found = driven(flow, services.backend, lambda: store.prune("r", keep_latest=1))
        assert (found.problems, found.checkpoints) == ((), 1)


def test_a_run_that_is_deleted_while_it_is_verified_is_no_problem(url: str) -> None:
    with ks.open(url) as store:
        run, reader = saved(store)
        services = run.core.services
        flow = verify_run(reader.key, reader.mark, services.inspector)
        found = driven(flow, services.backend, lambda: store.delete("r"))
        assert (found.runs, found.problems) == (0, ())


def test_a_run_that_goes_on_and_is_pruned_while_it_is_loaded_is_loaded_as_it_then_is(
    url: str,
) -> None:
    with ks.open(url) as store:
        run, reader = saved(store)

        def go_on() -> None:
            run.save("three", {"draft": "short"})
            store.prune("r", keep_latest=1)

        _, _, values = driven(reader.load(), run.core.services.backend, go_on)
        assert values == {"draft": "short"}


def test_a_large_value_that_is_really_gone_is_told(url: str, tmp_path: Path) -> None:
    with ks.open(url) as store:
        run, reader = saved(store)
        services = run.core.services

        def damage() -> None:
            with closing(sqlite3.connect(tmp_path / "runs.db")) as other, other:
                other.execute("DELETE FROM blob")

        flow = verify_run(reader.key, reader.mark, services.inspector)
        found = driven(flow, services.backend, damage)
        assert [problem.code for problem in found.problems] == ["blob.missing"]


def test_a_run_that_is_pruned_while_it_is_pruned_is_pruned_as_it_then_is(url: str) -> None:
    with ks.open(url) as store:
        run, _ = saved(store)
        run.save("three", {"draft": "short"})
        services = run.core.services
        flow = prune_run(services, "r", Policy(2, None, None))
        found = driven(flow, services.backend, lambda: store.prune("r", keep_latest=1))
        assert found == Pruned(0, 1)


def test_a_run_that_is_deleted_while_it_is_pruned_is_not_there(url: str) -> None:
    with ks.open(url) as store:
        run, _ = saved(store)
        services = run.core.services
        flow = prune_run(services, "r", Policy(1, None, None))
        with pytest.raises(NotFoundError) as caught:
            driven(flow, services.backend, lambda: store.delete("r"))
        assert caught.value.code == "run.not-found"


def test_a_large_value_that_is_really_gone_is_no_reason_to_prune_again(
    url: str, tmp_path: Path
) -> None:
    with ks.open(url) as store:
        run, _ = saved(store)
        with closing(sqlite3.connect(tmp_path / "runs.db")) as other, other:
            other.execute("DELETE FROM blob")
        with pytest.raises(IntegrityError) as caught:
            store.prune(run.id, keep_latest=1)
        assert caught.value.code == "blob.missing"


def test_pending_writes_that_are_pruned_while_they_are_read_are_gone_and_not_damaged(
    url: str,
) -> None:
    with ks.open(url) as store:
        run, _ = saved(store)
        first = run.history()[-1]
        run.put_writes(first, "task", [("draft", A + "more")])
        flow = read_writes(run.core, first.id)
        backend = run.core.services.backend
        with pytest.raises(NotFoundError) as caught:
            driven(flow, backend, lambda: store.prune("r", keep_latest=1))
        assert caught.value.code == "checkpoint.not-found"


def test_a_host_reads_a_pending_write_whose_value_lay_in_a_step_that_is_pruned_meanwhile(
    url: str,
) -> None:
    with ks.open(url) as store:
        host = Host(store)
        items = [{"text": f"{number} " + "word " * 20} for number in range(42)]
        for number in range(40):
            parent = f"c{number - 1}" if number else ""
            values = {"messages": items[: number + 1]}
            host.append(f"c{number}", parent, values, follows=bool(number))
            host.write(f"c{number}", "task", [("messages", [items[number + 1]])])
        loads = count()
        stored = driven(
            Host(store).reader.at("", "c4", host.surface),
            host.backend,
            lambda: store.prune("r", every=5),
            lambda request: isinstance(request, Load) and next(loads) == 1,
        )
        assert [write.value for write in stored.writes] == [[items[5]]]


def test_a_checkpoint_that_stays_is_found_while_its_run_is_pruned(url: str) -> None:
    with ks.open(url) as store:
        run = store.run(Chat, "r")
        tenth = [run.save("step", {"draft": f"{number}"}) for number in range(40)][9]
        services = run.core.services
        flow = Reader(services, "r", services.inspector).at(tenth.id)
        view = driven(
            flow,
            services.backend,
            lambda: store.prune("r", every=10),
            lambda request: isinstance(request, ReadHeaderSegments | ReadHeaderPage),
        )
        assert view.values == {"draft": "9"}


def test_a_checkpoint_never_shows_what_another_run_of_its_name_holds(url: str) -> None:
    with ks.open(url) as store:
        run, reader = saved(store)
        first = run.history()[-1]

        def begin_again() -> None:
            store.delete("r")
            store.run(Chat, "r").save("one", {"draft": "of another"})

        with pytest.raises(NotFoundError) as caught:
            driven(
                reader.at(first.id),
                run.core.services.backend,
                begin_again,
                lambda request: isinstance(request, Load),
            )
        assert caught.value.code == "checkpoint.not-found"


def test_a_host_reads_the_newest_checkpoint_of_a_run_that_is_pruned_meanwhile(url: str) -> None:
    with ks.open(url) as store:
        host = Host(store)
        host.append("c1", "", {"draft": "one"})
        host.write("c1", "task", [("draft", A)])

        def go_on() -> None:
            other = Host(store)
            other.append("c2", "c1", {"draft": "two"})
            store.prune("r", keep_latest=1)

        flow = host.reader.newest("", host.surface, keep=False)
        stored = driven(flow, host.backend, go_on)
        assert (stored.header.checkpoint, stored.values) == ("c2", {"draft": "two"})
