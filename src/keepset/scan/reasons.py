"""The reason codes of the detectors, each with its sentence, and the advice that goes with it.

Codes never change between releases: contracts allow them by name (`Keep(allow=(…,))`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from keepset.scan.finding import Finding

if TYPE_CHECKING:
    from keepset.scan.finding import Path

SECRET_FORMAT: Final = "secret.format"  # noqa: S105 - a reason code, not a password
SECRET_NAME: Final = "secret.name"  # noqa: S105 - a reason code, not a password
SECRET_VALUE: Final = "secret.value"  # noqa: S105 - a reason code, not a password
SECRET_TYPE: Final = "secret.type"  # noqa: S105 - a reason code, not a password
HANDLE: Final = "handle"
PATH_TEMPORARY: Final = "path.temporary"
RESPONSE_OBJECT: Final = "response.object"
CONTENT_BESIDE_IDS: Final = "content.beside-ids"
SIZE_OVER_BUDGET: Final = "size.over-budget"

REASONS: Final[dict[str, str]] = {
    SECRET_FORMAT: "It has the format of a credential, and a store is durable.",
    SECRET_NAME: "It stands under the name of a credential, and a store is durable.",
    SECRET_VALUE: "It is, or holds, the value of a registered secret.",
    SECRET_TYPE: "Its type says that it is a secret.",
    HANDLE: "It is a live handle: it cannot be serialised, and is stale on resume.",
    PATH_TEMPORARY: "It is the path of something temporary, which may be gone after a restart.",
    RESPONSE_OBJECT: "It is a whole model response, where its content would be enough.",
    CONTENT_BESIDE_IDS: "It is large content that can be fetched again by the ids beside it.",
    SIZE_OVER_BUDGET: "It is larger than its budget, and is paid for steps x runs times.",
}
"""Every reason code and what it means."""

_LONGEST: Final = 64

SECRET_KINDS: Final = frozenset({SECRET_FORMAT, SECRET_NAME, SECRET_VALUE, SECRET_TYPE})
"""The codes whose values are withheld or masked in what is stored."""


def below_field(path: Path) -> str:
    """Give a path inside a field as `Keep(without=)` takes it, positions as stars."""
    return ".".join(_step(element) for element in path[1:]).replace(".[", "[")


def _step(element: str | int) -> str:
    if isinstance(element, int) or '"' in element or "\\" in element:
        return "*"
    return element if re.fullmatch(r"[^.\[\]*\"]+", element) else f"[{json.dumps(element)}]"


def variable(path: Path) -> str:
    """Suggest the name of an environment variable for the secret at a path."""
    names = [element for element in path if isinstance(element, str)]
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", names[-1]) if names else ""
    upper = re.sub(r"[^A-Z0-9]+", "_", words.upper()).strip("_")
    return upper if 0 < len(upper) <= _LONGEST and not upper[0].isdigit() else "NAME"


def advice(kind: str, path: Path, *, whole: bool = True, in_key: bool = False) -> str:
    """Say which rule to declare for a secret, a handle or a temporary path.

    Args:
        kind: The reason code.
        path: Where it was found.
        whole: Whether the whole value is meant, and not a part of a text.
        in_key: Whether the key of a mapping is meant.
    """
    if not whole:
        return (
            "Take it out of the text; in mode protect it is masked in what is stored."
            ' Keep(secrets="refuse") refuses the write instead. If it is a secret of this program,'
            ' declare a field of its own, Secret("env:NAME"): its value is then found anywhere.'
        )
    rule, effect = _rule(kind, path)
    inside = below_field(path)
    if in_key:
        return f"Use another key in this mapping; where a step needs it, declare a field {rule}."
    if not inside:
        return f"Declare the field {rule}: {effect}."
    said = (
        f"Keep it out of {path[0]} and declare a top-level field {rule}; a rule for a part of a"
        " field is refused."
    )
    if not inside.strip("*.["):
        return said
    return f"{said} To leave it out of what is stored: Keep(without={json.dumps(inside)})."


def _rule(kind: str, path: Path) -> tuple[str, str]:
    if kind == HANDLE:
        return "Reopen(factory)", "it is not stored, and opened again on resume"
    if kind == PATH_TEMPORARY:
        return "Scratch(factory)", "it is not stored, and made afresh on resume"
    return f'Secret("env:{variable(path)}")', "the reference is stored, never the value"


def oversize(path: Path, size: int, budget: int) -> Finding | None:
    """Report a field whose measured size is over its budget.

    Args:
        path: Path of the field.
        size: Measured size in bytes.
        budget: What the field may take, in bytes.

    Returns:
        A finding ``size.over-budget``, or None where the field keeps to its budget.
    """
    if size <= budget:
        return None
    return Finding(
        kind=SIZE_OVER_BUDGET,
        path=path,
        detail=f"{size} bytes, budget {budget} bytes",
        advice=(
            "Declare Refetch(load, using=) if it can be fetched again, Extract(path) if a part is"
            " enough, or raise Keep(max_bytes=)."
        ),
    )
