"""A `keepset.Workflow` as something that can be proven."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from keepset.backends.driver import adrive, drive
from keepset.codec import Codec
from keepset.contracts import Contract, Field
from keepset.prove.ports import Life, Progress
from keepset.prove.watch import Watch
from keepset.run.services import codec_of
from keepset.workflow import Workflow

RUN = "proof"


class WorkflowTarget:
    """Proves a workflow: each life has one that was made for it."""

    def __init__(self, make: Callable[[], Workflow]) -> None:
        """Take what makes the workflow; it is made once to look at it."""
        self._make = make
        self.contract: Contract = make().contract
        self.codec: Codec = codec_of(self.contract)

    @property
    def name(self) -> str:
        """The name of its contract."""
        return self.contract.name

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields of its state."""
        return self.contract.fields

    @property
    def outputs(self) -> frozenset[str]:
        """None: a workflow gives its whole state, and does not say what of it is read."""
        return frozenset()

    @property
    def carries(self) -> bool:
        """It does: a step is handed the whole state."""
        return True

    def live(self, life: Life, watch: Watch) -> Mapping[str, Any]:
        """See `keepset.prove.ports.Target`; the points are those between two steps."""
        made = self._make()
        contract = made.contract.with_rules(life.rules)
        watched = _Watched(made, watch, is_resuming=life.since is not None)
        workflow = Workflow(contract, watched.steps)
        given = _state(contract, life.script.inputs) if life.since is None else None
        core = life.store.run(contract, RUN).core
        flow = workflow.flow(core, given)
        try:
            if watched.is_async:
                state = asyncio.run(adrive(flow, core.services.backend))
            else:
                state = drive(flow, core.services.backend)
        finally:
            watch.changed.update(core.changed_pins)
        return contract.values(state)


class _Watched:
    """The steps of a workflow, each of which says that it begins."""

    def __init__(self, workflow: Workflow, watch: Watch, *, is_resuming: bool) -> None:
        self._watch = watch
        self._contract = workflow.contract
        self._names = list(workflow.steps)
        self._is_first = True
        self._is_resuming = is_resuming
        steps = workflow.steps.values()
        self.is_async = any(inspect.iscoroutinefunction(step) for step in steps)
        self.steps = [self._wrapped(step) for step in steps]

    def _wrapped(self, step: Callable[[Any], Any]) -> Callable[[Any], Any]:
        name = step.__name__

        @functools.wraps(step)
        def called(state: Any) -> Any:
            self._begin(name, state)
            return step(state)

        @functools.wraps(step)
        async def awaited(state: Any) -> Any:
            self._begin(name, state)
            return await step(state)

        return awaited if inspect.iscoroutinefunction(step) else called

    def _begin(self, name: str, state: Any) -> None:
        """Say that a step begins, and before it that the one in front of it was saved."""
        position = self._names.index(name)
        if position and not (self._is_first and self._is_resuming):
            live = self._contract.values(state)
            self._watch.landed(f"after {self._names[position - 1]}", Progress(turn=1), live)
        self._is_first = False
        self._watch.began(name)


def _state(contract: Contract, inputs: tuple[Any, ...]) -> Any:
    """Make the state that a run begins with; fields as a mapping make one of any kind."""
    given = inputs[0] if inputs else {}
    return contract.build(contract.admit(given)) if isinstance(given, Mapping) else given
