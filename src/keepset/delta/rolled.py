"""The picture of a long list, in chunks: what was added is found without touching the rest twice.

To pack a long list as a whole takes one large buffer, and to compare it another pass over cold
memory. In chunks of some KB each of which is packed, compared and let go, the same takes a
quarter of the time, and a list that grows never has its picture copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from keepset.codec import array_header, bytes_free
from keepset.delta.change import LARGE, Change, Code, Draft, frame, number, render
from keepset.delta.frozen import Frozen, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import msgspec

    from keepset.codec import Buffer
    from keepset.delta.change import Move

CHUNK = 16 * 1024
"""Bytes from which on a chunk takes no more items; a list of fewer bytes is not cut."""

_TOGETHER = 3
"""Chunks that become one: what is compared as a whole takes less time in fewer pieces, as long as
they have fewer than 64 KB, above which the time to get memory for one grows."""

_SPREAD = 2654435761
"""Knuth's multiplicative hash: consecutive numbers are spread over all chunks."""


_EDITS, _NONE_GONE = frame(4, Code.LIST), number(0)


class Same(Protocol):
    """Tells whether parts of a list are exactly what packed bytes say; see `Codec.begins_as`."""

    def __call__(self, value: list[Any], parts: Iterable[Chunk], /) -> bool:
        """Compare."""
        ...


class Chunk(NamedTuple):
    """Some neighbouring items.

    Attributes:
        start: Index of the first one in the list.
        stop: Index after the last one.
        data: They, packed as a list.
        plain: Whether they are known to hold no bytes, which makes them quicker to compare.
    """

    start: int
    stop: int
    data: bytes
    plain: bool = False

    @property
    def body(self) -> memoryview:
        """The packed items without the list's header."""
        return memoryview(self.data)[len(array_header(self.stop - self.start)) :]


class Rolled:
    """A picture of one list; it says the same as the `Frozen` that it was made of.

    Attributes:
        count: Number of items.
        size: Bytes of the packed list.
        memory: Bytes of memory that it takes, nearly.
    """

    __slots__ = ("_chunks", "count", "memory", "size")

    def __init__(self, chunks: tuple[Chunk, ...], size: int) -> None:
        """Take chunks that follow each other, at least one."""
        self._chunks = chunks
        self.count = chunks[-1].stop
        self.size = self.memory = size

    @property
    def frozen(self) -> Frozen:
        """The same picture in one piece."""
        return Frozen(self.packed())

    def packed(self) -> bytes:
        """Give the packed list."""
        return b"".join([array_header(self.count), *(chunk.body for chunk in self._chunks)])

    def parts(self) -> Iterator[Frozen]:
        """Give the pictures of the parts that the list is cut into."""
        return (Frozen(chunk.data) for chunk in self._chunks)

    def since(self, index: int) -> tuple[int, bytes]:
        """Give the items from one on, packed as a list, and where that list begins.

        It begins with the chunk of that item.
        """
        chunks = [chunk for chunk in self._chunks if chunk.stop > index]
        start = chunks[0].start if chunks else self.count
        header = array_header(self.count - start)
        return start, b"".join([header, *(chunk.body for chunk in chunks)])

    def begins(self, value: list[Any], same: Same, sample: int | None = None) -> bool:
        """Tell whether a list begins with the items of this picture.

        Args:
            value: The list.
            same: Tells whether parts of a list are exactly what packed bytes say.
            sample: A number to choose by, where only the first and the last chunk and one between
                them are to be compared; None to compare all.
        """
        if len(value) < self.count:
            return False
        chunks = self._chunks
        if sample is not None:
            chosen = {0, sample * _SPREAD % 2**32 % len(chunks), len(chunks) - 1}
            chunks = tuple(chunks[index] for index in sorted(chosen))
        return same(value, chunks)

    def beyond(self, old: Rolled) -> Frozen | None:
        """Give the items that this picture has and an older one of the list has not, as a list.

        Pictures that were made of each other share their chunks, so that most of what is compared
        is the same object.

        Returns:
            The items, perhaps none; None where the list does not begin as the older one did, or
            the two are cut at other places.
        """
        last = len(old._chunks) - 1
        if self.count < old.count or len(self._chunks) <= last:
            return None
        for mine, theirs in zip(self._chunks, old._chunks[:last], strict=False):
            if mine is not theirs and mine != theirs:
                return None
        if self._chunks[last] is old._chunks[last] and self.count == old.count:
            return Frozen(array_header(0))
        tail = b"".join([chunk.body for chunk in self._chunks[last:]])
        known = old._chunks[last]
        if self._chunks[last].start != known.start or not tail.startswith(known.body):
            return None
        return Frozen(array_header(self.count - old.count) + tail[len(known.body) :])

    def grown(self, new: Frozen, *, wide: bool = False) -> Rolled:
        """Make the picture of the list with the items of another list behind it.

        Args:
            new: The other list.
            wide: Whether chunks become longer once there are many, since all are compared.
        """
        chunks, last, count = self._chunks, self._chunks[-1], self.count + new.count
        size = self.size + len(new.data) - new.start
        size += len(array_header(count)) - len(array_header(self.count))
        if len(last.data) >= CHUNK:
            known = _widened(chunks) if wide else chunks
            return Rolled((*known, *_cut(new, self.count)), size)
        joined = b"".join((array_header(count - last.start), last.body, new.data[new.start :]))
        if len(joined) <= CHUNK:
            plain = last.plain and bytes_free(new.data)
            return Rolled((*chunks[:-1], Chunk(last.start, count, joined, plain)), size)
        return Rolled((*chunks[:-1], *_cut(Frozen(joined), last.start)), size)


