"""Strategies for every builtin value that the codec can store."""

from __future__ import annotations

import datetime as dt
import ipaddress
import pathlib
import re
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Hashable
from typing import Any

from hypothesis import strategies as st

ZONES = st.one_of(
    st.none(),
    st.just(dt.UTC),
    st.timezones(),
    st.builds(
        dt.timezone,
        st.timedeltas(dt.timedelta(hours=-23), dt.timedelta(hours=23)),
        st.text(max_size=5),
    ),
    st.builds(dt.timezone, st.timedeltas(dt.timedelta(hours=-23), dt.timedelta(hours=23))),
)
ANY_TEXT = st.text(st.characters(codec=None, categories=None), max_size=40)
PLAIN_ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**80), 2**80),
    st.floats(),
    ANY_TEXT,
    st.binary(max_size=40),
)
ATOMS: st.SearchStrategy[Hashable] = st.one_of(
    PLAIN_ATOMS,
    st.complex_numbers(),
    st.decimals().filter(lambda number: not number.is_snan()),
    st.fractions(),
    st.datetimes(timezones=ZONES),
    st.dates(),
    st.times(timezones=st.just(None)),
    st.timedeltas(),
    st.uuids(),
    st.ip_addresses(),
    st.builds(ipaddress.ip_interface, st.ip_addresses()),
    st.builds(ipaddress.ip_network, st.ip_addresses()),
    st.builds(pathlib.PurePosixPath, st.text(st.characters(blacklist_characters="\0"))),
    st.builds(pathlib.PureWindowsPath, st.text("ab:/\\.", max_size=12)).filter(
        lambda path: str(again := type(path)(str(path))) == str(path) and again == path
    ),
    st.builds(range, st.integers(), st.integers(), st.integers(1)),
    st.sampled_from([re.compile("a+", re.IGNORECASE), re.compile(rb"\d"), re.compile("(?s).")]),
)
KEYS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(st.tuples(inner, inner), st.frozensets(inner, max_size=3)),
    max_leaves=4,
)
LEAVES = st.one_of(ATOMS, st.builds(bytearray, st.binary(max_size=20)))


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    mappings = st.one_of(
        st.dictionaries(ANY_TEXT, inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)
    )
    factories = st.sampled_from([None, list, dict, set, int, float, str, tuple, bool])
    return st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.sets(KEYS, max_size=4),
        mappings,
        mappings.map(OrderedDict),
        st.dictionaries(KEYS, st.integers(), max_size=3).map(Counter),
        st.builds(defaultdict, factories, mappings),
        st.builds(
            lambda items, n: deque(items, len(items) + n),
            st.lists(inner, max_size=4),
            st.integers(0, 2),
        ),
        st.lists(inner, max_size=4).map(deque),
    )


VALUES = st.recursive(LEAVES, _containers, max_leaves=12)
