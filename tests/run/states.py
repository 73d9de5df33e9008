"""States that the tests of runs share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import keepset as ks


@dataclass
class Item:
    """An item of a list in a state."""

    name: str
    tags: list[str] = field(default_factory=list)


class Chat(TypedDict, total=False):
    """Everything is kept."""

    question: Annotated[str, ks.Keep()]
    messages: Annotated[list[dict[str, Any]], ks.Keep()]
    items: Annotated[list[Item], ks.Keep()]
    flags: Annotated[dict[str, bool], ks.Keep()]
    draft: Annotated[str, ks.Keep()]
    count: Annotated[int, ks.Keep()]
    anything: Annotated[Any, ks.Keep()]
