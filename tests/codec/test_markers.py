from __future__ import annotations

import copy
import math
import operator
import os
import pickle
from typing import Any

import pytest

from keepset.codec import BlobRef, Codec, StoredError, Withheld
from keepset.errors import PolicyError

CODEC = Codec()
MARKER = Withheld("secret.format", "login.keys[2]")

USES = """
str(m); bytes(m); len(m); bool(m); int(m); float(m); complex(m); iter(m); list(m); tuple(m)
dict(m); set(m); reversed(m); next(m); abs(m); round(m); hex(m); aiter(m); anext(m); open(m)
os.fspath(m); math.trunc(m); math.floor(m); operator.index(m); operator.length_hint(m)
f"{m}"; f"{m:>10}"; f"{m!s}"; "%s" % m; ", ".join(m); "x{}".format(m)
m == "x"; "x" == m; m != None; m in ["x"]; "x" in [m]; m < 1; 1 < m; m >= m; m <= 1; m > "a"
m[0]; m["k"]; m[1:]; 1 in m; m(); m(1, a=2); {**m}; [*m]; print(m, end="")
m.encode(); m.value; m.__len__; m.__dict__; getattr(m, "x", None); hasattr(m, "get_secret_value")
m + "x"; "x" + m; m + m; m * 2; 2 * m; m - 1; 1 - m; m / 1; 1 // m; m % 1; 1 % m; divmod(m, 1)
m ** 2; 2 ** m; m & 1; 1 | m; m ^ 1; m << 1; 1 >> m; m @ m; -m; +m; ~m
setattr(m, "kind", "x"); delattr(m, "kind"); operator.setitem(m, 0, 1); operator.delitem(m, 0)
operator.iadd(m, 1); operator.imul(m, 2); m.__enter__()
"""
NAMES = {"m": MARKER, "os": os, "math": math, "operator": operator}


@pytest.mark.parametrize("use", [use.strip() for use in USES.replace("\n", ";").split(";") if use])
def test_any_use_of_a_withheld_value_is_an_error_that_names_the_rule(use: str) -> None:
    with pytest.raises(PolicyError, match=r"^login\.keys\[2\]: the value was withheld") as caught:
        eval(use, NAMES)  # noqa: S307 - the expressions stand above
    assert caught.value.code == "secret.withheld"
    assert 'Declare login as Secret("env:NAME")' in caught.value.hint


def test_a_withheld_value_cannot_be_entered_or_awaited() -> None:
    with pytest.raises(PolicyError), MARKER:
        pass

    async def wait() -> None:
        await MARKER

    with pytest.raises(PolicyError):
        wait().send(None)


def test_a_tool_that_asks_for_protocols_gets_the_answer_of_an_object_without_them() -> None:
    for name in ("__name__", "__dict__", "__array__", "__rich__"):
        assert getattr(MARKER, name, None) is None


def test_a_withheld_value_can_be_recognised_shown_compared_and_copied() -> None:
    again: list[Any] = [copy.copy(MARKER), copy.deepcopy([MARKER])[0]]
    again += [pickle.loads(pickle.dumps(MARKER, protocol)) for protocol in range(6)]  # noqa: S301 - our own bytes
    for other in again:
        assert isinstance(other, Withheld)
        assert type(other) is Withheld
        assert other == MARKER
        assert not other != MARKER  # noqa: SIM202 - both operators are meant
        assert hash(other) == hash(MARKER)
    assert Withheld("secret.name", "login.keys[2]") != MARKER
    assert Withheld("secret.format", "x") != MARKER
    assert repr(MARKER) == "<withheld secret.format at login.keys[2]>"
    assert f"{MARKER!r}" == repr(MARKER)
    assert dir(MARKER) == ["kind", "path"]
    assert (MARKER.kind, MARKER.path) == ("secret.format", "login.keys[2]")
    assert len({MARKER, *again}) == 1


def test_a_state_with_a_withheld_value_can_be_shown() -> None:
    state = {"login": [MARKER]}
    assert repr(state) == "{'login': [<withheld secret.format at login.keys[2]>]}"


@pytest.mark.parametrize("value", [MARKER, StoredError("E", "m"), BlobRef(b"d" * 32, 5)])
def test_a_marker_comes_back_from_the_codec(value: Any) -> None:
    again = CODEC.unpack(CODEC.pack({"a": [value]}))["a"][0]
    assert type(again) is type(value)
    assert again == value
    assert CODEC.pack(again) == CODEC.pack(value)


def test_a_message_of_an_exception_can_be_replaced_before_it_is_stored() -> None:
    error = ValueError("401 for key sk-123")
    assert list(CODEC.parts(error) or ()) == [("message", "401 for key sk-123")]
    stored = CODEC.pack({"e": error}, substitute={("e", "message"): "401 for key [withheld]"})
    assert CODEC.unpack(stored) == {"e": StoredError("ValueError", "401 for key [withheld]")}
