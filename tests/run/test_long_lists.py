"""Long lists are recorded by what was added, and nothing that happens to them is missed."""

from __future__ import annotations

import copy
from typing import Annotated, Any, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keepset as ks
from keepset.delta import rolled
from keepset.errors import PolicyError
from tests.delta.values import VALUES, mutated, same

SECRET = "sk-proj-" + "a8Fk2Lq9" * 6
TEXT = "a message of some length, as they are; " * 30


class Log(TypedDict, total=False):
    log: Annotated[list[Any], ks.Keep()]


class Growing(TypedDict, total=False):
    log: Annotated[list[Any], ks.Keep(append_only=True)]


def long_log(count: int = 60) -> list[Any]:
    return [{"content": f"{TEXT} {number}", "raw": b"\xc4"} for number in range(count)]


def begun(store: Any, contract: Any, log: list[Any]) -> Any:
    """A run whose list was saved often enough for its picture to be in chunks."""
    run = store.run(contract, "r")
    for _ in range(3):
        run.save("begin", {"log": log})
        log.append({"content": "short"})
    run.save("begin", {"log": log})
    return run


def exact(value: Any) -> str:
    return repr(value)


CHANGES: list[Any] = [
    lambda log: log[30].update(raw=bytearray(b"\xc4")),
    lambda log: log[0].update(content="other"),
    lambda log: log[30].update(content=[1.0]),
    lambda log: log.pop(),
    lambda log: log.pop(0),
    lambda log: log.clear(),
    lambda log: log.insert(7, None),
    lambda log: log.extend(long_log(40)),
    lambda log: log.append("x" * 70_000),
    lambda log: log.__setitem__(slice(3, 50), [(1, 2)]),
    lambda log: log.append({"lone": "\ud800", 3: {4}}),
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_a_long_list_is_stored_exactly(change: Any) -> None:
    log = long_log()
    with ks.open("memory:") as store:
        run = begun(store, Log, log)
        before = exact(log)
        old = run.history(1)[0].id
        change(log)
        run.save("changed", {"log": log})
        log.append("after")
        run.save("after", {"log": log})
        assert exact(store.run(Log, "r").state["log"]) == exact(log)
        assert exact(run.at(old).values["log"]) == before
        assert store.verify().problems == ()


@pytest.mark.parametrize("change", CHANGES[:7])
def test_a_fork_of_a_long_list_goes_its_own_way(change: Any) -> None:
    log = long_log()
    with ks.open("memory:") as store:
        run = begun(store, Log, log)
        child = run.fork(run.history(1)[0].id)
        other = child.state["log"]
        change(other)
        child.save("child", {"log": other})
        run.save("parent", {"log": [*log, "parent"]})
        child.save("child", {"log": [*other, "child"]})
        assert exact(child.at(child.history(1)[0].id).values["log"]) == exact([*other, "child"])
        assert exact(run.at(run.history(1)[0].id).values["log"]) == exact([*log, "parent"])


def test_a_secret_in_a_long_list_is_withheld_and_stays_so_while_the_list_grows() -> None:
    log = long_log()
    with ks.open("memory:") as store:
        run = begun(store, Log, log)
        log += [{"content": f"my key is {SECRET}, and"}, {"key": SECRET}, "plain"]
        run.save("secret", {"log": log})
        kinds = [finding.path for finding in run.findings]
        assert kinds == [("log", 63, "content"), ("log", 64, "key")]
        for number in range(70):
            log.append(f"more {number}")
            run.save("more", {"log": log})
        assert [finding.path for finding in run.findings] == kinds
        stored = store.run(Log, "r").state["log"]
        assert stored[63] == {"content": "my key is [withheld: secret.format], and"}
        assert isinstance(stored[64]["key"], ks.Withheld)
        assert exact(stored[65:]) == exact(log[65:])
        log[3]["content"] = "changed"
        run.save("changed", {"log": log})
        assert SECRET not in exact(store.run(Log, "r").state["log"])
        assert store.run(Log, "r").state["log"][3]["content"] == "changed"


@pytest.mark.parametrize("change", CHANGES[1:2] + CHANGES[3:6])
def test_a_long_list_that_is_to_grow_only_is_refused_when_it_does_not(change: Any) -> None:
    log = long_log()
    with ks.open("memory:") as store:
        run = begun(store, Growing, log)
        kept = [*map(dict, log)]
        change(log)
        with pytest.raises(PolicyError) as refused:
            run.save("changed", {"log": log})
        assert refused.value.code == "policy.append-only"
        run.save("grown", {"log": [*kept, "more"]})
        assert exact(store.run(Growing, "r").state["log"]) == exact([*kept, "more"])


def test_samples_find_a_changed_item_in_the_middle_after_some_saves() -> None:
    log = long_log()
    with ks.open("memory:") as store:
        run = begun(store, Growing, log)
        log[25]["content"] = "changed"

        def grow() -> None:
            for number in range(100):
                run.save("grown", {"log": [*log, *range(number)]})

        with pytest.raises(PolicyError) as refused:
            grow()
        assert refused.value.code == "policy.append-only"


def test_a_mode_that_only_observes_stores_what_has_changed_in_a_list_that_is_to_grow_only() -> None:
    log = long_log()
    with ks.open("memory:", mode="observe") as store:
        run = begun(store, Growing, log)
        log[25]["content"] = "changed"
        run.save("changed", {"log": log})
        assert exact(store.run(Growing, "r").state["log"]) == exact(log)


def test_a_refused_save_leaves_a_long_list_as_it_was_remembered() -> None:
    log = long_log()
    with ks.open("memory:") as store:
        run = begun(store, Log, log)
        with pytest.raises(PolicyError, match=r"log\[63\]\.bad"):
            run.save("refused", {"log": [*log, {"bad": object()}]})
        log.append("good")
        run.save("good", {"log": log})
        assert exact(store.run(Log, "r").state["log"]) == exact(log)


@settings(max_examples=120, deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=8), st.data())
def test_whatever_happens_to_a_list_every_checkpoint_holds_what_it_was(
    log: list[Any], data: Any
) -> None:
    with pytest.MonkeyPatch.context() as patch, ks.open("memory:") as store:
        patch.setattr(rolled, "CHUNK", 8)
        run = store.run(Log, "r")
        expected: dict[str, Any] = {}
        for _ in range(8):
            expected[run.save("step", {"log": log}).id] = copy.deepcopy(log)
            made = mutated(data.draw, log) if data.draw(st.booleans()) else [*log, "more"]
            log = made if type(made) is list else log
        run.save("step", {"log": log})
        for own, value in expected.items():
            assert same(run.at(own).values["log"], value)
        assert same(store.run(Log, "r").state["log"], log)
