"""Bytes as data: what is stored is taken apart, and nothing of it is run, whatever it says."""

from __future__ import annotations

from keepset.readers.decoding.documents import from_json
from keepset.readers.decoding.packed import from_msgpack
from keepset.readers.decoding.pickled import from_pickle
from keepset.readers.decoding.tagged import from_tagged

__all__ = ["from_json", "from_msgpack", "from_pickle", "from_tagged"]
