"""A checkpoint, cut into its fields: each with the bytes that it takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from keepset.readers.decoding import from_json, from_tagged
from keepset.readers.decoding.entries import as_bytes, raws
from keepset.readers.decoding.remembered import Remembered
from keepset.readers.decoding.tagged import encoding_of
from keepset.readers.langgraph.edges import field_of, nodes_of
from keepset.readers.langgraph.names import CHECKPOINT, SENDS, surface
from keepset.readers.ports import Encoding, Foreign, Surface
from keepset.readers.times import time_from

_Raws = dict[str, msgspec.Raw]
_SENDS_KEY: Final = "pending_sends"  # where releases before 0.5 kept what nodes are sent
_SEEN_KEY: Final = "versions_seen"
_EMPTY_LIST: Final = (b"\x90", b"[]")


@dataclass(frozen=True, slots=True)
class Piece:
    """One field of a checkpoint or of its metadata.

    Attributes:
        field: Its channel or key.
        surface: Where it was let in.
        size: Its bytes.
        encoding: How it is stored.
        value: The value as data.
    """

    field: str
    surface: Surface
    size: int
    encoding: Encoding
    value: object


class Split:
    """Cuts checkpoints into fields; fields that stay the same are taken apart once."""

    def __init__(self) -> None:
        """Begin with nothing remembered."""
        self._remembered = Remembered()

    def checkpoint(self, tag: str | None, data: object) -> tuple[float | None, list[Piece]]:
        """Give the time of a checkpoint, and its channels.

        Args:
            tag: LangGraph's name for how it is stored.
            data: Its bytes.
        """
        raw = as_bytes(data)
        encoding = encoding_of(tag)
        take = self._remembered.take_apart if encoding == "msgpack" else from_json
        parts = raws(encoding, raw)
        values = _values(encoding, parts)
        if parts is None or values is None:
            return _whole(encoding, raw, from_tagged(tag, raw))
        nodes = nodes_of(take(bytes(parts[_SEEN_KEY]))) if _SEEN_KEY in parts else frozenset()
        pieces = list(_pieces(values, "state", encoding, take, nodes))
        sends = bytes(parts.get(_SENDS_KEY, b"\x90"))
        if sends not in _EMPTY_LIST:
            pieces.append(Piece(SENDS, "state", len(sends), encoding, take(sends)))
        written = take(bytes(parts["ts"])) if "ts" in parts else None
        return time_from(written), pieces

    def metadata(self, data: object) -> list[Piece]:
        """Give the entries of a checkpoint's metadata, which is JSON in all releases."""
        raw = as_bytes(data)
        values = raws("json", raw)
        if values is None:
            return [Piece("metadata", "metadata", len(raw), "json", from_json(raw))] if raw else []
        return list(_pieces(values, "metadata", "json", from_json))

    def value(self, tag: str | None, data: object) -> object:
        """Take one stored value apart."""
        raw = as_bytes(data)
        if raw and encoding_of(tag) == "msgpack":
            return self._remembered.take_apart(raw)
        return from_tagged(tag, raw if data is not None else None)


def channels(tag: str | None, data: object) -> list[tuple[str, bytes]] | None:
    """Give the names of a checkpoint's channels that have a value, with their bytes.

    None where they cannot be told without reading the whole, or not at all.
    """
    encoding = encoding_of(tag)
    parts = raws(encoding, as_bytes(data))
    values = _values(encoding, parts)
    if parts is None or values is None:
        return None
    found = [(name, bytes(value)) for name, value in values.items()]
    sends = bytes(parts.get(_SENDS_KEY, b"\x90"))
    return found if sends in _EMPTY_LIST else [*found, (SENDS, sends)]


def _values(encoding: Encoding, parts: _Raws | None) -> _Raws | None:
    if parts is None:
        return None
    if "channel_values" not in parts:
        # On PostgreSQL channels lie beside the checkpoint; release 1 left the key out altogether
        return {} if "channel_versions" in parts else None
    return raws(encoding, bytes(parts["channel_values"]))


def _pieces(
    values: _Raws,
    otherwise: Surface,
    encoding: Encoding,
    take: Callable[[bytes], object],
    nodes: Collection[str] = (),
) -> Iterator[Piece]:
    for name, value in values.items():
        raw = bytes(value)
        found = take(raw)
        where = surface(name, otherwise) if otherwise == "state" else otherwise
        yield Piece(field_of(name, nodes), where, len(raw), encoding, found)


def _whole(encoding: Encoding, raw: bytes, value: object) -> tuple[float | None, list[Piece]]:
    """Give what can be given of a checkpoint that was read as a whole, or not at all.

    How many bytes each channel takes is estimated then, from what stands in it.
    """
    values = value.get("channel_values") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(values, dict):
        return None, [Piece(CHECKPOINT, "state", len(raw), encoding, value)]
    nodes = nodes_of(value.get(_SEEN_KEY))
    weights = {str(name): weighed(one) for name, one in values.items()}
    share = len(raw) / (weighed(value) or 1)
    pieces = [
        Piece(
            field_of(str(name), nodes),
            surface(str(name), "state"),
            int(weights[str(name)] * share),
            encoding,
            one,
        )
        for name, one in values.items()
    ]
    return time_from(value.get("ts")), pieces


def weighed(value: object) -> int:
    """Estimate the bytes of a value that was taken apart."""
    size = 0
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (str, bytes)):
            size += len(one)
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, Foreign):
            waiting += [one.type, one.parts]
        size += 2
    return size
