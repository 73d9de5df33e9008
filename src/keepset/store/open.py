"""How a user opens a store."""

from __future__ import annotations

import asyncio

from keepset.backends.sqlite import Durability
from keepset.store.opening import Options, Role, open_services
from keepset.store.store import AsyncStore, Store


def open_store(  # noqa: PLR0913 - each option stands for itself, all but one by keyword
    url: str,
    *,
    tenant: str = "default",
    role: Role = "writer",
    mode: str = "protect",
    durability: Durability = "full",
    timeout: float = 30.0,
    compression: bool = True,
    new_key: bool = False,
) -> Store:
    """Open a store; close it, or use it in a `with` block.

    Args:
        url: ``sqlite:///relative.db``, ``sqlite:////absolute.db``, or ``memory:``, which is a
            fresh store each time.
        tenant: Whose runs these are.
        role: ``writer``, or ``viewer``, which never changes the store and does not create one.
        mode: ``strict`` refuses what does not belong, ``protect`` never stores a secret and goes
            on, ``observe`` stores as a plain saver would and only reports. The environment's
            ``KEEPSET_MODE`` wins.
        durability: ``full``: a save that has returned survives a loss of power; ``normal``: it
            survives the end of the process, while a loss of power may take the newest saves.
        timeout: Seconds to wait for other processes that write.
        compression: Whether old steps and large values are compressed.
        new_key: Make a new key file where the old one is lost for good. Runs of a subject are
            then no longer found by the person's name.

    Raises:
        UsageError: The URL or an option is not known.
        NotFoundError: A viewer's store is not there.
        StoreError: The place refuses, or the file is not one of ours.
    """
    options = Options(tenant, role, mode, durability, timeout, compression, new_key)
    return Store(open_services(url, options))


async def aopen(  # noqa: PLR0913 - the same
    url: str,
    *,
    tenant: str = "default",
    role: Role = "writer",
    mode: str = "protect",
    durability: Durability = "full",
    timeout: float = 30.0,  # noqa: ASYNC109 - how long a write waits for others, not this call
    compression: bool = True,
    new_key: bool = False,
) -> AsyncStore:
    """Open a store for event loops; see `keepset.open`."""
    options = Options(tenant, role, mode, durability, timeout, compression, new_key)
    return AsyncStore(await asyncio.to_thread(open_services, url, options))
