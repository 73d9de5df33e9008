"""A thread waits inside a node that was a graph and is a function now, or the other way round.

The node is still there, so that nothing of it shows in what the graph around it is. But a run that
goes on would begin it anew: what the thread waits for is asked nowhere any more, and the answer
would be lost, or reach another question.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from keepset.adapters.langgraph.address import Address
from keepset.adapters.langgraph.checkpoints import ASKED
from keepset.adapters.langgraph.protocol import Binding
from keepset.adapters.langgraph.standing import INTERRUPT, Swap
from keepset.adapters.langgraph.taking import stored_at
from keepset.adapters.langgraph.threads import Thread, Threads
from keepset.errors import SchemaError
from keepset.plan.headers import unpack_metadata
from keepset.plan.requests import Flow
from keepset.run.hosted import Stored, Surface
from keepset.verdict.resume import Reason
from keepset.verdict.status import Resume, Status

_WAY_OUT: Final = (
    "finish the thread with the code that wrote it, or send it elsewhere with "
    "update_state(…, as_node=…)."
)


def swap_reasons(
    threads: Threads, thread: Thread, at: Address, stored: Stored, surface: Surface
) -> Flow[list[Reason]]:
    """Say what stands between a thread and a graph of which nodes are another kind of thing.

    Args:
        threads: All threads.
        thread: The thread.
        at: What the namespace is called, and who asks.
        stored: The checkpoint.
        surface: What its values go through.
    """
    found: list[Reason] = []
    for swap in _swaps(threads.binding, at, stored, surface):
        channels = {write.channel for write in stored.writes if write.task == swap.task}
        if not swap.was_graph:
            found += [_graph_now(swap)] if ASKED in channels else []
        elif INTERRUPT in channels or (yield from _has_begun(threads, thread, at, swap)):
            found.append(_function_now(swap))
    return found


def require_same_kind(
    threads: Threads, thread: Thread, at: Address, stored: Stored, surface: Surface
) -> Flow[None]:
    """Refuse to go on with a thread that waits inside such a node.

    Raises:
        SchemaError: ``langgraph.graph-gone`` or ``langgraph.question-moved``.
    """
    for reason in (yield from swap_reasons(threads, thread, at, stored, surface)):
        raise SchemaError(reason.message, code=reason.code, hint=reason.hint)


def _swaps(
    binding: Binding | None, at: Address, stored: Stored, surface: Surface
) -> Iterator[Swap]:
    if binding is not None and binding.graphs.has_other_graphs(at, stored):
        said = unpack_metadata(stored.header, surface.guard.codec)
        yield from binding.graphs.swaps(at, stored, said)


def _has_begun(threads: Threads, thread: Thread, at: Address, swap: Swap) -> Flow[bool]:
    """Tell whether there is a checkpoint inside a task, or an unfinished one that lasts."""
    for namespace in dict.fromkeys((swap.inside, swap.lasting)):
        inner = at._replace(namespace=namespace, checkpoint="", loop=False)
        surface = threads.surface(thread, namespace)
        found = yield from stored_at(threads, thread, inner, surface)
        if found is not None and (
            namespace == swap.inside or found.header.status != Status.DONE.value
        ):
            return True
    return False


def _function_now(swap: Swap) -> Reason:
    return _reason(
        SchemaError(
            f"the thread waits inside node {swap.node}, which was a graph and is a function now",
            code="langgraph.graph-gone",
            hint=f"Let the graph be the node again, {_WAY_OUT}",
        )
    )


def _graph_now(swap: Swap) -> Reason:
    return _reason(
        SchemaError(
            f"the thread waits for an answer to the function of node {swap.node}, which is a graph "
            "now",
            code="langgraph.question-moved",
            hint=f"Let the function be the node again, {_WAY_OUT}",
        )
    )


def _reason(error: SchemaError) -> Reason:
    return Reason(Resume.INCOMPATIBLE, error.code, error.message, error.hint)