def roll(picture: Frozen, least: int = CHUNK) -> Rolled | None:
    """Cut the picture of a list into chunks; None where it is too short, empty, or no list.

    Args:
        picture: The picture.
        least: Bytes that it has to have.
    """
    if picture.kind is not Kind.LIST or picture.size < least or not picture.count:
        return None
    return Rolled(tuple(_cut(picture, 0)), picture.size)


def _widened(chunks: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
    """Put the last chunks together, where they are many and all short."""
    last = chunks[-_TOGETHER:]
    if len(last) < _TOGETHER or not all([c.plain and len(c.data) < 2 * CHUNK for c in last]):  # noqa: C419 - a generator takes twice the time
        return chunks
    start, stop = last[0].start, last[-1].stop
    data = b"".join([array_header(stop - start), *[chunk.body for chunk in last]])
    return (*chunks[:-_TOGETHER], Chunk(start, stop, data, plain=True))


def _cut(new: Frozen, first: int) -> Iterable[Chunk]:
    """Cut items that stand in the list from `first` on."""
    items = new.items() if len(new.data) > CHUNK else None
    if items is None:
        return (Chunk(first, first + new.count, new.data, bytes_free(new.data)),)
    return _chunks(new, items, first)


def _chunks(new: Frozen, items: list[msgspec.Raw], first: int) -> Iterator[Chunk]:
    begin = reached = new.start
    start, view = 0, memoryview(new.data)
    for stop, item in enumerate(items, 1):
        reached += len(memoryview(item))
        if reached - begin >= CHUNK or stop == new.count:
            data = b"".join((array_header(stop - start), view[begin:reached]))
            yield Chunk(first + start, first + stop, data, bytes_free(data))
            begin, start = reached, stop


def appended(count: int, new: Frozen, move: Move | None = None) -> Change:
    """Give the change that puts the items of one list behind those of another.

    Args:
        count: How many items there are before.
        new: What comes behind them, as a list.
        move: See `whole`.
    """
    head: list[Buffer] = [_EDITS, number(count), _NONE_GONE, array_header(new.count)]
    paths = tuple([(index,) for index in range(count, count + new.count)])
    items = new.items() if len(new.data) > LARGE else None
    if items is None:
        op = b"".join((*head, new.data[new.start :]))
        return Change(op, paths, is_whole=False, size=len(op))
    draft = Draft(head)
    for index, item in enumerate(items, count):
        draft.part(index, item)
    return Change(render(draft, move), paths, is_whole=False, size=draft.size())
