"""Model responses kept whole are found as objects and as mappings, in fields and in lists."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field

from keepset.scan import Finding, Scanner

USAGE = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
SHAPES: dict[str, dict[str, Any]] = {
    "langchain.message": {
        "content": "hi",
        "type": "ai",
        "response_metadata": {"model_name": "m"},
        "usage_metadata": USAGE,
    },
    "openai.chat": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "usage": USAGE,
        "model": "m",
        "choices": [{"message": {"role": "assistant", "content": "hi"}}],
    },
    "openai.response": {
        "id": "resp_1",
        "object": "response",
        "usage": USAGE,
        "model": "m",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "hi"}]}],
    },
    "anthropic.message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "hi"}],
        "usage": USAGE,
        "model": "m",
    },
    "google.generate": {
        "candidates": [{"content": {"parts": [{"text": "hi"}]}}],
        "usage_metadata": USAGE,
    },
    "bedrock.converse": {
        "output": {"message": {"content": [{"text": "hi"}]}},
        "stopReason": "end_turn",
        "usage": USAGE,
    },
    "ollama.chat": {
        "message": {"role": "assistant", "content": "hi"},
        "done": True,
        "eval_count": 9,
    },
    "pydantic-ai.response": {"parts": [{"content": "hi"}], "usage": USAGE, "model_name": "m"},
}


class Answer(BaseModel):
    """A response as clients give it: an object with these attributes."""

    model_config = {"extra": "allow"}
    data: dict[str, int] = Field(default_factory=dict)


class Plain:
    def __init__(self, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields)


def responses(scanner: Scanner, **fields: object) -> list[Finding]:
    found = [
        finding
        for name, value in fields.items()
        for finding in scanner.leaves(value, (name,), name=name, parts=lambda _: None)
    ]
    return [finding for finding in found if finding.kind == "response.object"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_response_is_found_as_a_mapping_and_as_an_object(scanner: Scanner, shape: str) -> None:
    fields = SHAPES[shape]
    for value in (fields, Plain(fields)):
        (finding,) = responses(scanner, answer=value)
        assert (finding.kind, finding.detail) == ("response.object", shape)
        assert finding.path == ("answer",)
        assert "Extract(" in finding.advice


@pytest.mark.parametrize("shape", SHAPES)
def test_a_response_is_found_in_a_list_and_below(scanner: Scanner, shape: str) -> None:
    fields = SHAPES[shape]
    (finding,) = responses(scanner, turns=[{"role": "user", "content": "q"}, {"raw": fields}])
    assert finding.path == ("turns", 1, "raw")


def test_the_advice_names_the_paths_to_leave_out(scanner: Scanner) -> None:
    message = {**SHAPES["langchain.message"], "usage_metadata": None}
    (finding,) = responses(scanner, messages=[message])
    assert 'Keep(without=("*.response_metadata",))' in finding.advice


def test_an_empty_answer_with_tool_calls_beside_it_is_a_response(scanner: Scanner) -> None:
    message = {"type": "ai", "content": "", "additional_kwargs": {"tool_calls": [{"id": "c"}]}}
    assert responses(scanner, messages=[message])


def test_what_only_has_some_of_the_names_is_no_response(scanner: Scanner) -> None:
    harmless = [
        {"role": "user", "content": "hi"},
        {"type": "human", "content": "hi", "additional_kwargs": {}, "response_metadata": {}},
        {"type": "human", "content": "hi", "additional_kwargs": {"colour": "red"}},
        {"usage": USAGE},
        {"content": "hi", "usage": None, "stop_reason": None},
        {"choices": ["a", "b"], "question": "which?"},
        {"candidates": ["ann", "bob"]},
        {"output": "done", "status": "ok"},
        {"message": "hi", "done": True},
    ]
    assert not responses(scanner, items=harmless, answer="text")


def test_a_response_is_looked_into_no_further(scanner: Scanner) -> None:
    nested = {**SHAPES["openai.chat"], "raw": SHAPES["anthropic.message"]}
    assert [finding.detail for finding in responses(scanner, answer=nested)] == ["openai.chat"]


def test_an_object_that_the_codec_opens_is_looked_into(scanner: Scanner) -> None:
    inner = SHAPES["openai.chat"]
    found = scanner.leaves(
        Answer(),
        ("turn",),
        name="turn",
        parts=lambda value: [("raw", inner)] if isinstance(value, Answer) else None,
    )
    assert [finding.path for finding in found] == [("turn", "raw")]
