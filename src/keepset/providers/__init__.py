"""What the outside world provides: the clock, ids, secrets, keys, places on disk."""

from keepset.providers.clock import now_ms
from keepset.providers.ids import new_id
from keepset.providers.keys import (
    HashKey,
    file_key,
    fresh_key,
    read_key,
    renew_key,
    wrong_key,
)
from keepset.providers.places import temporary_roots
from keepset.providers.secrets import SCHEMES, resolve

__all__ = [
    "SCHEMES",
    "HashKey",
    "file_key",
    "fresh_key",
    "new_id",
    "now_ms",
    "read_key",
    "renew_key",
    "resolve",
    "temporary_roots",
    "wrong_key",
]
