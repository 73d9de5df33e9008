"""Together with the codec: what is packed holds no secret, and every path is one of the codec's."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from pathlib import PurePosixPath
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepset.codec import GLOBAL, Codec, Withheld, format_path
from keepset.scan import Finding, KnownValues, Scanner, substitutes
from tests.scan.credentials import KINDS, Maker

KEY = KINDS["openai-project"](Maker(3))
TEXT = f"the key {KEY} was pasted"
SCANNER = Scanner(KnownValues(), ())


class Client(msgspec.Struct):
    name: str
    api_key: Any = None
    history: Any = None


Pair = namedtuple("Pair", "first second")  # noqa: PYI024 - an untyped one, as users have them
CODEC = Codec(GLOBAL.with_types({"t/Client": Client, "t/Pair": Pair}))


def kept(value: object, name: str = "f") -> tuple[Any, bytes]:
    """Store a value as a run does, and read it back."""
    findings = SCANNER.leaves(value, (name,), name=name, parts=CODEC.parts)
    put = substitutes(findings, value, (name,), _withhold, CODEC.parts)
    data = CODEC.pack(value, (name,), substitute=put)
    return CODEC.unpack(data), data


def _withhold(finding: Finding) -> Withheld:
    return Withheld(finding.kind, format_path(finding.path))


VALUES: dict[str, Any] = {
    "text": KEY,
    "list": ["a", KEY, TEXT],
    "tuple": (1, (KEY,), TEXT),
    "set": {KEY, "other", TEXT},
    "frozenset": {"a": frozenset({("x", KEY), ("y", "z")})},
    "dict": {"a": {"b": KEY}, "c": TEXT},
    "keys": {KEY: {"x": KEY}, "plain": 1},
    "keys in part": {TEXT: [KEY], "plain": 1},
    "mixed keys": {1: KEY, "a": TEXT, (2, 3): [KEY], None: 1, False: KEY},
    "secret mixed keys": {1: KEY, KEY: [TEXT], (2, KEY): "x", KEY.encode(): 1},
    "key and value of one name": {None: {KEY}, (1,): KEY},
    "ordered": OrderedDict(a=KEY, b=1),
    "ordered keys": OrderedDict({"a": 1, KEY: 2}),
    "default": defaultdict(list, {"a": [KEY]}),
    "counter": Counter({KEY: 2, "a": 1}),
    "deque": deque([KEY, 1], maxlen=3),
    "named tuple": Pair(KEY, TEXT),
    "struct": Client("main", api_key=KEY, history=[TEXT]),
    "struct in key": {"k": [Client("main", history={KEY: {KEY}})]},
    "bytes": [KEY.encode(), TEXT.encode(), bytearray(TEXT.encode())],
    "path": PurePosixPath("/srv") / KEY,
    "exception": ValueError(TEXT),
    "array": {"a": np.array(["x", KEY])},
    "frame": {"t": pd.DataFrame({"name": ["a", KEY], "n": [1, 2]})},
    "frame with a telling column": pd.DataFrame({"api_key": ["a1b2c3d4e5f6g7"]}),
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_no_secret_is_in_what_is_packed(value: object) -> None:
    control = repr(CODEC.unpack(CODEC.pack(value, ("f",))))
    restored, data = kept(value)
    secrets = [part for part in (KEY[10:40], "a1b2c3d4e5f6g7") if part in control]
    assert secrets
    for part in secrets:
        assert part.encode() not in data
        assert part not in repr(restored)


def test_a_whole_secret_is_withheld_and_a_part_is_masked_and_all_else_stays() -> None:
    restored, _ = kept({"question": "why?", "key": KEY, "chat": [TEXT], 7: (1, KEY)})
    assert restored["key"] == Withheld("secret.format", "f.key")
    assert restored["chat"] == ["the key [withheld: secret.format] was pasted"]
    assert restored["question"] == "why?"
    assert restored[7][0] == 1
    assert isinstance(restored[7][1], Withheld)


def test_no_entry_is_lost_where_several_keys_or_members_are_secrets() -> None:
    other = KINDS["groq"](Maker(9))
    restored, _ = kept({KEY: 1, other: 2, "c": {KEY, other, "plain"}})
    assert [value for value in restored.values() if isinstance(value, int)] == [1, 2]
    assert len(restored["c"]) == 3


LEAVES = st.sampled_from([KEY, TEXT, KEY.encode(), "plain", 1, None, TEXT.encode()])
HASHABLE = st.recursive(
    st.sampled_from([KEY, TEXT, KEY.encode(), "plain", "a", 1, None, 2.5]),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=2),
    max_leaves=4,
)
STATES = st.recursive(
    LEAVES | st.sets(HASHABLE, max_size=3),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(HASHABLE, inner, max_size=3),
        st.dictionaries(st.sampled_from(["a", "api_key", KEY, TEXT]), inner, max_size=3),
        st.builds(Client, st.just("n"), inner, inner),
        st.builds(Pair, inner, inner),
        st.builds(OrderedDict, st.dictionaries(st.sampled_from(["a", KEY]), inner, max_size=2)),
        st.builds(deque, st.lists(inner, max_size=2)),
    ),
    max_leaves=10,
)


@given(STATES)
def test_whatever_the_state_no_secret_is_stored_and_every_substitute_is_reached(
    state: object,
) -> None:
    restored, data = kept(state)
    assert KEY[10:40].encode() not in data
    found = SCANNER.leaves(restored, ("f",), name="f", parts=CODEC.parts)
    assert not found


def test_a_secret_under_a_key_that_is_no_text_is_replaced_alone() -> None:
    value = {(1, "a"): {"k": KEY}, 2: KEY, None: "kept"}
    findings = SCANNER.leaves(value, ("f",), name="f", parts=CODEC.parts)
    put = substitutes(findings, value, ("f",), _withhold, CODEC.parts)
    assert set(put) == {("f", "<value of tuple key 0>", "k"), ("f", 2)}
    stored, _ = kept(value)
    assert isinstance(stored[1, "a"]["k"], Withheld)
    assert isinstance(stored[2], Withheld)
    assert stored[None] == "kept"
