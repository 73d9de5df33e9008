"""A model's whole response goes into the state, and a later node reads one field of it.

Of the first response only the text goes into the state. The second one goes in as it came; the edge
behind it reads its reason for ending, and the next node its text.
"""

from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import keepset as ks


class Asking(TypedDict, total=False):
    prompt: Annotated[str, ks.Keep()]
    outline: Annotated[str, ks.Keep()]
    response: Annotated[dict[str, Any], ks.Keep(allow="response.object")]
    logprobs: Annotated[list[float], ks.Keep()]
    usage_total: Annotated[int, ks.Keep()]
    unused_note: Annotated[str, ks.Keep()]
    parsed: Annotated[list[str], ks.Keep()]
    title: Annotated[str, ks.Keep()]


def model(prompt: str) -> dict[str, Any]:
    """Give what a model's server would send back."""
    return {
        "model": "small-1",
        "choices": [{"text": f"{prompt}, one; two; three", "finish_reason": "stop"}],
        "usage": {"prompt_tokens": len(prompt), "total_tokens": len(prompt) + 12},
    }


def sketch(asking: Asking) -> Asking:
    response = model(asking["prompt"])
    return {"outline": response["choices"][0]["text"], "unused_note": f"model {response['model']}"}


def write(asking: Asking) -> Asking:
    response = model(asking["outline"].upper())
    return {
        "response": response,
        "logprobs": [-0.1, -0.2],
        "usage_total": response["usage"]["total_tokens"],
    }


def finished(asking: Asking) -> str:
    return "parse" if asking["response"]["choices"][0]["finish_reason"] == "stop" else END


def parse(asking: Asking) -> Asking:
    return {"parsed": asking["response"]["choices"][0]["text"].split("; ")}


def name(asking: Asking) -> Asking:
    remarks = [str(value) for key, value in asking.items() if key.endswith("note")]
    return {"title": f"{asking['parsed'][0]} ({', '.join(remarks)})"}


def build() -> Any:
    builder: Any = StateGraph(Asking)
    for node in (sketch, write, parse, name):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "sketch")
    builder.add_edge("sketch", "write")
    builder.add_conditional_edges("write", finished, ["parse", END])
    builder.add_edge("parse", "name")
    return builder


INPUT = {"prompt": "Name three"}
OUTPUT = ("title", "parsed")
TRUTH = {
    "prompt": "needed",
    "outline": "needed",
    "response": "needed",
    "logprobs": "not needed",
    "usage_total": "not needed",
    "unused_note": "needed",
    "parsed": "needed",
    "title": "not needed",
}
FIRST = {
    "prompt": "__start__",
    "outline": "sketch",
    "response": "write",
    "unused_note": "sketch",
    "parsed": "parse",
}
WHY = {
    "prompt": "the first response answers it",
    "outline": "write asks the model with it",
    "response": "parse reads its text, one of its parts",
    "logprobs": "nothing reads them",
    "usage_total": "nothing reads it",
    "unused_note": "the title ends with it: name reads what has a key that ends with note",
    "parsed": "the title and the caller read it",
    "title": "the last node sets it",
}
