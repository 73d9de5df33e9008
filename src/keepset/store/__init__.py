"""The composition root: from a URL to a store, from a store to its runs."""

from keepset.store.open import aopen, open_store
from keepset.store.store import AsyncStore, Store

__all__ = ["AsyncStore", "Store", "aopen", "open_store"]
