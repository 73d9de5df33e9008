"""What the outside world provides: clocks, ids, secrets, keys, places on disk, processes."""

from keepset.providers.clock import elapsed, now_ms
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
from keepset.providers.processes import Process, has_ended, this_process
from keepset.providers.secrets import SCHEMES, resolve

__all__ = [
    "SCHEMES",
    "HashKey",
    "Process",
    "elapsed",
    "file_key",
    "fresh_key",
    "has_ended",
    "new_id",
    "now_ms",
    "read_key",
    "renew_key",
    "resolve",
    "temporary_roots",
    "this_process",
    "wrong_key",
]
