"""Models that are read at a glance are what the way that reads everything gives."""

from __future__ import annotations

from typing import Any

import ormsgpack
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepset.codec import Codec, TypeRegistry, tags
from keepset.codec.framing import extension
from keepset.codec.glance import Glance, Make
from keepset.errors import DecodeError
from tests.codec.exact import same
from tests.codec.values import PLAIN_ATOMS

FIELDS = st.recursive(
    PLAIN_ATOMS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


class Message(pydantic.BaseModel):
    content: Any = ""
    more: Any = None
    id: Any = None


class Open(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    content: Any = ""


class Hidden(pydantic.BaseModel):
    content: Any = ""
    _seen: int = pydantic.PrivateAttr(default=1)


class Parts(pydantic.RootModel[list[int]]):
    pass


def registry() -> TypeRegistry:
    classes = (Message, Open, Hidden, Parts)
    return TypeRegistry().with_types({f"t/{cls.__name__}": cls for cls in classes})


CODEC = Codec(registry())


def parts(model: Any) -> tuple[Any, ...]:
    return (
        type(model),
        model.__pydantic_fields_set__,
        model.__pydantic_extra__,
        model.__pydantic_private__,
    )


@given(st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(Message.model_fields, FIELDS))))
def test_a_message_is_read_at_a_glance_as_it_is_read_any_other_way(fields: Any) -> None:
    messages = [Message.model_construct(set(given), **given) for given in fields]
    packed = CODEC.pack(messages)
    again, plain = CODEC.unpack_noting(packed)
    other = CODEC.unpack(packed)
    assert plain == (not messages)
    assert CODEC.pack(again) == packed
    for one, two, message in zip(again, other, messages, strict=True):
        assert parts(one) == parts(two) == parts(message)
        assert [*vars(one)] == [*vars(two)]
        assert same(vars(one), vars(two))


@pytest.mark.parametrize(
    "model",
    [
        Message(content=b"bytes"),
        Message(content=(1, 2)),
        Message(content=Message()),
        Message(content=[[[[[1]]]]]),
        Open(content=1, other=2),  # type: ignore[call-arg] # extra fields are allowed
        Hidden(content=1),
        Parts([1, 2]),
    ],
)
def test_what_is_not_read_at_a_glance_is_read_all_the_same(model: Any) -> None:
    again, _ = CODEC.unpack_noting(CODEC.pack([Message(), model, Message()]))
    assert again == [Message(), model, Message()]
    assert parts(again[1]) == parts(model)


def test_models_of_one_class_share_nothing_that_could_change() -> None:
    (one, two), _ = CODEC.unpack_noting(CODEC.pack([Open(content=[]), Open(content=[])]))
    assert one.__pydantic_fields_set__ is not two.__pydantic_fields_set__
    assert one.__pydantic_extra__ is not two.__pydantic_extra__
    one.content.append(1)
    one.more = 2
    assert two == Open(content=[])
    assert two.__pydantic_fields_set__ == {"content"}


def test_fields_that_are_stored_in_another_order_or_are_missing_are_put_in_order() -> None:
    class Renamed(pydantic.BaseModel):
        id: Any = None
        content: Any = ""

    data = CODEC.pack([Message(content="x", id=1)])
    other = Codec(TypeRegistry().with_types({"t/Message": Renamed}))
    with pytest.raises(DecodeError, match="more"):
        other.unpack_noting(data)

    class Longer(pydantic.BaseModel):
        new: Any = "n"
        content: Any = ""
        id: Any = None
        more: Any = None

    other = Codec(TypeRegistry().with_types({"t/Message": Longer}))
    (again,), _ = other.unpack_noting(data)
    assert [*vars(again)] == ["new", "content", "id", "more"]
    assert again == other.unpack(data)[0]


def test_a_name_that_stands_for_another_class_by_now_is_read_as_that() -> None:
    types = TypeRegistry()
    types.register("message/1", Message)
    codec = Codec(types)
    data = codec.pack([Message(content="x")])
    assert type(codec.unpack_noting(data)[0][0]) is Message
    namespace = {"__annotations__": Message.__annotations__, **dict.fromkeys(Message.model_fields)}
    again = type("Message", (pydantic.BaseModel,), {**namespace, "__module__": Message.__module__})
    types.register("message/1", again)
    assert type(codec.unpack_noting(data)[0][0]) is again


def test_of_how_many_classes_it_is_known_how_they_are_made_is_bounded() -> None:
    asked: list[bytes] = []

    def find(head: bytes) -> Make:
        asked.append(head)
        return dict

    glance = Glance(find)
    heads = [ormsgpack.packb([f"t/{number}", {"number": number}]) for number in range(5000)]
    for number, data in enumerate([*heads, heads[-1]]):
        assert glance.read(data) == {"number": min(number, 4999)}
    assert len(asked) == 5000
    assert 0 < len(glance._makers) < 5000


def payload(model: Any) -> bytes:
    found: list[bytes] = []
    ormsgpack.unpackb(CODEC.pack(model), ext_hook=lambda _, data: found.append(data))
    return found[0]


PAYLOADS = [payload(model) for model in (Message(content="a", more=[1, {"b": 2.5}]), Open())]


@settings(max_examples=400)
@given(st.data())
def test_damaged_models_are_read_as_any_other_way_or_refused(data: Any) -> None:
    damaged = bytearray(data.draw(st.sampled_from(PAYLOADS)))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged)))
        damaged[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
    packed = extension(tags.OBJECT, bytes(damaged))
    try:
        seen, _ = CODEC.unpack_noting(packed)
    except DecodeError:
        with pytest.raises(DecodeError):
            CODEC.unpack(packed)
        return
    assert CODEC.pack(seen) == CODEC.pack(CODEC.unpack(packed))
