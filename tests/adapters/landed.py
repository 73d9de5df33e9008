"""What a store holds, runs that are only being taken over among it, which a listing leaves out."""

from __future__ import annotations

import keepset as ks
from keepset.plan.reads import ListRuns


def held(store: ks.Store) -> list[str]:
    """Give the ids of all runs that take room in a store."""
    listed = store.services.backend.execute(ListRuns(store.tenant))
    return [one.run.key.run_id for one in listed]
