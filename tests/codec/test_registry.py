from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from keepset.codec import GLOBAL, Codec, TypeRegistry, register
from keepset.errors import DecodeError, KeepsetError, UsageError
from tests.codec.classes import Money, Plain, Point


def _order() -> Any:
    @dataclass
    class Order:
        id: int

    return Order


def test_a_class_that_is_registered_for_the_process_is_known_to_every_codec() -> None:
    order = _order()
    before = Codec()
    register("test-registry/order/1", order)
    for codec in (before, Codec(), Codec(GLOBAL.with_types({}))):
        assert codec.unpack(codec.pack(order(1))) == order(1)


def test_types_of_a_layer_are_known_to_it_alone() -> None:
    order = _order()
    base = TypeRegistry()
    layer = base.with_types({"c/Order": order})
    packed = Codec(layer).pack(order(1))
    assert Codec(layer).unpack(packed) == order(1)
    with pytest.raises(DecodeError, match=r"'c/Order', which is not registered"):
        Codec(base).unpack(packed)


def test_a_registered_name_is_written_rather_than_the_layers_and_both_are_read() -> None:
    order = _order()
    base = TypeRegistry()
    layer = base.with_types({"c/Order": order})
    old = Codec(layer).pack(order(1))
    base.register("order/1", order)
    codec = Codec(layer)
    assert b"order/1" in codec.pack(order(2))
    assert b"c/Order" in old
    assert codec.unpack(old) == order(1)


def test_the_same_registration_twice_changes_nothing() -> None:
    types = TypeRegistry()
    types.register("p/1", Plain)
    types.register("p/1", Plain)
    assert Codec(types).unpack(Codec(types).pack(Plain(1))) == Plain(1)


def test_a_class_that_was_defined_anew_takes_the_place_of_the_old_one() -> None:
    old, new = _order(), _order()
    types = TypeRegistry()
    types.register("order/1", old)
    codec = Codec(types)
    packed = codec.pack(old(1))
    assert type(codec.unpack(packed)) is old
    types.register("order/1", new)
    assert type(codec.unpack(packed)) is new
    assert codec.pack(old(1)) == packed


def _register(name: Any, cls: Any, **functions: Any) -> str:
    types = TypeRegistry()
    types.register("taken/1", Plain)
    with pytest.raises(UsageError) as caught:
        types.register(name, cls, **functions)
    assert caught.value.hint
    return caught.value.code


def test_a_registration_that_cannot_work_is_refused_at_once() -> None:
    assert _register("", Plain) == "type.name"
    assert _register("a\nb", Plain) == "type.name"
    assert _register("x" * 256, Plain) == "type.name"
    assert _register(5, Plain) == "type.name"
    assert _register("a", "Plain") == "type.incomplete"
    assert _register("a", Money, to=vars) == "type.incomplete"
    assert _register("a", Money) == "type.unsupported"
    assert _register("a", int) == "type.builtin"
    assert _register("taken/1", Point) == "type.name-taken"
    assert _register("other/1", Plain) == "type.class-taken"
    assert _register("a", list, to=list, back=list) == "type.builtin"


def test_an_instance_of_a_subclass_is_not_taken_for_its_base() -> None:
    class Child(Plain):
        pass

    types = TypeRegistry()
    types.register("p/1", Plain)
    with pytest.raises(KeepsetError, match="Child is not a type that can be stored"):
        Codec(types).pack(Child(1))


def test_a_converted_value_may_hold_other_objects() -> None:
    types = TypeRegistry()
    types.register("p/1", Plain)
    types.register("m/1", Money, to=lambda m: {"of": (m.cents,)}, back=lambda d: Money(d["of"][0]))
    value = Money(Plain(1))  # type: ignore[arg-type]  # anything that can be stored
    assert Codec(types).unpack(Codec(types).pack([value])) == [value]


def test_a_contracts_class_is_read_where_it_was_stored_under_its_qualified_name_alone() -> None:
    order = _order()
    bare = TypeRegistry()
    bare.register(order.__qualname__, order)
    packed = Codec(bare).pack(order(1))
    layer = TypeRegistry().with_classes({f"c/{order.__qualname__}": order})
    assert Codec(layer).unpack(packed) == order(1)
    assert Codec(layer).unpack(Codec(layer).pack(order(1))) == order(1)


def test_a_class_that_goes_by_its_qualified_name_is_read_under_that_of_any_contract() -> None:
    order = _order()
    packed = Codec(TypeRegistry().with_classes({f"c/d/{order.__qualname__}": order})).pack(order(1))
    types = TypeRegistry()
    types.register(order.__qualname__, order)
    with pytest.raises(DecodeError, match="which is not registered"):
        Codec(types).unpack(packed)
    types.of_any_contract(order)
    assert Codec(types).unpack(packed) == order(1)


def test_what_is_known_by_just_the_name_comes_before_what_may_be_meant() -> None:
    old, new = _order(), _order()
    base = TypeRegistry()
    base.register(old.__qualname__, old)
    packed = Codec(base).pack(old(1))
    layer = base.with_classes({f"c/{new.__qualname__}": new})
    assert type(Codec(layer).unpack(packed)) is old
