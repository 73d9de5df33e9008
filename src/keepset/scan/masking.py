"""What to store in place of secrets: a marker for a value, a masked text for a part of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from keepset.scan.finding import Finding, Path, Span
from keepset.scan.reasons import SECRET_KINDS
from keepset.scan.texts import marker, masked
from keepset.scan.walk import Parts, items_of, message_of

_DEEPEST: Final = 32


@dataclass(slots=True)
class _Node:
    """Findings by path element: at this value, on its key, and below it."""

    here: list[Finding] = field(default_factory=list)
    key: list[Finding] = field(default_factory=list)
    below: dict[str | int, _Node] = field(default_factory=dict)

    def first(self) -> Finding:
        """Give any finding at or below this value."""
        node = self
        while not (node.here or node.key):
            node = next(iter(node.below.values()))
        return (node.here or node.key)[0]


def substitutes(
    findings: Iterable[Finding],
    value: object,
    path: Path,
    withhold: Callable[[Finding], object],
    parts: Parts,
) -> dict[Path, object]:
    """Give what to store in place of the secrets in a value.

    A secret that is a whole value becomes what `withhold` makes of its finding; a text that holds
    one becomes a text with ``[withheld: kind]`` in its place. A set in which there is a secret, or
    a mapping of which a key is one, is given whole, made anew with a marker text in that place; an
    object of which an attribute's name is a secret is withheld as a whole.

    Args:
        findings: Findings in the value; those that are no secrets are passed over.
        value: The value that was scanned, unchanged since.
        path: Its path.
        withhold: Makes the marker for a finding.
        parts: Gives the children of an object, as in `Scanner.leaves`.

    Returns:
        Substitutes by full path, none of them below another.
    """
    root = _Node()
    for finding in findings:
        if finding.kind in SECRET_KINDS and finding.path[: len(path)] == path:
            _place(root, finding, finding.path[len(path) :])
    out: dict[Path, object] = {}
    todo: list[tuple[object, Path, _Node]] = [(value, path, root)]
    while todo:
        value, path, node = todo.pop()
        if node.here or type(value) in {set, frozenset} or _needs_new_keys(node):
            if node.here or node.below:
                out[path] = _Rebuild(withhold, parts).value(value, path, node)
            continue
        for element, child in node.below.items():
            todo.append((_child(value, element, parts), (*path, element), child))
    return out


def _place(root: _Node, finding: Finding, rest: Path) -> None:
    node = root
    for element in rest:
        node = node.below.setdefault(element, _Node())
    (node.key if finding.in_key else node.here).append(finding)


def _needs_new_keys(node: _Node) -> bool:
    """Tell whether keys of a mapping are secrets, or names of an object's attributes."""
    return any(child.key for child in node.below.values())


def _child(value: object, element: str | int, parts: Parts) -> object:
    if type(value) is dict:
        items = items_of(value, parts)
        return next(item.child for item in items if element in (item.element, item.place))
    if type(value) in {list, tuple} and isinstance(element, int):
        return value[element]  # type: ignore[index]  # a list or a tuple
    found = dict(parts(value) or ())
    if isinstance(value, BaseException) and element not in found:
        return message_of(value)
    return found[element]


@dataclass(frozen=True, slots=True)
class _Rebuild:
    """Makes a plain value anew without its secrets; what is not plain is withheld."""

    withhold: Callable[[Finding], object]
    parts: Parts

    def value(
        self, value: Any, path: Path, node: _Node, *, hashable: bool = False, depth: int = 0
    ) -> Any:
        """Give the value as it may be stored; `hashable` where it stands in a set or a key."""
        if node.here:
            return self._leaf(value, node.here, hashable=hashable)
        kind = type(value)
        if kind not in {dict, list, tuple, set, frozenset} or depth > _DEEPEST:
            finding = replace(node.first(), path=path)
            return marker(finding.kind) if hashable else self.withhold(finding)
        if kind is dict:
            return self._mapping(value, path, node, depth)
        unique = kind in {set, frozenset}
        items: list[Any] = []
        for position, item in enumerate(value):
            child, here = node.below.get(position), (*path, position)
            if child is None:
                items.append(item)
                continue
            made = self.value(item, here, child, hashable=hashable or unique, depth=depth + 1)
            items.append(_other_than(items, made) if unique else made)
        return kind(items)

    def _mapping(self, value: dict[Any, Any], path: Path, node: _Node, depth: int) -> Any:
        out: dict[Any, Any] = {}
        for item in items_of(value, self.parts):
            key, new = item.key, item.child
            # What is under a key that is a secret has the key's place in its path.
            for at in dict.fromkeys((item.place, item.element)):
                child = node.below.get(at)
                if child is not None and child.key:
                    key = _other_than(out, self._leaf(key, child.key, hashable=True))
                if child is not None and (child.here or child.below):
                    new = self.value(new, (*path, at), child, depth=depth + 1)
            out[key] = new
        return out

    def _leaf(self, value: Any, findings: list[Finding], *, hashable: bool) -> Any:
        first = findings[0]
        whole = next((finding for finding in findings if finding.whole), None)
        if whole is not None and not hashable:
            return self.withhold(whole)
        text = _text(value)
        if whole is not None or text is None:
            out = marker((whole or first).kind)
        else:
            spans = [Span(*one.span, one.kind, one.detail) for one in findings if one.span]
            out = masked(text, sorted(spans, key=lambda span: span.start))
        if isinstance(value, (bytes, bytearray)):
            return type(value)(out.encode("latin-1"))
        return out


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return str.__str__(value)
    return bytes(value).decode("latin-1") if isinstance(value, (bytes, bytearray)) else None


def _other_than(taken: Any, item: Any) -> Any:
    """Number a marker that is there already, so that no entry is lost."""
    if item not in taken or not isinstance(item, str | bytes):
        return item
    number = 2
    while True:
        suffix = f" {number}"
        other = item + suffix if isinstance(item, str) else item + suffix.encode()
        if other not in taken:
            return other
        number += 1
