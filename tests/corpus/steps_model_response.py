"""A claim is judged by a model and by a second one, billed and filed.

Whole responses are carried along, of which later steps read a sentence and the usage.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypedDict

import keepset as ks


class Claim(TypedDict, total=False):
    prompt: str
    system_prompt: str
    response: dict[str, Any]
    raw_id: str
    verdict: str
    usage: dict[str, int]
    review: Annotated[str, ks.Extract("choices[0].message.content")]
    cost: int


def complete(text: str, system: str) -> dict[str, Any]:
    content = "approve" if "storm" in text else "ask for details"
    return {
        "id": f"resp-{len(text)}",
        "model": "fake-1",
        "choices": [{"message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": len(text) + len(system), "completion_tokens": len(content)},
    }


def ask(state: Claim) -> dict[str, Any]:
    response = complete(state["prompt"], state["system_prompt"])
    return {"response": response, "raw_id": response["id"]}


def read_out(state: Claim) -> dict[str, Any]:
    response = state["response"]
    content = response["choices"][0]["message"]["content"]
    return {"verdict": content, "usage": response["usage"]}


def second_opinion(state: Claim) -> dict[str, Any]:
    return {"review": complete(state["verdict"], "Is this right?")}


def bill(state: Claim) -> dict[str, Any]:
    usage = state.get("usage") or state["response"]["usage"]
    return {"cost": sum(usage.values())}


def file_away(state: Claim) -> dict[str, Any]:
    line = f"{state['prompt']}: {state['verdict']} / {state['review']}"
    Path("file.txt").write_text(line, encoding="utf-8")
    return {}


def build() -> ks.Workflow:
    return ks.Workflow(Claim, steps=[ask, read_out, second_opinion, bill, file_away])


INPUT: dict[str, Any] = {"prompt": "A storm took the roof", "system_prompt": "You judge claims."}
OUTPUT = ("cost",)


def observe() -> str:
    filed = Path("file.txt")
    return filed.read_text(encoding="utf-8") if filed.exists() else ""


TRUTH: dict[str, str] = {
    "prompt": "needed",
    "system_prompt": "not needed",
    "response": "needed",
    "raw_id": "not needed",
    "verdict": "needed",
    "usage": "not needed",
    "review": "needed",
    "cost": "needed",
}
FIRST = {
    "prompt": "ask",
    "response": "ask",
    "verdict": "read_out",
    "review": "second_opinion",
    "cost": "bill",
}
WHY: dict[str, str] = {
    "prompt": "file_away repeats it",
    "system_prompt": "only the first step reads it",
    "response": "read_out takes the verdict and the usage out of it",
    "raw_id": "nobody reads it",
    "verdict": "second_opinion and file_away read it",
    "usage": "bill finds the same numbers in the response",
    "review": "file_away reads the sentence, which is all that is stored of the second response",
    "cost": "the caller reads it, and the step that makes it is not the last",
}
