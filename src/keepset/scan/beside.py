"""Large content whose ids stand in a field beside it: it can be fetched again by them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final
from uuid import UUID

from keepset.scan.finding import Finding
from keepset.scan.reasons import CONTENT_BESIDE_IDS
from keepset.scan.responses import members

LARGE: Final = 4096
"""From this many bytes of text on, content is large."""

_LONGEST_ID: Final = 512
_DEEPEST: Final = 3
_MOST_ITEMS: Final = 100_000
_ID_NAMES: Final = (
    "id", "_id", "doc_id", "document_id", "docid", "chunk_id", "node_id", "page_id", "file_id",
    "source_id", "uid", "uuid", "key", "slug", "path", "source", "url", "uri", "link", "href",
)  # fmt: skip
_BESIDE: Final = ("metadata", "meta")
_IDS_FIELD: Final = re.compile(
    r"(?P<stem>.+?)_?(?:ids|keys|uris|urls|links|sources|refs|references|uuids|hashes|paths)"
)


def beside_ids(fields: Mapping[str, object]) -> list[Finding]:
    """Report fields that hold large content while another field holds the ids of its items.

    Ids are those of the items where every item's own id is in the other field. Where items have
    no id of their own, as many ids as items in a field of a fitting name (``docs``, ``doc_ids``)
    will do.

    Args:
        fields: Values of a state by field.
    """
    found = []
    for name, value in fields.items():
        items = _items(value)
        size = _size(value)
        if not items or size < LARGE:
            continue
        using = next(_siblings(name, value, items, fields), None)
        if using is not None:
            detail = f"{len(items)} items, {size} bytes of text, ids in {using}"
            advice = f'Declare the field Refetch(load, using="{using}"): it is fetched on resume.'
            found.append(Finding(CONTENT_BESIDE_IDS, (name,), detail, advice))
    return found


def _siblings(
    name: str, value: object, items: Sequence[Any], fields: Mapping[str, object]
) -> Iterator[str]:
    own = _own_ids(value, items)
    for other, candidate in fields.items():
        ids = _ids(candidate) if other != name else None
        if not ids:
            continue
        same_items = any(kind <= set(ids) for kind in own)
        fits = not own and len(ids) == len(items) and _fits(name, other)
        if same_items or fits:
            yield other


def _items(value: object) -> Sequence[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, (list, tuple)) else ()


def _ids(value: object) -> list[str] | None:
    if not isinstance(value, (list, tuple, set, frozenset)) or not value:
        return None
    ids = [_id(item) for item in value]
    return None if any(one is None for one in ids) else [one for one in ids if one is not None]


def _id(value: object) -> str | None:
    if isinstance(value, str):
        return value if 0 < len(value) <= _LONGEST_ID else None
    if isinstance(value, (int, UUID)) and not isinstance(value, bool):
        return str(value)
    return None


def _own_ids(value: object, items: Sequence[Any]) -> list[set[str]]:
    """Give the ids that the items carry: one set per attribute that every item has."""
    if isinstance(value, Mapping):
        keys = [_id(key) for key in value]
        return [] if None in keys else [{key for key in keys if key is not None}]
    first = _attributes(items[0])
    out = []
    for name in first:
        ids = [_attributes(item).get(name) for item in items]
        if None not in ids:
            out.append({one for one in ids if one is not None})
    return out


def _attributes(item: object) -> dict[str, str]:
    names = members(item)
    if names is None:
        return {}
    out = {}
    for prefix, inner in (("", names), *((name, members(names.get(name))) for name in _BESIDE)):
        for name in _ID_NAMES:
            one = _id((inner or {}).get(name))
            if one is not None:
                out[f"{prefix}.{name}"] = one
    return out


def _fits(content: str, ids: str) -> bool:
    match = _IDS_FIELD.fullmatch(ids)
    if match is None:
        return False
    stem, whole = match["stem"].lower(), content.lower()
    return whole.startswith(stem.rstrip("s")) or stem.startswith(whole.rstrip("s"))


def _size(value: object, depth: int = 0) -> int:
    """Measure the text in a value, in characters, without making a copy of it."""
    if isinstance(value, (str, bytes)):
        return len(value)
    if depth > _DEEPEST:
        return 0
    if isinstance(value, (list, tuple)):
        return sum(_size(item, depth + 1) for item in islice(value, _MOST_ITEMS))
    names = members(value)
    return sum(_size(item, depth + 1) for item in names.values()) if names else 0
