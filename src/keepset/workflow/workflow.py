"""Run a list of functions over a state, saved after each, resumed after the last one saved."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from keepset.backends.driver import adrive, drive
from keepset.contracts import Contract, contract_of
from keepset.errors import ConflictError, KeepsetError, SchemaError, UsageError
from keepset.plan.requests import Call, Flow
from keepset.plan.restore import restore
from keepset.run.core import RunCore
from keepset.store.store import AsyncStore, Store
from keepset.verdict.status import Status

Step = Callable[[Any], Any]


class Workflow:
    """Steps that a state goes through, one after the other.

    A step is called with the state. It gives a mapping of the fields that it changes, a whole new
    state, or None where it changed the state in place. It may be a coroutine function where the
    store is asynchronous.

    A run that was killed goes on after the last step whose save has landed: that step's work is
    never done again, the work of the step that was under way is.
    """

    def __init__(self, contract: Any, steps: Sequence[Step]) -> None:
        """Name the steps by their functions.

        Args:
            contract: A state type (or its `Contract`).
            steps: The functions, in order.

        Raises:
            UsageError: There is no step, or two have one name.
        """
        self.contract: Contract = contract_of(contract)
        listed = isinstance(steps, list | tuple)
        self.steps: dict[str, Step] = {name_of(step): step for step in steps} if listed else {}
        if not self.steps or len(self.steps) != len(steps):
            raise UsageError(
                "a workflow needs one or more steps, each with a name of its own",
                code="workflow.steps",
                hint="Where a run goes on is found by the names of its steps.",
            )

    def run(self, store: Store, run_id: str, state: Any = None, subject: str | None = None) -> Any:
        """Begin a run, or go on after the last step that was saved; give the final state.

        Args:
            store: Where to save.
            run_id: The run.
            state: What to begin with: the fields that are known; those that a rule restores may
                be missing. Not looked at where the run is there already.
            subject: The person whose data the run holds.

        Raises:
            UsageError: The run is not there and no state was given.
            SchemaError: The run waits after a step that this workflow does not have.
            ConflictError: ``run.leased``: another execution works on the run; no step was begun.
        """
        _require(store, Store, "run", "arun")
        run = store.run(self.contract, run_id, subject)
        return drive(self.flow(run.core, state), run.core.services.backend)

    async def arun(
        self, store: AsyncStore, run_id: str, state: Any = None, subject: str | None = None
    ) -> Any:
        """See `run`."""
        _require(store, AsyncStore, "arun", "run")
        run = await store.run(self.contract, run_id, subject)
        return await adrive(self.flow(run.core, state), run.core.services.backend)

    def flow(self, core: RunCore, given: Any) -> Flow[Any]:
        """Give `run` as a flow over a run's operations, for those who build on them."""
        core.services.may_write()
        core.guard.require_declared(self.contract)
        state = yield from core.state()
        names = list(self.steps)
        position = 0
        if state is None:
            state = yield from self._begin(core, given)
        else:
            position = self._after(core.last_step, names)
        if not names[position:]:
            return state
        core.holding.open = False
        yield from core.take_lease()
        try:
            return (yield from self._steps(core, state, names[position:]))
        except GeneratorExit:
            core.holding.drop()
            raise
        except BaseException:
            with suppress(KeepsetError):  # it ends by itself
                yield from core.holding.give_back()
            raise

    def _steps(self, core: RunCore, state: Any, names: Sequence[str]) -> Flow[Any]:
        for name in names:
            try:
                before = self.contract.values(state)
                result = yield Call(self.steps[name], (state,))
                state = self._entered(before, state, result)
                status = Status.DONE if name == names[-1] else Status.RUNNING
                yield from core.save(name, state, status=status, admitted=True)
            except ConflictError:
                raise
            except Exception:
                yield from self._failed(core)
                raise
        return state

    def _failed(self, core: RunCore) -> Generator[Any, Any, None]:
        """Let the run stand as failed after the step before, once for as often as it is tried."""
        if core.last_step and core.last_status != Status.FAILED:
            with suppress(KeepsetError):  # the step's own error is what matters
                yield from core.mark(Status.FAILED)

    def _begin(self, core: RunCore, given: Any) -> Generator[Any, Any, Any]:
        if given is None:
            raise UsageError(
                f"there is no run {core.reader.key.run_id} to go on with",
                code="workflow.no-state",
                hint="Give the state to begin with.",
            )
        values = self.contract.admit(self.contract.values(given))
        yield from restore(self.contract, values, core.codec, core.entering.resolve)
        return self.contract.build(values)

    def _after(self, step: str, names: Sequence[str]) -> int:
        if step not in self.steps:
            raise SchemaError(
                f"the run waits after step {step}, which this workflow does not have",
                code="workflow.unknown-step",
                hint="Give the step its old name back, or finish the run with its old code.",
            )
        return names.index(step) + 1

    def _entered(self, before: Mapping[str, Any], state: Any, result: Any) -> Any:
        """Let a step's result enter the state, with the rules that shape a value applied."""
        values = self.contract.values(state)
        if isinstance(result, Mapping):
            values |= result
        elif result is not None:
            values = self.contract.values(result)
        changed = {name for name, value in values.items() if before.get(name, self) is not value}
        return self.contract.build(self.contract.admit(values, changed))


def _require(store: object, kind: type, called: str, other: str) -> None:
    if not isinstance(store, kind):
        raise UsageError(
            f"{called} needs a {kind.__name__}, and this is a {type(store).__name__}",
            code="workflow.store",
            hint=f"Use `workflow.{other}`, or open the other kind of store.",
        )


def name_of(step: Step) -> str:
    """The name under which a step is saved.

    Raises:
        UsageError: The function has no name of its own, as a lambda or a `functools.partial`.
    """
    name = getattr(step, "__name__", "<lambda>")
    if name == "<lambda>":
        raise UsageError(
            "a step has no name",
            code="workflow.steps",
            hint="Use a function with `def`: a run goes on after the step of a name.",
        )
    return str(name)
