"""A whole stack for what does not fit on the rest of the caller's."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def afresh(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function at the bottom of a stack of its own, in the caller's context.

    The limit of recursion counts for each thread by itself, so what the caller has used of it
    does not matter here.

    Raises:
        RecursionError: The function alone goes deeper than the limit.
    """
    context = copy_context()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: context.run(function, *args, **kwargs)).result()
