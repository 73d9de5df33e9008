"""A call of a bound graph has its thread to itself, from before its first node to its end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, TypedDict

import pytest
from langgraph.errors import EmptyInputError
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

import keepset as ks
from keepset.adapters.langgraph import leases
from keepset.adapters.langgraph.executing import Execution, auntil_end
from keepset.errors import ConflictError
from keepset.langgraph import KeepsetSaver
from keepset.verdict.status import Resume
from tests.adapters.langgraph.binding.stores import CONFIG, DURABILITIES

EVERY = pytest.mark.parametrize("durability", DURABILITIES)
LATER = pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
PATIENCE = 60


class State(TypedDict, total=False):
    asked: str
    paid: int


class Payment:
    """A graph that asks, and whose second node waits where it is told to."""

    def __init__(self) -> None:
        self.entered, self.go_on = threading.Event(), threading.Event()
        self.ran: list[str] = []
        self.waits = True
        self.meanwhile: Callable[[], object] = lambda: None

    def ask(self, _: State) -> State:
        self.ran.append("ask")
        return {"asked": "pay?"}

    def pay(self, _: State) -> State:
        self.ran.append("pay")
        self.entered.set()
        assert not self.waits or self.go_on.wait(PATIENCE)
        self.meanwhile()
        return {"paid": 1}

    def send(self, _: State) -> State:
        self.ran.append("send")
        return {}

    def compiled(self, **options: Any) -> Any:
        builder: Any = StateGraph(State)
        for node in (self.ask, self.pay, self.send):
            builder.add_node(node.__name__, node)
        builder.add_edge(START, "ask")
        builder.add_edge("ask", "pay")
        builder.add_edge("pay", "send")
        return builder.compile(**options)


def calls(graph: Any, given: Any, *, durability: Any, later: bool) -> Any:
    """Call a graph, in plain code or on an event loop of its own."""
    if later:
        return asyncio.run(graph.ainvoke(given, CONFIG, durability=durability))
    return graph.invoke(given, CONFIG, durability=durability)


def lease(store: ks.Store) -> Any:
    return [row.run.lease for row in store.runs()]


@EVERY
@LATER
def test_who_resumes_what_another_one_works_on_is_refused_before_a_node_runs(
    durability: Any, *, later: bool
) -> None:
    payment = Payment()
    with ks.open("memory:") as store:
        graph = KeepsetSaver(store).bind(payment.compiled(interrupt_before=["pay"]))
        calls(graph, {}, durability=durability, later=later)
        assert lease(store) == [None]
        out: list[Any] = []

        def work() -> None:
            out.append(calls(graph, None, durability=durability, later=later))

        first = threading.Thread(target=work)
        first.start()
        assert payment.entered.wait(PATIENCE)
        with pytest.raises(ConflictError) as caught:
            calls(graph, None, durability=durability, later=later)
        assert graph.get_state(CONFIG).next == ("pay",), "who looks is not refused"
        report = graph.checkpointer.can_resume(CONFIG)
        assert (report.verdict, report.reasons[0].code) == (Resume.DRAIN, "run.leased")
        payment.go_on.set()
        first.join()
        assert (caught.value.code, payment.ran) == ("run.leased", ["ask", "pay", "send"])
        assert caught.value.message.startswith("thread one: ")
        assert out == [{"asked": "pay?", "paid": 1}]
        assert lease(store) == [None]


@EVERY
@LATER
def test_of_two_calls_that_begin_a_thread_the_second_one_runs_no_node(
    durability: Any, *, later: bool
) -> None:
    payment = Payment()
    with ks.open("memory:") as store:
        graph = KeepsetSaver(store).bind(payment.compiled())
        call = partial(calls, graph, {}, durability=durability, later=later)
        first = threading.Thread(target=call)
        first.start()
        assert payment.entered.wait(PATIENCE)
        with pytest.raises(ConflictError) as caught:
            call()
        payment.go_on.set()
        first.join()
        assert (caught.value.code, payment.ran) == ("run.leased", ["ask", "pay", "send"])


@EVERY
@LATER
def test_a_call_that_pauses_or_fails_leaves_no_lease(durability: Any, *, later: bool) -> None:
    """Nor does one that is refused before it has saved anything; and what it began is no thread."""
    fails = [True]

    def ask(_: State) -> State:
        if fails.pop():
            msg = "no connection"
            raise ValueError(msg)
        fails.append(False)
        return {"asked": interrupt("pay?")}

    builder: Any = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    with ks.open("memory:") as store, ks.open("memory:") as other:
        graph = KeepsetSaver(store).bind(builder.compile())
        with pytest.raises(ValueError, match="no connection"):
            calls(graph, {}, durability=durability, later=later)
        assert lease(store) == [None]
        fails.append(False)
        calls(graph, None, durability=durability, later=later)
        assert lease(store) == [None]
        fails.append(False)
        out = calls(graph, Command(resume="yes"), durability=durability, later=later)
        assert (out, lease(store)) == ({"asked": "yes"}, [None])
        empty = KeepsetSaver(other).bind(builder.compile())
        with pytest.raises(EmptyInputError):
            calls(empty, None, durability=durability, later=later)
        assert not other.delete("one"), "nothing is left of it"


@EVERY
@LATER
def test_a_call_whose_lease_is_broken_begins_no_further_node_and_stores_nothing_more(
    durability: Any, *, later: bool
) -> None:
    payment = Payment()
    payment.waits = False
    with ks.open("memory:") as store:
        saver = KeepsetSaver(store)
        graph = saver.bind(payment.compiled())
        other = saver.bind(Payment().compiled(interrupt_after=["ask"]))

        def take() -> None:
            payment.meanwhile = lambda: None
            assert saver.break_lease("one")
            assert not saver.break_lease("one")
            apart(lambda: other.invoke({"asked": "other"}, CONFIG, durability="sync"))

        payment.meanwhile = take
        with pytest.raises(ConflictError) as caught:
            calls(graph, {}, durability=durability, later=later)
        assert (caught.value.code, payment.ran) == ("run.lease-lost", ["ask", "pay"])
        assert graph.get_state(CONFIG).next == ("pay",)
        assert "paid" not in graph.get_state(CONFIG).values
        assert asyncio.run(saver.abreak_lease("one")) is False


def apart(work: Callable[[], object]) -> None:
    """Do something in a thread of its own, which knows nothing of the call around it."""
    failed: list[Exception] = []

    def tried() -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - it is raised below
            failed.append(error)

    thread = threading.Thread(target=tried)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def test_threads_of_one_name_of_two_tenants_have_a_lease_each() -> None:
    with ks.open("memory:") as store:
        one, two = KeepsetSaver(store), KeepsetSaver(store, tenant="two")
        outer, inner = Payment(), Payment()
        outer.waits = inner.waits = False
        other = two.bind(inner.compiled())
        outer.meanwhile = lambda: other.invoke({}, CONFIG)
        assert one.bind(outer.compiled()).invoke({}, CONFIG)["paid"] == 1
        assert (lease(store), lease(store.for_tenant("two"))) == ([None], [None])


@pytest.mark.parametrize("bound", [True, False], ids=["bound", "not bound"])
@LATER
def test_a_thread_that_is_deleted_while_its_first_run_has_saved_nothing_does_not_come(
    *, bound: bool, later: bool
) -> None:
    payment = Payment()
    payment.waits = False
    with ks.open("memory:") as store:
        saver = KeepsetSaver(store)
        graph = payment.compiled(checkpointer=saver)
        graph = saver.bind(graph) if bound else graph
        payment.meanwhile = lambda: saver.delete_thread("one")
        with pytest.raises(ConflictError) as caught:
            calls(graph, {}, durability="exit", later=later)
        assert caught.value.code == "conflict.deleted"
        assert (store.runs(), saver.get_tuple(CONFIG)) == ([], None)
        payment.meanwhile = lambda: None
        out = calls(graph, {}, durability="exit", later=later)
        assert (out["paid"], lease(store)) == (1, [None])


def test_a_stream_that_is_left_early_gives_way_to_the_next_call() -> None:
    payment = Payment()
    payment.waits = False
    with ks.open("memory:") as store:
        graph = KeepsetSaver(store).bind(payment.compiled())
        for _ in graph.stream({}, CONFIG, durability="sync"):
            break
        assert lease(store) == [None]
        assert graph.invoke({}, CONFIG)["paid"] == 1

        async def leave() -> Any:
            async for _ in graph.astream({}, CONFIG, durability="sync"):
                break
            return await graph.ainvoke({}, CONFIG)

        assert asyncio.run(leave())["paid"] == 1


def test_a_stream_that_nobody_has_any_more_is_ending_before_the_loop_hears_of_it() -> None:
    async def parts() -> AsyncIterator[int]:
        yield 1

    async def leave() -> list[bool]:
        execution = Execution(resuming=False)
        holding = execution.holding("thread", store.services)
        stream: AsyncIterator[int] | None = auntil_end(parts(), execution)
        assert stream is not None
        assert await anext(stream) == 1
        before, stream = holding.closing, None
        return [before, holding.closing]

    with ks.open("memory:") as store:
        assert asyncio.run(leave()) == [False, True]


def test_a_second_call_is_refused_at_once_where_nothing_says_that_the_first_one_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for seconds in ("_MOMENT", "_PATIENCE"):
        monkeypatch.setattr(leases, seconds, 10 * PATIENCE)
    payment = Payment()
    with ks.open("memory:") as store:
        graph = KeepsetSaver(store).bind(payment.compiled())

        async def twice() -> str:
            first = asyncio.create_task(graph.ainvoke({}, CONFIG))
            assert await asyncio.to_thread(payment.entered.wait, PATIENCE)
            with pytest.raises(ConflictError) as caught:
                await asyncio.wait_for(graph.ainvoke({}, CONFIG), PATIENCE)
            payment.go_on.set()
            assert (await first)["paid"] == 1
            return caught.value.code

        assert asyncio.run(twice()) == "run.leased"


def test_a_call_whose_task_is_only_told_to_be_cancelled_gives_way_to_the_next_one() -> None:
    begun = asyncio.Event()

    async def wait(_: State) -> State:
        if not begun.is_set():
            begun.set()
            await asyncio.Event().wait()
        return {"paid": 2}

    builder: Any = StateGraph(State)
    builder.add_node("wait", wait)
    builder.add_edge(START, "wait")
    with ks.open("memory:") as store:
        graph = KeepsetSaver(store).bind(builder.compile())

        async def cancel() -> Any:
            first = asyncio.create_task(graph.ainvoke({}, CONFIG))
            await begun.wait()
            first.cancel()  # nobody waits for it
            return await graph.ainvoke({}, CONFIG)

        assert asyncio.run(cancel())["paid"] == 2
        assert lease(store) == [None]


def test_a_call_that_is_cancelled_gives_way_to_the_next_one() -> None:
    payment = Payment()
    with ks.open("memory:") as store:
        graph = KeepsetSaver(store).bind(payment.compiled())

        async def cancel() -> Any:
            first = asyncio.create_task(graph.ainvoke({}, CONFIG, durability="sync"))
            assert await asyncio.to_thread(payment.entered.wait, PATIENCE)
            first.cancel()
            payment.go_on.set()
            await asyncio.wait([first])
            return lease(store)

        assert asyncio.run(cancel()) == [None]
        assert graph.invoke({}, CONFIG)["paid"] == 1
