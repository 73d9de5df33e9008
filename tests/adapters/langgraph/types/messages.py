"""Strategies for LangChain messages of every kind, and when two of them are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from langchain_core import messages as lc

from tests.codec.exact import same

TEXT = st.text(max_size=20)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=3)
BLOCKS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXT),
    st.builds(lambda data: {"type": "image", "base64": data, "mime_type": "image/png"}, TEXT),
    st.builds(lambda url: {"type": "image_url", "image_url": {"url": url}}, TEXT),
    TEXT,
)
CALLS = st.lists(
    st.builds(
        lambda name, args, call: {"name": name, "args": args, "id": call, "type": "tool_call"},
        TEXT,
        OBJECTS,
        st.none() | TEXT,
    ),
    max_size=2,
)
INVALID = st.lists(
    st.builds(
        lambda args, error: {
            "name": "search",
            "args": args,
            "id": "1",
            "error": error,
            "type": "invalid_tool_call",
        },
        TEXT,
        TEXT,
    ),
    max_size=2,
)
PIECES = st.lists(
    st.builds(
        lambda args, index: {
            "name": "search",
            "args": args,
            "id": "1",
            "index": index,
            "type": "tool_call_chunk",
        },
        TEXT,
        st.integers(0, 9),
    ),
    max_size=2,
)
USAGE = st.builds(
    lambda read, wrote: {
        "input_tokens": read,
        "output_tokens": wrote,
        "total_tokens": read + wrote,
        "input_token_details": {"cache_read": read},
    },
    st.integers(0, 10**6),
    st.integers(0, 10**6),
)
COMMON = {
    "additional_kwargs": OBJECTS,
    "response_metadata": OBJECTS,
    "id": st.none() | TEXT,
    "name": st.none() | TEXT,
    "an_extra": JSON,
}
CONTENT = {"content": TEXT | st.lists(BLOCKS, max_size=3)}
AI = {"tool_calls": CALLS, "invalid_tool_calls": INVALID, "usage_metadata": st.none() | USAGE}
TOOL = {"artifact": JSON | st.sets(st.integers(), max_size=2), "status": st.just("error")}


def _of(cls: type[Any], required: dict[str, Any], optional: dict[str, Any]) -> Any:
    rest = {name: values for name, values in optional.items() if name not in required}
    return st.fixed_dictionaries(required, optional=rest).map(lambda given: cls(**given))


CALL_ID = {**CONTENT, "tool_call_id": TEXT}
ROLE = {**CONTENT, "role": TEXT}
NAMED = {**CONTENT, "name": TEXT}
STRATEGIES: dict[type[Any], Any] = {
    lc.AIMessage: _of(lc.AIMessage, CONTENT, COMMON | AI),
    lc.AIMessageChunk: _of(
        lc.AIMessageChunk,
        CONTENT,
        COMMON | {"tool_call_chunks": PIECES, "usage_metadata": st.none() | USAGE},
    ),
    lc.BaseMessage: _of(lc.BaseMessage, CONTENT | {"type": TEXT}, COMMON),
    lc.BaseMessageChunk: _of(lc.BaseMessageChunk, CONTENT | {"type": TEXT}, COMMON),
    lc.HumanMessage: _of(lc.HumanMessage, CONTENT, COMMON),
    lc.HumanMessageChunk: _of(lc.HumanMessageChunk, CONTENT, COMMON),
    lc.SystemMessage: _of(lc.SystemMessage, CONTENT, COMMON),
    lc.SystemMessageChunk: _of(lc.SystemMessageChunk, CONTENT, COMMON),
    lc.ChatMessage: _of(lc.ChatMessage, ROLE, COMMON),
    lc.ChatMessageChunk: _of(lc.ChatMessageChunk, ROLE, COMMON),
    lc.FunctionMessage: _of(lc.FunctionMessage, NAMED, COMMON),
    lc.FunctionMessageChunk: _of(lc.FunctionMessageChunk, NAMED, COMMON),
    lc.ToolMessage: _of(lc.ToolMessage, CALL_ID, COMMON | TOOL),
    lc.ToolMessageChunk: _of(lc.ToolMessageChunk, CALL_ID, COMMON | TOOL),
    lc.RemoveMessage: _of(lc.RemoveMessage, {"id": TEXT}, {"an_extra": JSON}),
}
MESSAGES = st.one_of(*STRATEGIES.values())

_PLACES: tuple[Callable[[Any], Any], ...] = (
    lambda message: message.__dict__,
    lambda message: message.__pydantic_fields_set__,
    lambda message: message.__pydantic_extra__,
    lambda message: message.__pydantic_private__,
)
"""The four places in which a pydantic model keeps what it holds."""


def same_message(a: Any, b: Any) -> bool:
    """Tell whether two messages cannot be told apart."""
    return type(a) is type(b) and all(same(place(a), place(b)) for place in _PLACES)
