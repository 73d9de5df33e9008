"""May a bound graph resume a LangGraph thread? Checked without resuming it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepset.adapters.langgraph.address import Address, address
from keepset.adapters.langgraph.advice import advised
from keepset.adapters.langgraph.flows import require_sound
from keepset.adapters.langgraph.protocol import Binding
from keepset.adapters.langgraph.swapped import swap_reasons
from keepset.adapters.langgraph.taking import stored_at
from keepset.adapters.langgraph.threads import Threads
from keepset.contracts import Contract
from keepset.errors import DecodeError, IntegrityError, NotFoundError
from keepset.plan.headers import unpack_metadata
from keepset.plan.requests import Flow
from keepset.plan.rows import RunRow
from keepset.run.hosted import Stored, Surface
from keepset.store.resuming import lease_reasons, reason_of, value_reasons
from keepset.verdict.resume import Reason, ResumeReport, weigh
from keepset.verdict.status import Resume


def can_resume(threads: Threads, config: Mapping[str, Any]) -> Flow[ResumeReport]:
    """Check a thread, at its newest checkpoint or at one, against the graph of a binding.

    The graphs inside are checked as well, where the thread waits in them.

    Args:
        threads: All threads.
        config: Names the thread, and a checkpoint if it is not the newest.

    Raises:
        NotFoundError: There is no such thread or checkpoint.
    """
    to = address(config)
    if threads.binding is None:
        return weigh([_UNBOUND])
    thread = threads.thread(to.thread)
    found: list[Reason] = []
    with thread.named(to.namespace):
        there = yield from thread.reader.look()
        found += lease_reasons(threads.services, there.run)
        found += _epoch_reasons(there.run, threads.surface(thread, "").contract)
        todo = [to]
        while todo:
            at = todo.pop()
            surface = threads.surface(thread, at.namespace)
            try:
                stored = yield from stored_at(threads, thread, at, surface)
                if stored is not None:
                    require_sound(stored, surface)
            except (DecodeError, IntegrityError) as error:
                found.append(reason_of(Resume.INCOMPATIBLE, advised(error, bound=True)))
                continue
            if stored is None:
                if at is to:
                    raise _missing(to)
                continue
            found += _reasons(threads.binding, at, stored, surface)
            found += yield from swap_reasons(threads, thread, at, stored, surface)
            said = unpack_metadata(stored.header, surface.guard.codec)
            todo += threads.binding.graphs.inside(at, stored, said)
    return weigh(found)


def _epoch_reasons(run: RunRow | None, contract: Contract) -> list[Reason]:
    """Say that a higher epoch has written the thread, which a lower one may not go on with."""
    if run is None or run.contract.epoch <= contract.epoch:
        return []
    return [
        Reason(
            Resume.INCOMPATIBLE,
            "conflict.epoch",
            f"this code writes epoch {contract.epoch}, and epoch {run.contract.epoch} has written "
            "to the run",
            "Finish the deploy of the newer code; the older one must not go on with this run.",
        )
    ]


_UNBOUND = Reason(
    Resume.UNKNOWN,
    "langgraph.not-bound",
    "this saver knows no graph, so that nothing could be checked",
    "Ask the saver of a bound graph: saver.bind(graph).checkpointer.can_resume(config).",
)


def _missing(to: Address) -> NotFoundError:
    return NotFoundError(
        f"there is no checkpoint {to.checkpoint}" if to.checkpoint else "it has no checkpoint",
        code="checkpoint.not-found" if to.checkpoint else "run.not-found",
        hint="`keepset runs` and `keepset show` list what is stored.",
    )


def _reasons(binding: Binding, at: Address, stored: Stored, surface: Surface) -> list[Reason]:
    found = list(binding.graphs.reasons(at, stored, resuming=True))
    services, codec = surface.services, surface.guard.codec
    return [*found, *value_reasons(services, surface.contract, stored.values, codec)]
