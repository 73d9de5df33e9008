"""A run whose lease was taken before it has a checkpoint, and checkpoints on their way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.errors import ConflictError
from keepset.plan.rows import WriteRow
from keepset.run.hosted.underway import Early, Underway
from tests.run.hosts import Host
from tests.run.leased import elsewhere, until


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[tuple[Host, ks.Store]]:
    """A host that has taken the lease of a run that was not there, and another process's store."""
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with ks.open(url) as store, ks.open(url) as other:
        host = Host(store)
        host.take()
        yield host, other


def test_the_first_checkpoint_of_a_run_that_was_begun_lands_and_is_found(
    begun: tuple[Host, ks.Store],
) -> None:
    host, other = begun
    assert host.newest() is None
    host.append("c0", "", {"count": 0}, follows=True, leased=True)
    host.append("c1", "c0", {"count": 1}, follows=True, leased=True)
    for one in (host, Host(other)):
        found = one.newest()
        assert found is not None
        assert found.values == {"count": 1}
    assert other.verify().problems == ()


def saved(other: ks.Store) -> None:
    other.break_lease("r")
    Host(other).append("x0", "", {"count": 7}, follows=True)


def saved_and_deleted(other: ks.Store) -> None:
    saved(other)
    other.delete("r")


@pytest.mark.parametrize(
    ("happens", "code"),
    [(saved, "conflict.two-writers"), (saved_and_deleted, "conflict.deleted")],
)
def test_what_became_of_a_begun_run_meanwhile_is_noticed_by_its_first_checkpoint(
    begun: tuple[Host, ks.Store], happens: Callable[[ks.Store], None], code: str
) -> None:
    host, other = begun
    happens(other)
    with pytest.raises(ConflictError) as refused:
        host.append("c0", "", {"count": 0}, follows=True, leased=True)
    assert refused.value.code == code
    assert host.at("c0") is None
    assert other.verify().problems == ()


def test_a_run_that_was_begun_and_given_up_is_begun_anew_by_the_next(
    begun: tuple[Host, ks.Store],
) -> None:
    host, other = begun
    host.give_back()
    host.take()
    host.append("c0", "", {"count": 0}, follows=True, leased=True)
    assert Host(other).newest() is not None


def test_what_another_one_saves_after_a_begun_run_was_given_up_is_found(
    begun: tuple[Host, ks.Store],
) -> None:
    host, other = begun
    host.give_back()
    Host(other).append("x0", "", {"count": 7})
    found = host.newest()
    assert found is not None
    assert found.values == {"count": 7}


def test_an_execution_that_is_dropped_ends_its_lease_of_a_run_that_was_begun(
    begun: tuple[Host, ks.Store],
) -> None:
    host, other = begun
    host.holding = host.services.leases.holding(host.known.key, is_open=False)
    later = Host(other)
    until(lambda: elsewhere(later.take) is None)
    later.append("x0", "", {"count": 7}, leased=True)
    found = host.newest()
    assert found is not None
    assert found.values == {"count": 7}


ROW = WriteRow("task", "", 0, "draft", b"\xa1x")
EARLY: Early = ((ROW,), ())


def test_writes_wait_for_a_checkpoint_that_is_on_its_way_and_for_no_other() -> None:
    underway = Underway()
    assert not underway.meet("", "c0", EARLY)
    underway.expect("", "c0")
    assert underway.meet("", "c0", EARLY)
    assert not underway.meet("inner", "c0", EARLY)
    assert underway.arrived("", "c0") == [EARLY]
    assert not underway.meet("", "c0", EARLY)
    assert underway.arrived("", "c0") == []


def test_writes_do_not_wait_for_a_checkpoint_that_has_landed_before_it_is_told() -> None:
    underway = Underway()
    underway.expect("", "c0")
    underway.land(("", "c0"))
    assert not underway.meet("", "c0", EARLY)


def test_who_waits_for_writes_on_their_way_is_told_when_they_are_there() -> None:
    underway = Underway()
    with underway.coming("", "c0"):
        with underway.coming("", "c0"):
            ends: list[Any] = underway.on_their_way("", "c0")
            assert len(ends) == 2
        assert [end.done() for end in ends].count(True) == 1
    assert all(end.done() for end in ends)
    assert underway.on_their_way("", "c0") == []


def test_a_lease_that_is_taken_away_while_it_is_on_its_way_is_not_held(
    begun: tuple[Host, ks.Store],
) -> None:
    host, _ = begun
    late = host.holding.wants(works=True, claimed=False)
    host.services.leases.lose(host.known.key)
    host.holding.landed(late)
    assert not host.holding.held
    assert elsewhere(Host(ks.Store(host.services)).take) is None
