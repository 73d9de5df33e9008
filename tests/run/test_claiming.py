"""Flows of one process that write to a run at the same moment do not take it from each other."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import wait
from typing import Any

import keepset as ks
from keepset.plan.requests import Wait
from keepset.plan.writes import Claim
from keepset.run.pending import Batch
from tests.run.hosts import Host


def opened(store: ks.Store) -> Host:
    """A host of a run that another process has claimed last."""
    host = Host(store)
    host.look()
    return host


def writing(host: Host, task: str) -> Generator[Any, Any, None]:
    return host.writer.write("", "c0", Batch(task, [("count", 1)]), host.surface, early=False)


def until(host: Host, flow: Generator[Any, Any, None], answer: Any, *kinds: type) -> Any:
    """Go on with a flow up to a request of some kinds; None at its end."""
    try:
        request = flow.send(answer)
        while not isinstance(request, kinds):
            request = flow.send(host.backend.execute(request))
    except StopIteration:
        return None
    return request


def test_a_run_is_claimed_once_however_many_tasks_write_at_the_same_moment() -> None:
    with ks.open("memory:") as store:
        Host(store).append("c0", "", {"count": 0})
        host = opened(store)
        first, second = writing(host, "a"), writing(host, "b")
        claim = until(host, first, None, Claim)
        waiting = until(host, second, None, Claim, Wait)
        assert isinstance(waiting, Wait)
        assert until(host, first, host.backend.execute(claim), Claim, Wait) is None
        assert until(host, second, wait((waiting.work,), 0), Claim, Wait) is None
        stored = host.at("c0")
        assert stored is not None
        assert [write.task for write in stored.writes] == ["a", "b"]


def test_a_flow_whose_claim_does_not_come_to_an_end_holds_up_no_other_one_for_ever() -> None:
    with ks.open("memory:") as store:
        Host(store).append("c0", "", {"count": 0})
        host = opened(store)
        stuck, other = writing(host, "a"), writing(host, "b")
        until(host, stuck, None, Claim)
        waiting = until(host, other, None, Claim, Wait)
        claim = until(host, other, wait((waiting.work,), 0), Claim, Wait)
        assert isinstance(claim, Claim)
        assert until(host, other, host.backend.execute(claim), Claim, Wait) is None
        stuck.close()
        assert until(host, writing(host, "c"), None, Claim, Wait) is None
