"""Where threads go: what the databases of LangGraph's savers have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from keepset.codec import Path

Saver = BaseCheckpointSaver[Any]


@dataclass
class Turn:
    """What is done with one thread: all of it is one transaction.

    Attributes:
        there: How many checkpoints of the thread the target has.
        reading: Reads those; None where the target is not there yet.
        writing: Takes the thread; what it takes in a dry run is thrown away.
    """

    there: int
    reading: Saver | None
    writing: Saver


class Target(Protocol):
    """A database of LangGraph's."""

    def turn(self, thread: str) -> AbstractContextManager[Turn]:
        """Do one thread; what was written is undone where an error is raised.

        Raises:
            StoreError: The database refuses.
            Unfit: It refuses this thread.
        """
        ...

    def unfit(self, value: Any, path: Path) -> tuple[Path, str] | None:
        """Say what in a value that it writes as JSON the database cannot hold; None where it can.

        Args:
            value: The value.
            path: Where it lies.
        """
        ...


class Unfit(Exception):  # noqa: N818 - it is no error: the thread is told of and left out
    """The database does not take what it was given.

    Attributes:
        why: The kind of the driver's own error.
    """

    def __init__(self, why: str) -> None:
        """Say why."""
        super().__init__(why)
        self.why = why


@dataclass
class Measured:
    """LangGraph's serializer, which counts the bytes that it has made and read.

    It makes again what states here may hold, and nothing else: it never does what data asks for.

    Attributes:
        made: How many bytes it has made.
        read: How many bytes it has read.
        classes: The classes that it may make, beside those that LangGraph calls safe.
    """

    made: int = 0
    read: int = 0
    classes: set[type] = field(default_factory=set)
    _inner: Any = None

    def __post_init__(self) -> None:
        """Make one that knows no class yet."""
        self._inner = _strict(())

    def knows(self, classes: set[type]) -> None:
        """Allow some more classes."""
        if not classes <= self.classes:
            self.classes |= classes
            self._inner = _strict(self.classes)

    def dumps_typed(self, value: Any) -> tuple[str, bytes]:
        """See `JsonPlusSerializer`."""
        kind, data = self._inner.dumps_typed(value)
        self.made += len(data)
        return kind, data

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """See `JsonPlusSerializer`."""
        self.read += len(data[1])
        return self._inner.loads_typed(data)

    def again(self, value: Any) -> Any:
        """Give what is read where a value was written."""
        return self._inner.loads_typed(self._inner.dumps_typed(value))

    def dumps(self, value: Any) -> bytes:
        """Give the bytes of a value, as older savers ask for them."""
        made: bytes = self.dumps_typed(value)[1]
        return made


def _strict(classes: Any) -> Any:
    if "allowed_msgpack_modules" not in signature(JsonPlusSerializer).parameters:
        return JsonPlusSerializer()  # an older release makes what data names
    named = tuple((cls.__module__, cls.__qualname__) for cls in classes)
    return JsonPlusSerializer(allowed_msgpack_modules=named or None)


@contextmanager
def translated(
    kinds: type[Exception] | tuple[type[Exception], ...], mean: Callable[[Exception], Exception]
) -> Iterator[None]:
    """Turn a driver's errors into ours."""
    try:
        yield
    except kinds as error:
        raise mean(error) from error
