"""keepset as LangGraph's checkpointer."""

from __future__ import annotations

import asyncio
import copy
import os
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.pregel import Pregel

from keepset.adapters.langgraph import flows, removing
from keepset.adapters.langgraph.binding import GraphBinding, require_graph
from keepset.adapters.langgraph.elsewhere import Fallback
from keepset.adapters.langgraph.listing import Listing, channel_history, query
from keepset.adapters.langgraph.options import metadata_names, named_types
from keepset.adapters.langgraph.protocol import Binding
from keepset.adapters.langgraph.resumable import can_resume
from keepset.adapters.langgraph.threads import Threads, registry
from keepset.adapters.langgraph.types import host_types
from keepset.adapters.langgraph.versions import next_version
from keepset.backends.driver import adrive, drive
from keepset.codec import TypeRegistry
from keepset.errors import UsageError
from keepset.plan.requests import Flow
from keepset.run.services import Services
from keepset.store import AsyncStore, Store, open_store
from keepset.store.opening import check_name
from keepset.store.operations import break_lease
from keepset.store.places import Place
from keepset.verdict.resume import ResumeReport

T = TypeVar("T")
G = TypeVar("G", bound=Pregel[Any, Any, Any, Any])


class KeepsetSaver(BaseCheckpointSaver[Any]):
    """A LangGraph checkpointer that keeps what resuming needs, and nothing else.

    Every method has a twin for event loops (``aput`` beside ``put``); any number of threads and
    event loops may use both at once. Use it in a ``with`` or ``async with`` block, or close it.
    """

    def __init__(  # noqa: PLR0913 - each is an option that stands alone
        self,
        store: Place | Store | AsyncStore,
        *,
        tenant: str | None = None,
        types: Collection[type] | Mapping[str, type] = (),
        metadata_keys: Collection[str] = (),
        mode: str = "protect",
        fallback: BaseCheckpointSaver[Any] | None = None,
    ) -> None:
        """Open a store, or use one that is open.

        Args:
            store: ``sqlite:///runs.db``, ``runs.db`` or ``memory:``, as for `keepset.open`; or a
                store, which stays open when the saver is closed.
            tenant: Whose threads these are; ``default``, or the store's own, without it.
            types: Classes of the user's that states hold, each stored under its qualified name, or
                by names that never change. Those of LangChain and LangGraph are known.
            metadata_keys: Keys of a config's ``configurable`` and ``metadata`` that are stored with
                each checkpoint, beside ``run_id``. Nothing else of a config is.
            mode: ``protect``, ``strict`` or ``observe``, for a store that is opened here.
            fallback: Any other saver. A thread that the store does not have is read from it, and
                taken over at its first write: its whole history is copied, and from then on it is
                written here alone. It is not closed with this one.

        Raises:
            UsageError: The URL or an option is not known, ``langgraph.types``,
                ``langgraph.metadata-keys``; ``langgraph.fallback``: it is no saver.
            StoreError: The place refuses.
        """
        super().__init__()
        # The store is opened last: what is refused before leaves nothing open.
        self._keys = metadata_names(metadata_keys)
        known = registry(host_types(), named_types(types))
        elsewhere = None if fallback is None else Fallback(fallback, self._keys)
        self._owned = isinstance(store, str | os.PathLike)
        self._services = _services(store, tenant, mode)
        self._threads = Threads(self._services, known, elsewhere)

    @property
    def binding(self) -> Binding | None:
        """What knows the graph; None where the saver was not bound to one."""
        return self._threads.binding

    @binding.setter
    def binding(self, binding: Binding | None) -> None:
        self._threads.bind(binding)

    @property
    def types(self) -> TypeRegistry:
        """What knows the classes of the host, and those that the saver was given."""
        return self._threads.types

    def bind(
        self,
        graph: G,
        *,
        renamed: Mapping[str, str] | None = None,
        on_changed_interrupt: str = "refuse",
    ) -> G:
        """Give a copy of a compiled graph that is checkpointed here, by the rules of its schemas.

        Its checkpoints are exact under every durability, and what cannot be stored is refused
        before a next node runs. The graph itself, and those inside it, stay as they are.

        Args:
            graph: What ``builder.compile()``, ``create_agent(…)`` or an ``@entrypoint`` gives.
            renamed: The present name of each node that had another, by the one that it had:
                ``{"approve": "review"}``. A thread that waits there goes on at the new one.
            on_changed_interrupt: What becomes of a human's answer where the node now asks for
                something else than what was answered: ``refuse`` or ``accept``.

        Raises:
            UsageError: ``langgraph.not-a-graph``, ``langgraph.renamed`` or
                ``langgraph.on-changed-interrupt``.
            SchemaError: Its schemas are unsound: two rules for one channel (``rule.conflict``), a
                name that cannot be found (``state.unresolved-name``), …
        """
        require_graph(graph)
        binding = GraphBinding(
            graph,
            self.types,
            renamed=renamed,
            on_changed_interrupt=on_changed_interrupt,
        )
        return self.bound(graph, binding)

    def bound(self, graph: G, binding: GraphBinding) -> G:
        """Give the copy of a graph that a binding makes, checkpointed here; see `bind`."""
        bound = binding.graph(graph)
        threads = Threads(self._services, self._threads.types, self._threads.fallback)
        threads.bind(binding)
        own = copy.copy(self)
        vars(own)["_threads"] = threads  # what is remembered of threads has its own rules
        bound.checkpointer = own
        return bound

    def can_resume(self, config: Any) -> ResumeReport:
        """Say whether the graph that this saver is bound to may resume a thread, and why not.

        Args:
            config: Names the thread, and a checkpoint if it is not the newest.

        Raises:
            NotFoundError: There is no such thread or checkpoint.
        """
        return self._drive(can_resume(self._threads, config))

    async def acan_resume(self, config: Any) -> ResumeReport:
        """See `can_resume`."""
        return await self._adrive(can_resume(self._threads, config))

    # --- versions and types -----------------------------------------------------------------------

    def get_next_version(self, current: Any, channel: None) -> Any:  # noqa: ARG002 - LangGraph's
        """Give a channel's next version: a number, or a text in a thread that has texts."""
        return next_version(current)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> Self:
        """Give the saver itself: data names no classes here, so that none has to be allowed.

        A fallback may have to be told; then that of a copy of the saver is.
        """
        fallback = self._threads.fallback
        if fallback is None:
            return self
        threads = Threads(self._services, self._threads.types, fallback.allowing(extra_allowlist))
        threads.bind(self.binding)
        own = copy.copy(self)
        vars(own)["_threads"] = threads
        return own

    # --- checkpoints ------------------------------------------------------------------------------

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        """Give the checkpoint that a config names, or the newest of its namespace.

        Raises:
            IntegrityError: What is stored is damaged.
            DecodeError: The process does not know a class that the checkpoint holds.
        """
        return self._drive(flows.get_tuple(self._threads, config))

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        """See `get_tuple`."""
        return await self._adrive(flows.get_tuple(self._threads, config))

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:  # noqa: ARG002 - told by itself
        """Store a checkpoint after the one that the config names.

        Raises:
            PolicyError: A value cannot be stored or does not belong; nothing is changed.
            ConflictError: Another execution was first, or the thread was deleted.
            NotFoundError: There is no such parent.
            StoreError: The store refused.
        """
        return self._drive(flows.put(self._threads, config, checkpoint, metadata, self._keys))

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:  # noqa: ARG002 - told by itself
        """See `put`."""
        return await self._adrive(
            flows.put(self._threads, config, checkpoint, metadata, self._keys)
        )

    def put_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote after a checkpoint, which may have successors already.

        Raises:
            PolicyError: A value cannot be stored or does not belong; nothing is changed.
            ConflictError: The thread was deleted.
            NotFoundError: There is no such checkpoint.
            StoreError: The store refused.
        """
        self._drive(flows.put_writes(self._threads, config, writes, task_id, task_path))

    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """See `put_writes`."""
        await self._adrive(flows.put_writes(self._threads, config, writes, task_id, task_path))

    # --- listing ----------------------------------------------------------------------------------

    def list(
        self,
        config: Any,
        *,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: Any = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Give the checkpoints of a thread, or of all, the newest of each thread first.

        Args:
            config: Names a thread, and a namespace or a checkpoint in it; None for all threads.
            filter: What a checkpoint's metadata must say, by key; ``thread_id`` is one.
            before: A config whose checkpoint all others lie before.
            limit: How many at the most.
        """
        listing = Listing(self._threads, query(config, filter, before), limit)
        while (page := self._drive(listing.page())) is not None:
            yield from page

    async def alist(
        self,
        config: Any,
        *,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: Any = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """See `list`."""
        listing = Listing(self._threads, query(config, filter, before), limit)
        while (page := await self._adrive(listing.page())) is not None:
            for found in page:
                yield found

    def get_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Any:
        """Give what was written to channels before a checkpoint, and the values it stands on.

        LangGraph calls it for channels that have no value in the checkpoint itself.
        """
        return self._drive(channel_history(self._threads, config, channels))

    async def aget_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Any:
        """See `get_delta_channel_history`."""
        return await self._adrive(channel_history(self._threads, config, channels))

    # --- removing and copying ---------------------------------------------------------------------

    def delete_thread(self, thread_id: str) -> None:
        """Delete a thread and let go of its bytes; nothing happens where there is none.

        A fallback deletes its copy as well.

        Raises:
            UsageError: ``langgraph.fallback-keeps``: it cannot; nothing is deleted.
        """
        self._drive(removing.delete_thread(self._threads, thread_id))

    async def adelete_thread(self, thread_id: str) -> None:
        """See `delete_thread`."""
        await self._adrive(removing.delete_thread(self._threads, thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete, in all threads, the checkpoints whose metadata has one of these ``run_id``."""
        self._drive(removing.delete_for_runs(self._threads, run_ids))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """See `delete_for_runs`."""
        await self._adrive(removing.delete_for_runs(self._threads, run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a whole thread, pending writes included, to an id that has none.

        Raises:
            NotFoundError: There is no such thread.
            ConflictError: The target has checkpoints.
        """
        self._drive(removing.copy_thread(self._threads, source_thread_id, target_thread_id))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """See `copy_thread`."""
        await self._adrive(removing.copy_thread(self._threads, source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Remove what is no longer needed of threads.

        Args:
            thread_ids: The threads; one that is not there is passed over.
            strategy: ``keep_latest`` keeps the newest checkpoint of each namespace, and before it
                those that its DeltaChannels are rebuilt from; ``delete`` deletes the threads.

        Raises:
            UsageError: The strategy is not known.
            ConflictError: A thread was written to meanwhile, again and again.
        """
        self._drive(removing.prune(self._threads, thread_ids, strategy))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """See `prune`."""
        await self._adrive(removing.prune(self._threads, thread_ids, strategy))

    def break_lease(self, thread_id: str) -> bool:
        """Take a thread's lease away from the execution that works on it; False where none does.

        See `keepset.Store.break_lease`.
        """
        return self._drive(break_lease(self._services, thread_id))

    async def abreak_lease(self, thread_id: str) -> bool:
        """See `break_lease`."""
        return await self._adrive(break_lease(self._services, thread_id))

    # --- the end ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the store, if it was opened here."""
        if self._owned:
            self._services.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)

    def _drive(self, flow: Flow[T]) -> T:
        return drive(flow, self._services.backend)

    async def _adrive(self, flow: Flow[T]) -> T:
        return await adrive(flow, self._services.backend)


def _services(store: Place | Store | AsyncStore, tenant: str | None, mode: str) -> Services:
    if isinstance(store, str | os.PathLike):
        name = "default" if tenant is None else tenant
        return open_store(store, tenant=name, mode=mode).services
    if not isinstance(store, Store | AsyncStore):
        raise UsageError(
            f"{type(store).__name__} is no store",
            code="langgraph.store",
            hint='Pass the path of a file, such as "runs.db", or what keepset.open gave.',
        )
    given = store if tenant is None else store.for_tenant(check_name("tenant", tenant))
    return given.services
