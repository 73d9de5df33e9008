from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, make_dataclass
from typing import Any

import msgspec
import pydantic
import pytest

from keepset.codec import Codec, StoredError, TypeRegistry, Withheld
from keepset.codec.parse import Parse
from keepset.errors import DecodeError, PolicyError
from tests.codec.classes import (
    CODEC,
    Attrs,
    AttrsDict,
    Base,
    Child,
    Colour,
    Frozen,
    Holder,
    Keep,
    Level,
    Money,
    Numbers,
    Outer,
    Plain,
    Point,
    PrivateNumbers,
    Rights,
    Struct,
    StructPlain,
    Sub,
    Watch,
    Word,
)

OBJECTS: list[Any] = [
    Plain(1, [2]),
    Frozen(1, (2, {3})),
    Child(1, [2], "z", more=Frozen(1), seed=5),
    Outer.Inner(Outer.Inner("x")),
    Attrs(1, 3),
    AttrsDict(1),
    Point(1, 2),
    Struct(some_x=1, y=[2]),
    Struct(some_x=1, z=3),
    StructPlain((1, StructPlain(2))),
    Base(theX=1, hidden="kept"),
    Sub.model_validate({"theX": 1, "more": [1], "other": {"a": (1,)}}),
    Holder(base=Sub(theX=3)),
    Numbers([1, 2]),
    PrivateNumbers([1]),
    [Colour.RED, Colour.CRIMSON, Colour.BLUE, Level.LOW, Word.A],
    [Rights.READ, Rights.READ | Rights.WRITE, Rights(0), Keep.ONE, Keep(9)],
    {Word.A: 1, Colour.RED: 2, Frozen(1): 3, Point(1): 4},
    {Attrs(1), AttrsDict(2), Money(3)},
    Money(5),
]


@pytest.fixture
def _no_code_of_the_class_runs() -> Iterator[None]:
    Watch.open = False
    yield
    Watch.open = True


@pytest.mark.usefixtures("_no_code_of_the_class_runs")
@pytest.mark.parametrize("value", OBJECTS, ids=lambda v: type(v).__name__)
def test_an_object_comes_back_equal_without_its_constructor(value: Any) -> None:
    packed = CODEC.pack(value)
    for again in (CODEC.unpack(packed), Parse(CODEC._known, packed).value()):
        assert again == value
        assert type(again) is type(value)
        assert repr(again) == repr(value) or isinstance(value, set | Money)
        assert CODEC.pack(again) == packed
    assert CODEC._pack(value, (), {}) == packed


def test_a_subclass_in_a_field_of_the_base_type_stays_the_subclass() -> None:
    again = CODEC.unpack(CODEC.pack(Holder(base=Sub(theX=1, more=[2]))))
    assert type(again.base) is Sub
    assert again.base.more == [2]


def test_a_model_keeps_private_attributes_extras_and_which_fields_were_given() -> None:
    model = Sub.model_validate({"theX": 1, "other": 5})
    model._private = 7
    again = CODEC.unpack(CODEC.pack(model))
    assert (again._private, again.other) == (7, 5)
    assert again.model_fields_set == {"x", "other"}
    assert again.__pydantic_extra__ == {"other": 5}


def test_a_hash_that_attrs_remembers_is_computed_again() -> None:
    for value in (Attrs(1), AttrsDict(2)):
        hash(value)
        assert hash(CODEC.unpack(CODEC.pack(value))) == hash(value)


def test_a_cached_property_is_computed_again_and_not_stored() -> None:
    child, model = Child(4), Sub(theX=1, more=[1, 2])
    before = CODEC.pack([child, model])
    assert (child.double, model.total) == (8, 3)
    assert CODEC.pack([child, model]) == before
    again, _ = CODEC.unpack(before)
    assert "double" not in vars(again)
    assert again.double == 8


def test_an_unregistered_class_is_refused_with_its_path_and_the_way_to_register_it() -> None:
    @dataclass
    class Order:
        id: int

    with pytest.raises(PolicyError, match=r"^cart\[1\]: .*Order is not a type") as caught:
        CODEC.pack({"cart": [1, Order(1)]})
    assert caught.value.code == "codec.unknown-type"
    assert 'keepset.register("order/1", Order)' in caught.value.hint


