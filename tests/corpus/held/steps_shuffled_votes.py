"""A jury of models debates in an order that comes from chance.

It is the operating system's chance, which decides as well which way the debate goes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import keepset as ks

REPEATABLE = False


@dataclass
class Jury:
    motion: str
    members: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    debate: list[str] = field(default_factory=list)
    verdict: str = ""
    minutes: int = 0


def call_in(_jury: Jury) -> dict[str, Any]:
    members = [f"model-{number}" for number in range(20)]
    return {"members": members, "order": sorted(members, key=lambda _: os.urandom(8))}


def debate(jury: Jury) -> dict[str, Any]:
    if os.urandom(1)[0] % 2:
        return {"debate": [f"{name} is for {jury.motion}" for name in jury.order]}
    return {"debate": [f"{name} is against it" for name in jury.order[:10]]}


def decide(jury: Jury) -> dict[str, Any]:
    return {"verdict": jury.debate[0], "minutes": 3 * len(jury.debate)}


def build() -> ks.Workflow:
    return ks.Workflow(Jury, steps=[call_in, debate, decide])


INPUT: dict[str, Any] = {"motion": "a longer break"}
OUTPUT = ("verdict", "minutes")
TRUTH: dict[str, str] = dict.fromkeys(Jury.__annotations__, "inconclusive")
WHY: dict[str, str] = {
    "motion": "whether it is in the verdict is a matter of chance",
    "members": "their order is another one each time",
    "order": "it comes from the operating system's chance",
    "debate": "which way it goes comes from the operating system's chance",
    "verdict": "it is the first line of a debate that went by chance",
    "minutes": "they depend on which way the debate went",
}
