"""What LangChain and LangGraph put into a state comes back as it was."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core import messages as lc
from langchain_core.documents import Document
from langgraph import types as host
from langgraph.checkpoint.serde import types as stored
from langgraph.store.base import Item, SearchItem
from langgraph.types import Command, Interrupt, Send

from keepset.adapters.langgraph.types import host_types
from keepset.codec import GLOBAL, Codec
from keepset.errors import DecodeError, PolicyError
from tests.adapters.langgraph.types.messages import MESSAGES, STRATEGIES, same_message
from tests.codec.exact import same

CODEC = Codec(host_types())
WHEN = datetime(2026, 1, 2, tzinfo=UTC)
COMMAND: Any = Command(
    graph=Command.PARENT,
    update={"messages": [lc.HumanMessage("hi")]},
    resume={"an id": True},
    goto=[Send("next", {"k": (1, 2)})],
)
SMALL: list[Any] = [
    Send("next", {"question": "?"}),
    Interrupt({"ask": ["a", "b"]}, id="abc"),
    COMMAND,
    Command(goto="next"),
    Document("text", id="7", metadata={"source": "a.txt", 3: (1,)}),
    lc.RemoveMessage(id="7"),
    Item(value={"a": 1}, key="k", namespace=("a", "b"), created_at=WHEN, updated_at=WHEN),
]
LATER = ["Command", "Interrupt", "Send"]
"""Names of what LangGraph has, and of what its newer releases have as well."""
if hasattr(host, "Overwrite"):
    SMALL.append(host.Overwrite(["a"]))
    LATER.append("Overwrite")
if hasattr(host, "TimeoutPolicy"):
    policy = host.TimeoutPolicy(run_timeout=timedelta(seconds=3), refresh_on="heartbeat")
    SMALL += [policy, Send("next", lc.HumanMessage("hi"), timeout=policy)]
    SMALL.append(Interrupt(None, id="abc", response_schema={"type": "object"}))
    LATER.append("TimeoutPolicy")
if hasattr(stored, "_DeltaSnapshot"):
    SMALL.append(stored._DeltaSnapshot(["a", {"b": 1}]))
    LATER.append("DeltaSnapshot")


def again(value: Any) -> Any:
    return CODEC.unpack(CODEC.pack(value))


def test_every_kind_of_message_that_langchain_has_is_tried_and_is_known() -> None:
    kinds = {
        cls
        for name in lc.__all__
        if isinstance(cls := getattr(lc, name), type) and issubclass(cls, lc.BaseMessage)
    }
    assert kinds == set(STRATEGIES)
    assert all(host_types().of_class(cls) for cls in kinds)


@given(st.lists(MESSAGES, max_size=4))
def test_messages_come_back_with_every_field_extra_and_mark_of_what_was_given(
    messages: list[Any],
) -> None:
    data = CODEC.pack(messages)
    back = CODEC.unpack(data)
    assert len(back) == len(messages)
    assert all(itertools.starmap(same_message, zip(messages, back, strict=True)))
    assert CODEC.pack(back) == data
    assert CODEC.packs_as(messages, data)


@given(MESSAGES, MESSAGES)
def test_two_messages_pack_alike_exactly_where_they_are_the_same(a: Any, b: Any) -> None:
    assert CODEC.packs_as(a, CODEC.pack(b)) == same_message(a, b)


@pytest.mark.parametrize("value", SMALL, ids=lambda value: type(value).__name__)
def test_langgraphs_own_objects_come_back_equal_and_of_the_same_type(value: Any) -> None:
    back = again(value)
    assert type(back) is type(value)
    assert back == value
    assert repr(back) == repr(value)


def test_the_documents_place_in_a_search_comes_back_with_its_score() -> None:
    item = SearchItem(("a",), "k", {"a": 1}, WHEN, WHEN, score=0.5)
    back = again(item)
    assert type(back) is SearchItem
    assert back.dict() == item.dict()
    assert back.namespace == ("a",)


def test_the_text_of_a_message_comes_back_as_the_same_kind_of_text() -> None:
    text = lc.AIMessage("hello").text
    back = again({"answer": text})["answer"]
    assert type(back) is type(text)
    assert back == "hello"


def test_a_document_tells_given_fields_from_defaults() -> None:
    back = again(Document("text"))
    assert back.model_fields_set == {"page_content"}
    assert same(back.__dict__, Document("text").__dict__)


class Shouting(lc.AIMessage):
    """A user's own message."""

    volume: int = 11


def test_a_users_subclass_is_refused_by_its_own_name_and_not_taken_for_its_base() -> None:
    with pytest.raises(PolicyError, match=r"messages\[1\].*Shouting") as refusal:
        CODEC.pack([lc.AIMessage("a"), Shouting(content="b")], ("messages",))
    assert refusal.value.code == "codec.unknown-type"


def test_a_users_subclass_comes_back_whole_once_it_has_a_name() -> None:
    codec = Codec(host_types().with_types({"chat/Shouting": Shouting}))
    back = codec.unpack(codec.pack(Shouting(content="b", volume=3)))
    assert type(back) is Shouting
    assert back.volume == 3


def test_an_object_that_cannot_be_stored_inside_a_message_is_refused_with_its_path() -> None:
    message = lc.ToolMessage("ok", tool_call_id="1", artifact={"rows": [object()]})
    with pytest.raises(PolicyError, match=r"messages\[0\]\.artifact\.rows\[0\]: object"):
        CODEC.pack([message], ("messages",))


def test_reading_runs_no_constructor_and_no_validator(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [lc.AIMessage("a"), Send("n", 1), COMMAND, Interrupt(1, id="x"), Document("d")]
    data = CODEC.pack(values)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    for cls in (lc.AIMessage, Send, Command, Interrupt, Document):
        monkeypatch.setattr(cls, "__init__", refuse)
    back = CODEC.unpack(data)
    assert [type(value) for value in back] == [type(value) for value in values]


def test_a_stored_send_with_a_slot_that_this_release_lacks_is_an_error() -> None:
    registry = GLOBAL.with_types({})
    registry.register("langgraph/Send", Send, to=lambda _: {"node": "n", "new": 1}, back=repr)
    data = Codec(registry).pack(Send("n", 1))
    with pytest.raises(DecodeError, match="langgraph/Send"):
        CODEC.unpack(data)


def test_a_class_that_is_registered_later_is_known_as_well() -> None:
    class Own(lc.HumanMessage):
        """A user's own message."""

    GLOBAL.register("tests/own-message", Own)
    assert b"tests/own-message" in CODEC.pack(Own(content="x"))


def test_stored_names_are_what_they_were_in_every_earlier_release() -> None:
    named = {entry.name for cls in STRATEGIES if (entry := host_types().of_class(cls))}
    named |= {entry.name for value in SMALL if (entry := host_types().of_class(type(value)))}
    assert named == {
        *(f"langchain/{cls.__name__}" for cls in STRATEGIES),
        "langchain/Document",
        "langgraph/Item",
        *(f"langgraph/{name}" for name in LATER),
    }
