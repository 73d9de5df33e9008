"""From stored rows to the values of a state, and to what a writer needs to remember of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from msgspec import Raw

from keepset.codec import Codec, portions_of
from keepset.delta import FEW, MISSING, Frozen, Hashed, apply_all, freeze, joined
from keepset.plan.chains import Chain, Chains, Loose, unpacked
from keepset.plan.columns import OpenColumn
from keepset.plan.groups import Group
from keepset.plan.headers import unpack_headers
from keepset.plan.later import Later
from keepset.plan.memory import FieldMemory, LineMemory
from keepset.plan.packing import NO_PACKS, Packs
from keepset.plan.reads import Loaded
from keepset.plan.rows import StepRow


def rebuild(chains: Chains, blobs: Mapping[bytes, Any]) -> dict[str, Any]:
    """Apply every chain: the stored values by field; a field that is absent is not in it."""
    values: dict[str, Any] = {}
    for name, chain in chains.fields.items():
        value = apply_all(MISSING, chain.ops, blobs)
        if value is not MISSING:
            values[name] = value
    return values


def header_at(loaded: Loaded) -> StepRow | None:
    """The header of the step at the position, packed or not; None where there is none."""
    if loaded.header is not None or loaded.headers is None:
        return loaded.header
    packed = unpack_headers(loaded.headers)
    return next((row for row in packed if row.seq == loaded.seq), None)


def remember(
    loaded: Loaded,
    chains: Chains,
    values: Mapping[str, Any],
    codec: Codec,
    limit: int | None = None,
) -> LineMemory:
    """Make a writer's memory of the line that was loaded, before anybody can change the values.

    Pictures are taken when the first save asks for them, from the segments that were loaded, so
    that who only reads does not pay for them. Those of fields with large values, which are not
    there, are taken now.

    Args:
        loaded: What was loaded, at the newest checkpoint of a line or at a fork point.
        chains: Its chains.
        values: The values that the chains gave.
        codec: The codec that a save will use.
        limit: Bytes above which pictures of values that are large in their units are taken by
            digest; None to take them whole.
    """
    line, header = loaded.line, header_at(loaded)
    fresh = line is None or loaded.seq <= line.parent_seq
    return LineMemory(
        line=line.id if line else None,
        seq=loaded.seq,
        head=0 if fresh else loaded.seq,
        checkpoint=header.checkpoint if header else "",
        fields=_fields(chains, values, codec, limit),
        tail=() if fresh else chains.tail,
        packs=NO_PACKS if fresh else _packs(chains, codec),
        whole=fresh and line is not None and line.parent is not None and line.depth == 0,
        blobs=chains.stored.union(chains.refs()),
    )


def _fields(
    chains: Chains, values: Mapping[str, Any], codec: Codec, limit: int | None
) -> Later[FieldMemory]:
    made: dict[str, FieldMemory] = {}
    makers: dict[str, Callable[[], FieldMemory]] = {}
    for name, chain in chains.fields.items():
        if name not in values:
            made[name] = _field(chain, None)
        elif chain.refs():
            over = limit is not None and sum(chain.refs().values()) > limit
            by_digest = over and chain.size <= FEW
            made[name] = _field(chain, _taken(values[name], codec, by_digest=by_digest))
            limit = None if limit is None else limit - made[name].size
        else:
            makers[name] = partial(_pictured, name, replace(chain, ops=()), codec)
    pieces = [piece for chain in chains.fields.values() for piece in chain.pieces]
    return Later(made, makers, sum([p.size for p in pieces if isinstance(p, OpenColumn)]))


def _packs(chains: Chains, codec: Codec) -> Packs:
    makers: dict[str, Callable[[], Group]] = {
        name: partial(opened.group, codec) for name, opened in chains.opened.items()
    }
    return Packs(None, Later({}, makers))


def _pictured(name: str, chain: Chain, codec: Codec) -> FieldMemory:
    """Take the picture of the value at the end of a chain, from where its differences lie."""
    data = _cut_out(chain) if chain.plain else None
    if data is not None:
        return _field(chain, Frozen(data))
    value = apply_all(MISSING, unpacked(name, chain.pieces, codec), {})
    return _field(chain, freeze(value, codec.pack))


def _cut_out(chain: Chain) -> bytes | None:
    """Give the packed value at the end of a chain without unpacking it; None where that fails."""
    ops: list[bytes | Raw] = []
    for piece in chain.pieces:
        if isinstance(piece, Loose):
            ops.append(piece.op)
            continue
        some = piece.packed_ops(chain.base)
        if some is None:
            return None
        ops += some
    return joined(ops)


def _taken(value: Any, codec: Codec, *, by_digest: bool) -> Frozen | Hashed:
    if by_digest:
        return Hashed(portions_of(value, codec.pack))
    return freeze(value, codec.pack)


def _field(chain: Chain, picture: Frozen | Hashed | None) -> FieldMemory:
    return FieldMemory(picture, picture, chain.base, chain.last, chain.size)


def branch_off(memory: LineMemory, line: int | None, depth: int) -> LineMemory:
    """Take a writer's memory of a fork point over to a new line, which has no rows yet.

    Args:
        memory: What was loaded at the fork point.
        line: The backend's number of the new line; None where its first save makes it.
        depth: See `LineRow.depth`.
    """
    return memory._replace(
        line=line, head=0, tail=(), packs=NO_PACKS, whole=depth == 0, weight=None
    )
