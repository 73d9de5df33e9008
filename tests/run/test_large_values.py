"""Values of megabytes are saved and loaded in little memory; every change of them is noticed."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

import keepset as ks
from keepset.delta import Hashed
from keepset.errors import PolicyError
from keepset.plan.pieces import PIECE
from keepset.run.retention import Retention
from tests.run.states import Chat
from tests.scan.credentials import KINDS, Maker

SECRET = KINDS[min(KINDS)](Maker(5))


class Grows(TypedDict, total=False):
    log: Annotated[list[str], ks.Keep(append_only=True)]


def data(size: int, seed: str = "") -> bytes:
    """Bytes that do not repeat."""
    parts = (hashlib.sha256(f"{seed}{n}".encode()).digest() for n in range(size // 32 + 1))
    return b"".join(parts)[:size]


def text(size: int, seed: str = "") -> str:
    return data(size // 2 + 1, seed).hex()[:size]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def store(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ks.Store]:
    """A store whose runs may remember next to nothing."""
    monkeypatch.setattr(Retention.__init__, "__defaults__", (200_000,))
    with ks.open(f"sqlite:///{path}") as opened:
        yield opened


def loaded(path: Path) -> Any:
    with ks.open(f"sqlite:///{path}") as store:
        return store.run(Chat, "r").state


def stored(store: ks.Store) -> int:
    """Bytes of all that is stored."""
    return sum(size for _, size in store.stats().bytes_by_field)


def changed(value: Any) -> Any:
    """The value with a change in the middle of its last large part."""
    if isinstance(value, list):
        value[-1] = changed(value[-1])
        return value
    if isinstance(value, dict):
        last = next(reversed(value))
        value[last] = changed(value[last])
        return value
    middle = len(value) // 2
    return value[:middle] + value[middle + 1 :]


VALUES: dict[str, Callable[[], Any]] = {
    "bytes": lambda: data(3_000_000),
    "a text": lambda: text(3_000_000),
    "another alphabet": lambda: "шумел камыш " * 200_000,
    "a list": lambda: [text(900_000, f"{n}") for n in range(4)],
    "a mapping": lambda: {"id": 7, "page": data(900_000), "text": text(900_000)},
    "messages": lambda: [{"id": n, "page": data(400_000, f"{n}")} for n in range(5)],
}


@pytest.mark.parametrize("kind", VALUES)
def test_a_large_value_is_remembered_by_digest_and_every_change_is_noticed(
    store: ks.Store, path: Path, kind: str
) -> None:
    value = VALUES[kind]()
    run = store.run(Chat, "r")
    run.save("one", {"count": 1, "anything": value})
    assert store.services.retention.total < 200_000
    size = stored(store)
    run.save("two", {"count": 2, "anything": value})
    assert stored(store) - size < 1_000
    value = changed(value)
    run.save("three", {"count": 3, "anything": value})
    run.save("four", {"count": 4, "anything": value})
    assert store.services.retention.total < 200_000
    assert loaded(path) == {"count": 4, "anything": value}
    first = run.at(run.history()[-1].id).values
    assert first == {"count": 1, "anything": VALUES[kind]()}
    assert not store.verify().problems


def test_who_loads_a_large_value_remembers_it_by_digest_as_well(
    store: ks.Store, path: Path
) -> None:
    store.run(Chat, "r").save("one", {"anything": data(2_000_000), "count": 1})
    run = store.run(Chat, "r")
    state = run.state
    assert store.services.retention.total < 400_000
    memory = run.core._memory
    assert memory is not None
    assert isinstance(memory.fields["anything"].raw, Hashed)
    run.save("two", {**state, "count": 2})
    run.save("three", {**state, "anything": state["anything"] + b"more"})
    assert loaded(path)["anything"] == data(2_000_000) + b"more"


def test_of_a_new_version_only_pieces_that_are_new_are_stored(store: ks.Store) -> None:
    first = data(5 * PIECE)
    run = store.run(Chat, "r")
    run.save("one", {"anything": first})
    before = dict(store.stats().bytes_by_field)["blobs"]
    store.run(Chat, "r").save("two", {"anything": first + b"more"})
    after = dict(store.stats().bytes_by_field)["blobs"]
    assert before > 5 * PIECE
    assert after - before < PIECE + 10_000


def test_a_secret_in_a_large_value_is_withheld_each_time(store: ks.Store, path: Path) -> None:
    items = [text(300_000, f"{n}") for n in range(5)]
    run = store.run(Chat, "r")
    run.save("one", {"anything": items})
    items.append(f"{text(300_000)} {SECRET} and more")
    items.append("a short one")
    run.save("two", {"anything": items})
    items[0] += "!"
    run.save("three", {"anything": items})
    kept = loaded(path)["anything"]
    assert kept[:5] + kept[6:] == items[:5] + items[6:]
    assert kept[5] == items[5].replace(SECRET, "[withheld: secret.format]")
    assert SECRET.encode() not in path.read_bytes()


def test_a_large_list_that_was_declared_to_grow_only_is_held_to_it(store: ks.Store) -> None:
    items = [text(300_000, f"{n}") for n in range(3)]
    run = store.run(Grows, "g")
    run.save("one", {"log": items})
    items.append(text(300_000, "new"))
    run.save("two", {"log": items})
    items[1] = items[1][:-1] + "?"
    with pytest.raises(PolicyError) as caught:
        run.save("three", {"log": items})
    assert caught.value.code == "policy.append-only"
    assert not store.verify().problems


def test_a_large_value_survives_a_copy_a_fork_and_a_pruning(store: ks.Store, path: Path) -> None:
    run = store.run(Chat, "r")
    values = [data(3 * PIECE, "a") + data(PIECE, f"{n}") for n in range(4)]
    for n, value in enumerate(values):
        run.save("step", {"anything": value, "count": n})
    fork = run.fork(run.history()[1].id)
    fork.save("beside", {"anything": values[2] + b"x", "count": 9})
    before = dict(store.stats().bytes_by_field)["blobs"]
    assert store.prune("r", keep_latest=1).removed
    assert dict(store.stats().bytes_by_field)["blobs"] < before
    assert not store.verify().problems
    assert loaded(path)["anything"] == values[2] + b"x"
    store.delete("r")
    assert dict(store.stats().bytes_by_field)["blobs"] == 0


MEASURED = """
import os, re, sys
from typing import Any, TypedDict
import keepset as ks

