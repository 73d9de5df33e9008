"""A planted secret is on no surface of LangGraph's: in no row, no log, no message.

Each test looks at the bytes of a store that compresses nothing, and at all that is read back; a
control with another text shows that both would find it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

pytest.importorskip("langgraph")

from langgraph.func import entrypoint
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt
from pydantic import SecretStr

import keepset as ks
from keepset.codec import Withheld
from keepset.errors import PolicyError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.saver.steps import checkpoint, config, put
from tests.scan.credentials import KINDS, Maker

KEY = KINDS["openai-project"](Maker(7))
PLAIN = "control-" + "".join(str(n) for n in range(40))


class State(TypedDict, total=False):
    text: Annotated[object, ks.Keep()]
    out: object


@pytest.fixture
def url(tmp_path: Path) -> str:
    tmp_path.chmod(0o700)
    return f"sqlite:///{tmp_path}/runs.db"


def everything(saver: KeepsetSaver) -> str:
    """All that the saver gives back, in one text."""
    return repr(list(saver.list(None)))


def found(url: str, folder: Path, work: Callable[[KeepsetSaver], object], needle: str) -> bool:
    """Do some work on a store and tell whether a text is in it."""
    with ks.open(url, compression=False) as store:
        saver = KeepsetSaver(store)
        work(saver)
        told = everything(saver)
    inside = any(needle.encode() in file.read_bytes() for file in folder.iterdir())
    assert inside is (needle in told)
    return inside


def run(node: Callable[[State], Any], given: object, **extra: Any) -> Callable[[KeepsetSaver], Any]:
    """Make the work of one run of a graph with one node."""

    def work(saver: KeepsetSaver) -> None:
        builder: Any = StateGraph(State)
        builder.add_node("node", node)
        builder.add_node("other", lambda state: {"out": state.get("text")})
        builder.add_edge(START, "node")
        graph = builder.compile(checkpointer=saver)
        graph.invoke({"text": given}, {**config("t"), **extra})

    return work


def asked(text: str) -> Callable[[KeepsetSaver], Any]:
    def work(saver: KeepsetSaver) -> None:
        builder: Any = StateGraph(State)
        builder.add_node("node", lambda _: {"out": interrupt({"why": text})})
        builder.add_edge(START, "node")
        builder.compile(checkpointer=saver).invoke({"text": ""}, config("t"))

    return work


def answered(text: str) -> Callable[[KeepsetSaver], Any]:
    def work(saver: KeepsetSaver) -> None:
        builder: Any = StateGraph(State)

        def node(_: State) -> State:
            interrupt("first")
            interrupt("second")
            return {}

        builder.add_node("node", node)
        builder.add_edge(START, "node")
        graph = builder.compile(checkpointer=saver)
        graph.invoke({"text": ""}, config("t"))
        graph.invoke(Command(resume=text), config("t"))

    return work


def failing(text: str) -> Callable[[KeepsetSaver], Any]:
    def node(_: State) -> State:
        raise RuntimeError(f"401 for key {text}")

    def work(saver: KeepsetSaver) -> None:
        with suppress(RuntimeError):
            run(node, "")(saver)

    return work


def functional(text: str) -> Callable[[KeepsetSaver], Any]:
    """What comes back lies under __return__, what is kept for the next time under __previous__."""

    def work(saver: KeepsetSaver) -> None:
        @entrypoint(checkpointer=saver)
        def flow(value: str) -> Any:
            return entrypoint.final(value=value, save={"last": value})

        flow.invoke(text, config("t"))

    return work


def sent(text: str) -> Callable[[KeepsetSaver], Any]:
    """The argument of a Send lies in a write, and in the next checkpoint under __pregel_tasks."""
    return run(lambda _: Command(goto=[Send("other", {"text": text})]), "")


def metadata(text: str) -> Callable[[KeepsetSaver], Any]:
    def work(saver: KeepsetSaver) -> None:
        made = checkpoint(0)
        saver.put(config("t"), made, {"source": "loop", "step": 0, "note": text}, {})

    return work


def asked_for(text: str) -> Callable[[KeepsetSaver], Any]:
    """A key of the configurable that the user named."""

    def work(saver: KeepsetSaver) -> None:
        named = KeepsetSaver(_store(saver), metadata_keys=["session"])
        run(lambda _: {}, "", configurable={"thread_id": "t", "session": text})(named)

    return work


def _store(saver: KeepsetSaver) -> ks.Store:
    return ks.Store(saver._services)


SURFACES: dict[str, Callable[[str], Callable[[KeepsetSaver], Any]]] = {
    "input": lambda text: run(lambda _: {}, text),
    "input in a text": lambda text: run(lambda _: {}, f"my key is {text}, thanks"),
    "node": lambda text: run(lambda _: {"out": text}, ""),
    "deep in what a node gives": lambda text: run(lambda _: {"out": {"a": [1, {"b": text}]}}, ""),
    "interrupt": asked,
    "answer": answered,
    "error": failing,
    "functional": functional,
    "Send": sent,
    "metadata": metadata,
    "metadata that was asked for": asked_for,
}


@pytest.mark.parametrize("surface", SURFACES)
def test_a_secret_is_on_no_surface(
    surface: str, url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    assert found(url, tmp_path, SURFACES[surface](KEY), KEY) is False
    assert KEY not in caplog.text


@pytest.mark.parametrize("surface", SURFACES)
def test_a_text_that_is_no_secret_is_found_on_each_surface(
    surface: str, url: str, tmp_path: Path
) -> None:
    assert found(url, tmp_path, SURFACES[surface](PLAIN), PLAIN) is True


def test_a_strict_store_refuses_the_text_of_an_error_and_the_error_itself_is_raised() -> None:
    with KeepsetSaver("memory:", mode="strict") as saver:
        failing(KEY)(saver)
        failing(PLAIN)(other := KeepsetSaver("memory:", mode="strict"))
        assert (KEY in everything(saver), PLAIN in everything(other)) == (False, True)
        other.close()


@pytest.mark.parametrize("surface", [name for name in SURFACES if name != "error"])
def test_a_strict_store_refuses_a_secret_on_each_surface(surface: str) -> None:
    with KeepsetSaver("memory:", mode="strict") as saver:
        refused: list[PolicyError] = []
        try:
            SURFACES[surface](KEY)(saver)
        except PolicyError as error:
            refused.append(error)
        (told,) = refused
        assert told.code.startswith("policy.secret-")
        assert told.message.startswith("thread t")
        assert KEY not in str(told)
        assert KEY not in everything(saver)


def test_nothing_is_copied_from_a_config_but_what_was_asked_for(url: str, tmp_path: Path) -> None:
    secret = {"openai_api_key": KEY, "user": PLAIN}

    def work(saver: KeepsetSaver) -> None:
        run(lambda _: {}, "", configurable={"thread_id": "t", **secret}, metadata=secret)(saver)

    assert found(url, tmp_path, work, KEY) is False
    with KeepsetSaver(url, metadata_keys=["user"]) as saver:
        assert PLAIN not in everything(saver)
        work(saver)
        newest = saver.get_tuple(config("t"))
        assert newest is not None
        metadata: Any = newest.metadata
        assert metadata["user"] == PLAIN
        assert "openai_api_key" not in metadata
        filtered = list(saver.list(config("t"), filter={"user": PLAIN, "thread_id": "t"}))
        assert newest.config in [one.config for one in filtered]
        assert list(saver.list(config("t"), filter={"user": "other"})) == []


def test_the_id_of_an_execution_is_kept(url: str) -> None:
    with KeepsetSaver(url) as saver:
        run(lambda _: {}, "", metadata={"run_id": "run-1"})(saver)
        newest = saver.get_tuple(config("t"))
        assert newest is not None
        assert newest.metadata["run_id"] == "run-1"


def test_a_secret_type_is_stored_as_a_marker_and_its_use_says_what_to_declare(
    url: str, tmp_path: Path
) -> None:
    assert found(url, tmp_path, run(lambda _: {"out": SecretStr(KEY)}, ""), KEY) is False
    with KeepsetSaver(url) as saver:
        newest = saver.get_tuple(config("t"))
        assert newest is not None
        marker = newest.checkpoint["channel_values"]["out"]
        assert isinstance(marker, Withheld)
        with pytest.raises(PolicyError, match="out: the value was withheld") as caught:
            str(marker)
        assert caught.value.code == "secret.withheld"
        assert list(saver.list(config("t"), filter={"step": marker})) == []


def test_what_cannot_be_stored_is_refused_with_thread_channel_and_path(url: str) -> None:
    class Client:
        pass

    with KeepsetSaver(url) as saver:
        with pytest.raises(PolicyError) as caught:
            put(saver, config("t"), 0, docs=[1, {"a": Client()}])
        assert caught.value.code == "codec.unknown-type"
        assert caught.value.message.startswith("thread t: docs[1].a: ")
        assert "Client" in caught.value.message
        at = put(saver, config("t", namespace="child:1"), 0, docs=[])
        with pytest.raises(PolicyError, match=r"thread t, namespace child:1: docs\[0\]: "):
            saver.put_writes(at, [("docs", [Client()])], "task")
        assert saver.get_tuple(config("t")) is None


@pytest.mark.parametrize("text", ["a\0b", "\ud800 alone", "", "é\u0301"])
@pytest.mark.parametrize("store", ["memory:", "sqlite"])
def test_a_strange_text_comes_back_as_it_was(store: str, text: str, url: str) -> None:
    with KeepsetSaver(url if store == "sqlite" else store) as saver:
        at = put(saver, config("t"), 0, text=text, number=float("nan"), negative=-0.0)
        saver.put_writes(at, [("text", text)], "task")
        stored = saver.get_tuple(at)
        assert stored is not None
        values = stored.checkpoint["channel_values"]
        assert values["text"] == text
        assert repr([values["number"], values["negative"]]) == "[nan, -0.0]"
        assert stored.pending_writes == [("task", "text", text)]


def test_a_large_text_that_does_not_change_is_stored_once(url: str, tmp_path: Path) -> None:
    text = "".join(f"{n * 7919 % 1000003} " for n in range(15000))[: 100 * 1024]
    steps = 50

    class Large(TypedDict, total=False):
        doc: str
        count: int

    with ks.open(url, compression=False) as store:
        builder: Any = StateGraph(Large)
        builder.add_node("node", lambda state: {"count": state.get("count", 0) + 1})
        builder.add_conditional_edges(
            "node", lambda state: "node" if state["count"] < steps else "__end__"
        )
        builder.add_edge(START, "node")
        graph = builder.compile(checkpointer=KeepsetSaver(store))
        graph.invoke({"doc": text}, {**config("t"), "recursion_limit": steps + 5})
        assert graph.get_state(config("t")).values["doc"] == text
    copies = b"".join(file.read_bytes() for file in tmp_path.iterdir()).count(text[-512:].encode())
    assert copies == 1
