"""The exact way to pack: an iterative walk that knows the path of every value it meets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

import ormsgpack

from keepset.codec import tags
from keepset.codec.failures import placed, refused, type_name
from keepset.codec.framing import array_header, extension, map_header
from keepset.codec.nodes import VALUE, Form, Leaf, Node
from keepset.codec.numeric import write_integer
from keepset.codec.path import Path
from keepset.codec.standard import write_text
from keepset.codec.unknown import CODE, unknown
from keepset.errors import PolicyError

DEPTH = 256
"""Levels of containers and objects that a value may have."""
_SMALLEST, _LARGEST = -(1 << 63), (1 << 64) - 1
_SCALARS = frozenset({type(None), bool, float, bytes})
_pack_plain = ormsgpack.packb

T = TypeVar("T")
Step: TypeAlias = tuple[str | int | None, Any]
"""A part of a value with its path element; None for what lies at the path of the value itself."""


class _Frame:
    """A value whose parts are being packed."""

    __slots__ = ("below", "depth", "element", "finish", "out", "owner", "steps")

    def __init__(
        self,
        value: object,
        depth: int,
        steps: Iterable[Step],
        finish: Callable[[list[bytes]], bytes],
        below: _Put | None,
    ) -> None:
        self.owner = value
        self.depth = depth
        self.steps: Iterator[Step] = iter(steps)
        self.finish = finish
        self.out: list[bytes] = []
        self.element: str | int | None = None
        self.below = below


class _Put:
    """What is to be put in place of a value, or of values below it, by path element."""

    __slots__ = ("below", "path")

    def __init__(self) -> None:
        self.path: Path | None = None
        self.below: dict[str | int, _Put] = {}

    def add(self, path: Path, start: int) -> None:
        node = self
        for element in path[start:]:
            node = node.below.setdefault(element, _Put())
        node.path = path


class Walk:
    """One packing of one value."""

    def __init__(
        self,
        form: Callable[[type], Form],
        path: Path,
        substitute: Mapping[Path, object],
        part: Callable[[object, int], bytes | None],
    ) -> None:
        """Begin at a path.

        Args:
            form: Finds how a class is written.
            path: Where the value lies.
            substitute: What to put in place of the values at these paths, all of them below it.
            part: Packs in a faster way, at a depth, a value in which nothing is replaced; gives
                None where it cannot.
        """
        self._form = form
        self._base = path
        self._substitute = substitute
        self._part = part
        self._replaced: set[Path] = set()
        self._frames: list[_Frame] = []
        self._active: set[int] = set()

    def pack(self, value: object) -> bytes:
        """Pack the value.

        Raises:
            PolicyError: With the path of what cannot be stored.
        """
        try:
            data = self._pack(value)
        except PolicyError as error:
            raise placed(error, self._path()) from error.__cause__
        missed = [path for path in self._substitute if not self._reached(path)]
        if missed:
            raise placed(_unreachable(), missed[0])
        return data

    def _pack(self, value: object) -> bytes:
        below = _Put() if self._substitute else None
        for path in self._substitute:
            _require(below).add(path, len(self._base))
        piece = self._enter(value, 0, below)
        while self._frames:
            frame = self._frames[-1]
            if piece is not None:
                frame.out.append(piece)
            for element, child in frame.steps:
                piece = self._step(frame, element, child)
                if piece is None:
                    break
                frame.out.append(piece)
            else:
                piece = frame.finish(frame.out)
                self._frames.pop()
                self._active.discard(id(frame.owner))
        return _require(piece)

    def _step(self, frame: _Frame, element: str | int | None, child: object) -> bytes | None:
        frame.element, below = element, frame.below
        if element is None:
            return self._enter(child, frame.depth - 1, below)
        if below is None:
            return self._enter(child, frame.depth, None)
        put = below.below.get(element)
        if put is None:
            piece = self._part(child, frame.depth)
            return self._enter(child, frame.depth, None) if piece is None else piece
        if put.path is None:
            return self._enter(child, frame.depth, put)
        self._replaced.add(put.path)
        return self._enter(self._substitute[put.path], frame.depth, None)

    def _enter(self, value: Any, depth: int, below: _Put | None) -> bytes | None:
        """Pack a value without parts, or push a frame and give None."""
        cls = type(value)
        if cls is str:
            return _text(value)
        if cls in _SCALARS:
            return _pack_plain(value)
        if cls is int:
            if _SMALLEST <= value <= _LARGEST:
                return _pack_plain(value)
            return extension(tags.INTEGER, write_integer(value))
        if cls is list:
            self._push(value, depth, enumerate(value), _array, below)
        elif cls is dict:
            self._push(value, depth, *_mapping(value), below)
        else:
            form = self._form_of(value)
            if isinstance(form, Leaf):
                return extension(form.tag, form.write(value))
            self._push(value, depth, *_object(form, value), below)
        return None

    def _form_of(self, value: object) -> Form:
        try:
            return self._form(type(value))
        except PolicyError as error:
            own = getattr(value, "__dict__", None)
            if error.code != CODE or type(own) is not dict:
                raise
        raise unknown(type(value), own)

    def _push(
        self,
        value: object,
        depth: int,
        steps: Iterable[Step],
        finish: Callable[[list[bytes]], bytes],
        below: _Put | None,
    ) -> None:
        if id(value) in self._active:
            raise refused(
                f"{type_name(type(value))} holds itself",
                "codec.cycle",
                "Keep an id in place of the reference that leads back.",
            )
        if depth >= DEPTH:
            raise refused(
                f"{type_name(type(value))} lies more than {DEPTH} levels deep",
                "codec.too-deep",
                "Keep the parts in a flat list, with ids in place of nesting.",
            )
        self._active.add(id(value))
        self._frames.append(_Frame(value, depth + 1, steps, finish, below))

    def _path(self) -> Path:
        elements = (frame.element for frame in self._frames)
        return (*self._base, *(element for element in elements if element is not None))

    def _reached(self, path: Path) -> bool:
        return any(path[:length] in self._replaced for length in range(1, len(path) + 1))


def _require(value: T | None) -> T:
    if value is None:
        raise AssertionError
    return value


def parts_of(form: Node, value: object) -> Iterator[tuple[str | int, object]]:
    """Give the parts of an object, without what its type stores beside them."""
    steps = steps_of(form, value)
    for element, item in steps if form.spread else steps[form.head :]:
        if element is not None:
            yield element, item
        else:
            yield from enumerate(item) if type(item) is list else entries_of(item)


def entries_of(value: dict[Any, Any]) -> Iterable[tuple[str | int, object]]:
    """Give the parts of a mapping; its keys are parts as well where they are not all text."""
    plain = all(type(key) is str for key in value)
    return value.items() if plain else _entries(value)


def steps_of(form: Node, value: object) -> list[Step]:
    """Give the parts of an object and what its type stores beside them, in their order."""
    payload = form.split(value)
    if form.spread:
        return list(enumerate(payload))
    head, parts = payload[: form.head], payload[form.head :]
    return [
        *((None, item) for item in head),
        *((None if type(item) in (list, dict) else VALUE, item) for item in parts),
    ]


def _entries(value: dict[Any, Any]) -> Iterator[tuple[str | int, Any]]:
    """Give the keys and the values of a mapping whose keys are not all text, in turns.

    A key stands as its type and place, also in the path of what is under it, unless it is a text
    or an integer.
    """
    for index, (key, item) in enumerate(value.items()):
        name = f"{type(key).__name__} key {index}"
        yield f"<{name}>", key
        yield key if type(key) in (str, int) else f"<value of {name}>", item


def _mapping(
    value: dict[Any, Any],
) -> tuple[Iterable[Step], Callable[[list[bytes]], bytes]]:
    try:
        keys = [_key(key) for key in value]
    except TypeError:
        return _entries(value), _pairs

    def finish(out: list[bytes]) -> bytes:
        both = (part for pair in zip(keys, out, strict=True) for part in pair)
        return map_header(len(out)) + b"".join(both)

    return value.items(), finish


def _object(form: Node, value: object) -> tuple[Iterable[Step], Callable[[list[bytes]], bytes]]:
    def finish(out: list[bytes]) -> bytes:
        return extension(form.tag, _array(sorted(set(out)) if form.unordered else out))

    return steps_of(form, value), finish


def _key(key: object) -> bytes:
    if type(key) is not str:
        raise TypeError
    return _pack_plain(key)


def _text(value: str) -> bytes:
    try:
        return _pack_plain(value)
    except TypeError:  # a lone surrogate
        return extension(tags.TEXT, write_text(value))


def _array(out: list[bytes]) -> bytes:
    return array_header(len(out)) + b"".join(out)


def _pairs(out: list[bytes]) -> bytes:
    return extension(tags.MAPPING, _array(out))


def _unreachable() -> PolicyError:
    return refused(
        "a part of this value was to be replaced, and the value can only be stored whole",
        "codec.unreachable",
        "Take the secret out before the value enters the state.",
    )