def _versions(old: list[Any], new: list[Any]) -> tuple[Codec, Codec, type]:
    codecs = []
    for fields in (old, new):
        types = TypeRegistry()
        cls = make_dataclass("Order", fields)
        types.register("order/1", cls)
        codecs.append((Codec(types), cls))
    (first, cls), (second, _) = codecs
    return first, second, cls


def test_a_stored_field_that_the_class_no_longer_has_is_named() -> None:
    first, second, cls = _versions([("a", int), ("gone", int)], [("a", int)])
    with pytest.raises(DecodeError, match=r"order/1: .*Order lacks .*: gone") as caught:
        second.unpack(first.pack(cls(1, 2)))
    assert caught.value.code == "decode.unknown-field"


def test_a_required_field_that_was_not_stored_is_named() -> None:
    first, second, cls = _versions([("a", int)], [("a", int), ("new", int)])
    with pytest.raises(DecodeError, match=r"order/1: .*lacks fields of .*Order: new") as caught:
        second.unpack(first.pack(cls(1)))
    assert caught.value.code == "decode.missing-field"


def test_a_new_field_with_a_default_gets_it() -> None:
    added = [("new", int, field(default=7)), ("items", list, field(default_factory=list))]
    first, second, cls = _versions([("a", int)], [("a", int), *added])
    again = second.unpack(first.pack(cls(1)))
    assert (again.a, again.new, again.items) == (1, 7, [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (Point, "class Point(NamedTuple):\n x: int\n y: int = 0\n z: int = 9"),
        (StructPlain, "class P(msgspec.Struct):\n x: int\n z: int = 9"),
        (Numbers, "class N(pydantic.BaseModel):\n root: list[int]\n z: int = 9"),
        (AttrsDict, "@attrs.define\nclass A:\n x: int\n y: int\n z: int = 9"),
    ],
)
def test_every_kind_of_class_may_gain_a_field_with_a_default(old: Any, new: str) -> None:
    space: dict[str, Any] = {}
    imports = "import attrs, msgspec, pydantic\nfrom typing import NamedTuple\n"
    exec(imports + new, space)  # noqa: S102 - a class of the same name needs a space of its own
    cls = [c for c in space.values() if isinstance(c, type) and c.__module__ != "typing"][-1]
    before, after = TypeRegistry(), TypeRegistry()
    before.register("n", old)
    after.register("n", cls)
    value = old([1]) if old is Numbers else old(1)
    assert Codec(after).unpack(Codec(before).pack(value)).z == 9


def test_an_attribute_that_is_no_field_is_refused_by_name() -> None:
    for value in (Plain(1), Child(1), AttrsDict(1)):
        value.__dict__["note"] = 1
        with pytest.raises(PolicyError, match=r"^s\.o: .*: note") as caught:
            CODEC.pack({"o": value}, ("s",))
        assert caught.value.code == "codec.extra-attributes"


def test_a_field_without_a_value_is_refused_by_name() -> None:
    value = Base.model_construct(hidden="x")
    with pytest.raises(PolicyError, match="without a value in its field x"):
        CODEC.pack(value)


def test_a_dataclass_that_is_also_a_list_is_not_taken_for_its_fields() -> None:
    @dataclass
    class Both(list[int]):
        x: int = 1

    types = TypeRegistry().with_types({"both": Both})
    with pytest.raises(PolicyError, match="Both is not a type"):
        Codec(types).pack([Both()])


def test_a_handle_in_a_private_attribute_is_refused_with_its_path() -> None:
    model = Sub(theX=1)
    model._private = open  # type: ignore[assignment]  # what must not be there
    with pytest.raises(PolicyError, match=r"^m\[0\]\._private: builtin_function_or_method"):
        CODEC.pack({"m": [model]})


def test_a_secret_of_pydantic_is_never_stored_even_inside_a_model() -> None:
    class Login(pydantic.BaseModel):
        key: pydantic.SecretStr

    types = TypeRegistry()
    types.register("login/1", Login)
    login = Login(key=pydantic.SecretStr("not shown"))
    with pytest.raises(PolicyError, match=r"^a\.key: pydantic\.types\.SecretStr") as caught:
        Codec(types).pack({"a": login})
    assert caught.value.code == "codec.secret-type"
    assert "not shown" not in str(caught.value)


