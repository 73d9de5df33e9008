"""How a user opens a store."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

from keepset.backends.sqlite import Durability
from keepset.store.opening import Options, Role, open_services
from keepset.store.places import Place
from keepset.store.store import AsyncStore, Store


def open_store(  # noqa: PLR0913 - each option stands for itself, all but one by keyword
    url: Place,
    *,
    tenant: str = "default",
    role: Role = "writer",
    mode: str = "protect",
    durability: Durability = "full",
    timeout: float = 30.0,
    compression: bool = True,
    new_key: bool = False,
    lease: float = 30.0,
) -> Store:
    """Open a store; close it, or use it in a `with` block.

    Args:
        url: The path of a file, as it is or as ``sqlite:///relative.db`` and
            ``sqlite:////absolute.db``; or ``memory:``, which is a fresh store each time.
        tenant: Whose runs these are.
        role: ``writer``, or ``viewer``, which never changes the store and does not create one:
            the file is opened read-only.
        mode: ``strict`` refuses what does not belong, ``protect`` never stores a secret and goes
            on, ``observe`` stores as a plain saver would and only reports. The environment's
            ``KEEPSET_MODE`` wins.
        durability: ``full``: a save that has returned survives a loss of power; ``normal``: it
            survives the end of the process, while a loss of power may take the newest saves.
        timeout: Seconds to wait for other processes that write.
        compression: Whether old steps and large values are compressed.
        new_key: Make a new key file where the old one is lost for good, damaged or that of another
            store; what lies there is kept beside it. Runs of a subject are then no longer found by
            the person's name. A key that is the store's own stays.
        lease: Seconds after which a run may be gone on with whose process was lost with its machine
            (1 to 86,400). While it works, the lease is renewed at a third of that; the clocks of
            machines that share a store may differ by half of it.

    Raises:
        UsageError: The URL or an option is not known.
        NotFoundError: A viewer's store is not there.
        StoreError: The place refuses, or the file is not one of ours.
    """
    options = Options(tenant, role, mode, durability, timeout, compression, new_key, lease)
    return Store(open_services(url, options))


class Opening:
    """A store that is being opened: ``store = await ks.aopen(url)``, or ``async with``."""

    def __init__(self, url: Place, options: Options) -> None:
        """Remember what to open; nothing is opened yet."""
        self._url = url
        self._options = options
        self._stores: list[AsyncStore] = []

    def __await__(self) -> Generator[Any, None, AsyncStore]:
        return self._open().__await__()

    async def _open(self) -> AsyncStore:
        return AsyncStore(await asyncio.to_thread(open_services, self._url, self._options))

    async def __aenter__(self) -> AsyncStore:
        store = await self._open()
        self._stores.append(store)
        return store

    async def __aexit__(self, *_: object) -> None:
        await self._stores.pop().close()


def aopen(  # noqa: PLR0913 - the same
    url: Place,
    *,
    tenant: str = "default",
    role: Role = "writer",
    mode: str = "protect",
    durability: Durability = "full",
    timeout: float = 30.0,
    compression: bool = True,
    new_key: bool = False,
    lease: float = 30.0,
) -> Opening:
    """Open a store for event loops: await it, or use it in an ``async with``.

    See `keepset.open`.
    """
    options = Options(tenant, role, mode, durability, timeout, compression, new_key, lease)
    return Opening(url, options)
