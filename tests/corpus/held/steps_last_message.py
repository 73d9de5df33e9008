"""A tutor answers the last message, asks back and says goodbye.

The goodbye has the number of messages that there were when the question was answered.
"""

from __future__ import annotations

from typing import Any, TypedDict

import keepset as ks


class Lesson(TypedDict, total=False):
    tools: list[str]
    messages: list[dict[str, str]]
    turn_count: int
    memory: list[str]
    grade: str
    farewell: str


def begin(state: Lesson) -> Lesson:
    offer = f"I can {' and '.join(state['tools'])}."
    messages = [
        {"role": "assistant", "text": offer},
        {"role": "user", "text": "What is a prime number?"},
    ]
    return {"messages": messages, "memory": [offer]}


def answer(state: Lesson) -> Lesson:
    asked = state["messages"][-1]["text"]
    messages = [*state["messages"], {"role": "assistant", "text": f"You ask: {asked}"}]
    memory = [*state.get("memory", []), asked]
    return {"messages": messages, "turn_count": len(messages), "memory": memory}


def ask_back(state: Lesson) -> Lesson:
    grade = "good" if "prime" in state["messages"][-1]["text"] else "poor"
    memory = [*state.get("memory", []), grade]
    return {"grade": grade, "memory": memory, "messages": state["messages"][-1:]}


def say_goodbye(state: Lesson) -> Lesson:
    return {"farewell": f"{state['grade']}, after {state['turn_count']} messages"}


def build() -> ks.Workflow:
    return ks.Workflow(Lesson, steps=[begin, answer, ask_back, say_goodbye])


INPUT: dict[str, Any] = {"tools": ["explain", "quiz"]}
OUTPUT = ("farewell",)
TRUTH: dict[str, str] = {
    "tools": "not needed",
    "messages": "needed",
    "turn_count": "needed",
    "memory": "not needed",
    "grade": "needed",
    "farewell": "not needed",
}
FIRST = {"messages": "begin", "turn_count": "answer", "grade": "ask_back"}
WHY: dict[str, str] = {
    "tools": "only the first step reads them",
    "messages": "answer and ask_back read the last one",
    "turn_count": "messages are cut afterwards, and nobody counts them again",
    "memory": "each step adds to it and none reads it, nor does the caller",
    "grade": "say_goodbye reads it",
    "farewell": "the last step makes it",
}