@pytest.mark.parametrize("name", ["SecretStr", "SecretBytes", "Secret", "Mine"])
def test_what_looks_like_a_secret_is_refused_even_when_it_is_registered(name: str) -> None:
    space = {"get_secret_value": lambda _: "x"} if name == "Mine" else {}
    cls = type(name, (), space)
    types = TypeRegistry()
    types.register("s/1", cls, to=lambda _: "x", back=lambda _: None)
    with pytest.raises(PolicyError, match=r"^k: .*is a secret and is never stored"):
        Codec(types).pack({"k": cls()})


def test_a_struct_with_values_beside_its_fields_is_refused() -> None:
    class Open(msgspec.Struct, dict=True):
        x: int

    types = TypeRegistry()
    types.register("open/1", Open)
    value = Open(1)
    assert Codec(types).unpack(Codec(types).pack(value)) == value
    value.note = 2  # type: ignore[attr-defined]  # what must not be there
    with pytest.raises(PolicyError, match="note"):
        Codec(types).pack(value)


def test_an_error_in_a_registered_function_becomes_ours_with_the_path() -> None:
    types = TypeRegistry()
    types.register("m/1", Money, to=lambda m: m.missing, back=lambda _: 1 // 0)
    with pytest.raises(PolicyError, match=r"^a\[0\]: .*`to` raised AttributeError") as caught:
        Codec(types).pack({"a": [Money(1)]})
    assert caught.value.code == "codec.failed-to"
    stored = TypeRegistry()
    stored.register("m/1", Money, to=lambda m: m.cents, back=Money)
    with pytest.raises(DecodeError, match=r"`back` .* raised ZeroDivisionError") as failed:
        Codec(types).unpack(Codec(stored).pack(Money(1)))
    assert failed.value.code == "decode.failed-back"


class PaymentError(Exception):
    """As the errors of many a library: an Exception and no more."""


def _broken(_: object) -> Any:
    raise PaymentError("the card 4111")


@dataclass(eq=False)
class Unhashable:
    x: int = 0

    def __hash__(self) -> int:
        if self.x:
            raise PaymentError("no hash")
        return 0


@dataclass
class Late:
    x: int = field(default_factory=lambda: _broken(0))


@pytest.mark.parametrize("depth", [0, 40])
def test_any_exception_of_a_registered_function_becomes_ours(depth: int) -> None:
    bad, good = TypeRegistry(), TypeRegistry()
    bad.register("m/1", Money, to=_broken, back=_broken)
    good.register("m/1", Money, to=lambda m: m.cents, back=Money)
    value: Any = Money(1)
    for _ in range(depth):
        value = [value]
    with pytest.raises(PolicyError, match=r"`to` raised .*PaymentError") as refused:
        Codec(bad).pack(value)
    assert refused.value.code == "codec.failed-to"
    with pytest.raises(DecodeError, match=r"`back` .* raised .*PaymentError") as failed:
        Codec(bad).unpack(Codec(good).pack(value))
    assert failed.value.code == "decode.failed-back"
    assert "4111" not in f"{refused.value} {failed.value}"


@dataclass
class Early:
    """`Late` before it had its field."""


def test_any_exception_of_a_class_that_is_read_becomes_ours() -> None:
    old, new = TypeRegistry(), TypeRegistry()
    old.register("l/1", Early)
    new.register("l/1", Late)
    new.register("u/1", Unhashable)
    codec = Codec(new)
    stored = codec.pack({Unhashable()}).replace(b"\xa1x\x00", b"\xa1x\x01")
    assert b"\xa1x\x01" in stored
    for data in (stored, Codec(old).pack(Early())):
        with pytest.raises(DecodeError, match=r"decode\.malformed"):
            codec.unpack(data)


def test_an_error_of_ours_passes_through_a_registered_function() -> None:
    def uses(_: object) -> Any:
        return len(Withheld("secret.name", "f.key"))

    types = TypeRegistry()
    types.register("m/1", Money, to=uses, back=Money)
    with pytest.raises(PolicyError) as caught:
        Codec(types).pack(Money(1))
    assert caught.value.code == "secret.withheld"


class SilentError(Exception):
    def __str__(self) -> str:
        raise PaymentError


class EndlessError(Exception):
    def __str__(self) -> str:
        return str(self)


def test_an_exception_that_cannot_say_what_it_is_about_is_stored_by_its_type() -> None:
    (stored,) = Codec().unpack(Codec().pack([SilentError()]))
    assert stored == StoredError(f"{__name__}.SilentError", "")
    with pytest.raises(PolicyError, match=r"codec\.stack"):
        Codec().pack([EndlessError()])
