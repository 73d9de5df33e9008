"""The threads of a saver: each is a run, with what its values go through."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType, TracebackType
from typing import Any, TypedDict

from keepset.adapters.langgraph.address import RUNTIME, Address
from keepset.adapters.langgraph.advice import advised
from keepset.adapters.langgraph.beginnings import Beginnings
from keepset.adapters.langgraph.checkpoints import OWN_FIELDS
from keepset.adapters.langgraph.elsewhere import Fallback
from keepset.adapters.langgraph.findings import StateGuard, StateReport
from keepset.adapters.langgraph.protocol import Binding
from keepset.codec import Codec, TypeRegistry
from keepset.contracts import Contract, contract, contract_of
from keepset.errors import KeepsetError, PolicyError, UsageError
from keepset.plan.guard import Guard
from keepset.run.entering import Entering
from keepset.run.hosted import HostReader, HostWriter, Known, Surface
from keepset.run.reporting import placed
from keepset.run.services import Services
from keepset.run.stored import contract_row

_log = logging.getLogger("keepset")

DURABILITY = "__pregel_durability"
"""Key of a configurable: when LangGraph saves."""

_INEXACT = frozenset({"async", "exit"})
_REMEMBERED = 4096
"""Of how many threads something is remembered; what lies in a thread has a bound of its own."""


@contract(name="langgraph")
class Anything(TypedDict):
    """The contract of a thread whose graph is not known: every channel is kept."""


class Thread:
    """One thread: a run of the store.

    Attributes:
        id: The thread's id.
        reader: Reads its checkpoints.
        writer: Writes them.
        report: Counts what the detectors find.
        beginnings: Which executions of a graph that is not bound begin it.
        settled: Whether it is known that another saver is not to be asked for it.
    """

    def __init__(self, services: Services, thread: str, root: Contract, *, bound: bool) -> None:
        """Remember what the thread is called; nothing is read yet."""
        self.id = thread
        known = Known(services, thread, contract_row(root), bound=bound)
        self.reader = HostReader(known)
        self.writer = HostWriter(known, self.reader)
        self.report = StateReport(thread, bound=bound)
        self.beginnings = Beginnings()
        self.settled = False
        self._bound = bound
        self._services = services

    def named(self, namespace: str) -> _Named:
        """Name the thread in an error, and mask a key or a name in it that is itself a secret."""
        return _Named(self, namespace)

    @contextmanager
    def naming(self, namespace: str) -> Iterator[None]:
        """See `named`; this is what it does once there is an error."""
        place = f"thread {self.id}, namespace {namespace}" if namespace else f"thread {self.id}"
        try:
            with placed(place, self._services.scanner):
                yield
        except KeepsetError as error:
            said = advised(error, bound=self._bound)
            if isinstance(error, PolicyError | UsageError):
                raise said from (error.__cause__ if said is error else None)
            raise said.within(place) from error.__cause__


class _Named:
    """Names a thread in an error that leaves a block; where none does, it takes no time."""

    __slots__ = ("_namespace", "_thread")

    def __init__(self, thread: Thread, namespace: str) -> None:
        self._thread = thread
        self._namespace = namespace

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: object, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, KeepsetError):
            with self._thread.naming(self._namespace):
                raise error


class Threads:
    """All threads of a saver that are in use, and the rules of their namespaces.

    Attributes:
        services: The store's parts.
        types: Knows the classes that any thread may hold.
        binding: What knows the graph; None where none is known.
        fallback: Where threads are read that the store does not have.
    """

    def __init__(
        self, services: Services, types: TypeRegistry, fallback: Fallback | None = None
    ) -> None:
        """Know no thread yet.

        Args:
            services: The store's parts.
            types: Knows the classes that any thread may hold.
            fallback: Where threads are read that the store does not have.
        """
        self.services = services
        self.fallback = fallback
        self.binding: Binding | None = None
        self.types = types
        self._generic = contract_of(Anything)
        self._lock = threading.Lock()
        self._told = False
        self._working: dict[str, Future[None]] = {}
        self._threads: OrderedDict[str, Thread] = OrderedDict()
        self._rules: dict[Contract, tuple[Contract, Guard, Entering]] = {}

    def bind(self, binding: Binding | None) -> None:
        """Ask a binding for the rules from now on."""
        with self._lock:
            self.binding = binding
            self._threads.clear()
            self._rules.clear()

    def thread(self, thread: str) -> Thread:
        """Give a thread, which is the same one for as long as it is in use."""
        with self._lock:
            found = self._threads.get(thread)
            if found is None:
                found = self._threads[thread] = self.fresh(thread)
                while len(self._threads) > _REMEMBERED:
                    self._threads.popitem(last=False)
            else:
                self._threads.move_to_end(thread)
            return found

    def fresh(self, thread: str) -> Thread:
        """Give a thread of which nothing is known, and which is not remembered."""
        bound = self._contract("")
        return Thread(self.services, thread, bound or self._generic, bound=bound is not None)

    def begin(self, thread: str) -> Future[None] | None:
        """Begin work on a thread that one at a time does; give what to wait for where one does."""
        with self._lock:
            working = self._working.get(thread)
            if working is None:
                self._working[thread] = Future()
            return working

    def end(self, thread: str) -> None:
        """End the work on a thread, whatever came of it."""
        with self._lock:
            working = self._working.pop(thread)
        working.set_result(None)

    def tell_if_inexact(self, config: Mapping[str, Any]) -> None:
        """Say once that checkpoints of a graph that is not bound may show what came later."""
        configurable = config.get("configurable") or {}
        usual = "async" if RUNTIME in configurable else None  # LangGraph says it if it was chosen
        durability = configurable.get(DURABILITY, usual)
        if self.binding is None and durability in _INEXACT and not self._told:
            self._told = True
            _log.warning(
                'the graph is not bound to its saver: with durability="%s" a checkpoint may show '
                "what a later node did to an object that it changed in place, and what cannot be "
                "stored is refused after later nodes have run. saver.bind(graph) mends both, "
                'durability="sync" too.',
                durability,
            )

    def located(self, to: Address) -> Address:
        """Give the address under which a checkpoint lies whose tasks had other ids."""
        return to if self.binding is None else self.binding.graphs.located(to)

    def surface(self, thread: Thread, namespace: str) -> Surface:
        """Give what the values of a namespace go through."""
        own = self._contract(namespace) or self._generic
        rules = self._rules.get(own)
        if rules is None:
            rules = self._rules[own] = self._prepared(own)
        return Surface(self.services, rules[0], rules[1], thread.report, rules[2])

    def _contract(self, namespace: str) -> Contract | None:
        return self.binding.contract(namespace) if self.binding else None

    def _prepared(self, own: Contract) -> tuple[Contract, Guard, Entering]:
        codec = Codec(self.types.with_classes(own.classes))
        fields = MappingProxyType({**own.fields, **OWN_FIELDS})
        guard = StateGuard(self.services.scanner, codec, self.services.mode, own.fields)
        guard.require_declared(own)
        return replace(own, fields=fields), guard, Entering(self.services, own, codec)


def registry(base: TypeRegistry, types: Mapping[str, type]) -> TypeRegistry:
    """Give a registry of its own on top of the host's classes.

    Raises:
        UsageError: A name or a class is taken, or the class cannot be stored like this.
    """
    mine = TypeRegistry(base)
    for name, cls in types.items():
        mine.register(name, cls)
        mine.of_any_contract(cls)
    return mine
