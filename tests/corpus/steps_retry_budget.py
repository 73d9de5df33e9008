"""A question is tried with a small model until its budget of failures is spent.

Then a large one is asked. The report says how often it failed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keepset as ks


@dataclass
class Job:
    prompt: str
    budget: int = 3
    failures: int = 0
    last_error: str = ""
    model: str = "small"
    reply: str = ""
    summary: str = ""


class OverloadedError(Exception):
    pass


def ask(model: str, prompt: str) -> str:
    if model == "small":
        raise OverloadedError
    return f"{model} on {prompt}: it holds"


def attempt(job: Job) -> dict[str, Any]:
    if job.reply:
        return {}
    try:
        return {"reply": ask(job.model, job.prompt)}
    except OverloadedError as error:
        failures = job.failures + 1
        model = "large" if failures >= job.budget else job.model
        return {"failures": failures, "last_error": type(error).__name__, "model": model}


def first_try(job: Job) -> dict[str, Any]:
    return attempt(job)


def second_try(job: Job) -> dict[str, Any]:
    return attempt(job)


def third_try(job: Job) -> dict[str, Any]:
    return attempt(job)


def report(job: Job) -> None:
    job.summary = f"answered after {job.failures} failures"


def build() -> ks.Workflow:
    return ks.Workflow(Job, steps=[first_try, second_try, third_try, report])


INPUT: dict[str, Any] = {"prompt": "Is the proof right?", "budget": 2}
OUTPUT = ("reply", "summary")
TRUTH: dict[str, str] = {
    "prompt": "needed",
    "budget": "needed",
    "failures": "needed",
    "last_error": "not needed",
    "model": "needed",
    "reply": "needed",
    "summary": "not needed",
}
FIRST = {
    "prompt": "first_try",
    "budget": "first_try",
    "failures": "first_try",
    "model": "second_try",
    "reply": "third_try",
}
WHY: dict[str, str] = {
    "prompt": "it has no default, so a state cannot be built without it",
    "budget": "its default is 3: the second failure would not lead to the large model",
    "failures": "its default is 0: the budget would not be spent, and the report counts it",
    "last_error": "it is overwritten at each failure and read by nobody",
    "model": "until the second failure it is its default; then the small one would fail again",
    "reply": "the caller reads it, and before it is there it is its default",
    "summary": "the last step makes it",
}
