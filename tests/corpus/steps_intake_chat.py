"""An assistant takes a patient's call, and every step adds to the messages.

What it learned goes into facts and thoughts. The closing sentence is made of the thoughts and the
mood, not of the messages.
"""

from __future__ import annotations

from typing import Any, TypedDict

import keepset as ks


class Intake(TypedDict, total=False):
    persona: str
    messages: list[str]
    facts: dict[str, str]
    scratchpad: list[str]
    mood: str
    urgency: int
    reply: str


def said(state: Intake, line: str) -> list[str]:
    return [*state.get("messages", []), line]


def greet(state: Intake) -> Intake:
    messages = said(state, f"{state['persona']}: how can I help?")
    return {"messages": messages, "scratchpad": ["be kind"], "mood": "calm"}


def collect(state: Intake) -> Intake:
    messages = said(state, "patient: my arm hurts since Monday")
    thoughts = [*state["scratchpad"], "arm, since Monday"]
    return {"messages": messages, "facts": {"where": "arm"}, "scratchpad": thoughts}


def decide(state: Intake) -> Intake:
    urgency = 2 if state["facts"]["where"] == "arm" else 5
    messages = said(state, f"assistant: urgency {urgency}")
    return {"messages": messages, "urgency": urgency, "mood": "brisk"}


def close(state: Intake) -> Intake:
    thoughts = ", ".join(state["scratchpad"])
    return {
        "reply": f"{state['persona']} ({state['mood']}): noted {thoughts}",
        "messages": said(state, "assistant: goodbye"),
        "urgency": max(1, 2 * len(state["scratchpad"]) - 2),
    }


def build() -> ks.Workflow:
    return ks.Workflow(Intake, steps=[greet, collect, decide, close])


INPUT: dict[str, Any] = {"persona": "Nurse Ada"}
OUTPUT = ("reply", "urgency")
TRUTH: dict[str, str] = {
    "persona": "needed",
    "messages": "not needed",
    "facts": "needed",
    "scratchpad": "needed",
    "mood": "needed",
    "urgency": "not needed",
    "reply": "not needed",
}
FIRST = {"persona": "greet", "facts": "collect", "scratchpad": "greet", "mood": "decide"}
WHY: dict[str, str] = {
    "persona": "the reply begins with it",
    "messages": "each step only adds to them: nothing else is made of them, no caller reads them",
    "facts": "decide reads them",
    "scratchpad": "collect adds to it, and the reply is made of it",
    "mood": "the reply has it; what greet set, decide replaces without looking",
    "urgency": "close sets it from the scratchpad, whatever decide had set",
    "reply": "the last step makes it",
}