class S(TypedDict):
    n: int
    v: Any

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def begin():
    open("/proc/self/clear_refs", "w").write("5")
    return resident()

kind, url, size = sys.argv[1], sys.argv[2], 32 << 20
noise = os.urandom(size)
v = {
    "bytes": lambda: noise,
    "text": lambda: "\\u0448\\u0443\\u043c\\u0435\\u043b " * (size // 11),
    "list": lambda: [noise[at : at + (1 << 20)].hex() for at in range(0, size // 2, 1 << 20)],
    "zeros": lambda: bytes(size),
}[kind]()
del noise
with ks.open(url) as store:
    run = store.run(S, "r")
    run.save("warm", {"n": 0, "v": os.urandom(200_000)})
    before = begin()
    run.save("one", {"n": 1, "v": v})
    print((peak() - before) / size)
    before = begin()
    run.save("two", {"n": 2, "v": v})
    print((peak() - before) / size)
del v
with ks.open(url) as store:
    before = begin()
    state = store.run(S, "r").state
    print((peak() - before) / max(size, sys.getsizeof(state["v"])))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for a process's memory")
@pytest.mark.parametrize("kind", ["bytes", "text", "list", "zeros"])
def test_a_save_and_a_load_take_little_more_memory_than_the_value(path: Path, kind: str) -> None:
    command = [sys.executable, "-c", MEASURED, kind, f"sqlite:///{path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    saved, again, read = map(float, done.stdout.split())
    assert saved < 2.6
    assert again < 1.3  # a picture of it, where it may be remembered
    assert read < 2.8


def test_a_value_of_more_than_256_megabytes_is_a_value_like_any_other(path: Path) -> None:
    with ks.open(f"sqlite:///{path}") as store:
        store.run(Chat, "r").save("one", {"anything": bytes(260 << 20)})
    state = loaded(path)
    assert len(state["anything"]) == 260 << 20
    assert not any(state["anything"][:: 1 << 16])
