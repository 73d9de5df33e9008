"""Model responses kept whole: content with usage or response metadata beside it.

Shapes as the providers' public references give them: LangChain messages, OpenAI chat completions
and responses (LiteLLM answers in the same shape), Anthropic messages, Google `GenerateContent`,
Bedrock converse, Ollama chat and Pydantic AI responses; as objects or as the mappings that they
dump to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from keepset.scan.finding import Finding, Path
from keepset.scan.reasons import RESPONSE_OBJECT, below_field


class Shape(NamedTuple):
    """A response as one provider gives it.

    Attributes:
        id: The `detail` of a finding.
        needs: Names that must be there and not empty.
        one_of: Names of which one must be there and not empty.
        content: Path of the content, as `Extract` takes it.
        metadata: What may be left out instead, as far as it is there; empty where the content is
            too deep inside for that.
    """

    id: str
    needs: tuple[str, ...]
    one_of: tuple[str, ...]
    content: str
    metadata: tuple[str, ...] = ()


_LANGCHAIN: Final = ("response_metadata", "usage_metadata", "additional_kwargs")
SHAPES: Final = (
    Shape(
        "langchain.message",
        ("content",),
        ("response_metadata", "usage_metadata"),
        "content",
        _LANGCHAIN,
    ),
    Shape(
        "openai.chat", ("choices",), ("usage", "system_fingerprint"), "choices[0].message.content"
    ),
    Shape("openai.response", ("output", "usage"), ("object", "model", "status"), "output"),
    Shape("anthropic.message", ("content", "usage"), ("stop_reason", "model"), "content"),
    Shape(
        "google.generate",
        ("candidates",),
        ("usage_metadata", "usageMetadata"),
        "candidates[0].content",
    ),
    Shape(
        "bedrock.converse", ("output", "usage"), ("stopReason", "metrics"), "output.message.content"
    ),
    Shape("ollama.chat", ("message",), ("eval_count", "prompt_eval_count"), "message.content"),
    Shape("pydantic-ai.response", ("parts", "usage"), ("model_name",), "parts"),
)
_CONTENT: Final = {shape.id: shape.content for shape in SHAPES}
_NEEDS: Final = tuple((frozenset(shape.needs), shape) for shape in SHAPES)
_TRIGGERS = (
    "usage response_metadata usage_metadata usageMetadata system_fingerprint eval_count"
    " prompt_eval_count additional_kwargs"
)
TRIGGERS: Final = frozenset(_TRIGGERS.split())
"""Names of which every response has one."""
_SEVERAL: Final = 2
_SIZED: Final = (str, list, tuple, dict)
_ASSISTANTS: Final = frozenset({"ai", "assistant", "AIMessageChunk"})


def members(value: object) -> Mapping[str, Any] | None:
    """Give a mapping's entries or an object's fields by name; None for anything else."""
    if isinstance(value, dict):
        return value
    fields = getattr(type(value), "__struct_fields__", None) or getattr(
        type(value), "__dataclass_fields__", None
    )
    if isinstance(value, type) or type(value).__module__ == "builtins":
        return None
    own = getattr(value, "__dict__", None)
    if fields:
        return {name: getattr(value, name, None) for name in fields}
    return own if isinstance(own, dict) else None


def response(value: object, path: Path) -> Finding | None:
    """Report a value that is a model response as a whole.

    Args:
        value: A mapping or an object.
        path: Where it is.
    """
    names = members(value)
    if not names or not any(map(names.__contains__, TRIGGERS)):  # names may be many
        return None
    shape = _shape(names)
    if shape is None:
        return None
    present = tuple([name for name in shape.metadata if names.get(name)])
    return Finding(RESPONSE_OBJECT, path, shape.id, _advice(path, shape.id, present))


def outermost(found: Sequence[Finding]) -> list[Finding]:
    """Leave out the responses that are a part of another one.

    Args:
        found: Responses, an outer one before those in it.
    """
    if len(found) < _SEVERAL:
        return list(found)
    outer: dict[Path, Finding] = {}
    for finding in found:
        path = finding.path
        if not any(path[:length] in outer for length in range(len(path))):
            outer[path] = finding
    return list(outer.values())


def _shape(names: Mapping[str, Any]) -> Shape | None:
    for needs, shape in _NEEDS:
        if not needs <= names.keys() or not any([_there(names.get(n)) for n in shape.one_of]):  # noqa: C419 - a generator takes twice the time
            continue
        if all([_there(names[name]) for name in needs]):  # noqa: C419 - the same
            return shape
    # An answer whose tool calls stand in additional_kwargs has an empty content.
    author = names.get("type", names.get("role"))
    if "content" in names and isinstance(author, str) and author in _ASSISTANTS:
        filled = any(_there(names.get(name)) for name in _LANGCHAIN)
        return SHAPES[0] if filled else None
    return None


def _there(value: object) -> bool:
    return len(value) > 0 if isinstance(value, _SIZED) else value is not None


def _advice(path: Path, shape: str, present: tuple[str, ...]) -> str:
    if [element for element in path[1:] if type(element) is not int]:
        return _said(shape, present, below_field(path))
    return _said_of_items(shape, present, len(path) - 1)


@lru_cache(maxsize=256)
def _said_of_items(shape: str, present: tuple[str, ...], depth: int) -> str:
    """Say it where the path has positions alone; nothing else of a value may be remembered."""
    return _said(shape, present, ".".join("*" * depth))


def _said(shape: str, present: tuple[str, ...], inside: str) -> str:
    """Say what to declare.

    Args:
        shape: The id of the response's shape.
        present: What of its metadata it has.
        inside: Where it is in its field, positions as stars.
    """
    prefix = f"{inside}." if inside else ""
    without = ", ".join([f'"{prefix}{name}"' for name in present])
    if not inside:
        advice = f'Declare the field Extract("{_CONTENT[shape]}"): only its content is stored'
        return f"{advice}; or Keep(without=({without},))." if without else f"{advice}."
    if without:
        return (
            f"Declare the field Keep(without=({without},)), or Extract(function) for its contents."
        )
    return "Declare the field Extract(function) and give back the contents alone."
