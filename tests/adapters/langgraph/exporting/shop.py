"""A user's graph with rules and classes of its own, as `--graph` and `--types` name them."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

import keepset as ks

LIBRARY = {"reset": "Open Settings, then Security, then Reset.", "pay": "Open Bills, then Pay."}
KEY = "shop-key-93hf7Qk2"
CALLS: list[list[str]] = []


@dataclass
class Order:
    id: str
    total: int


def load(ids: list[str]) -> list[str]:
    CALLS.append(ids)
    return [LIBRARY[name] for name in ids]


class Shop(TypedDict, total=False):
    ids: Annotated[list[str], ks.Keep(), operator.add]
    docs: Annotated[list[str], ks.Refetch(load, using="ids")]
    order: Annotated[Order, ks.Keep()]
    key: Annotated[str, ks.Secret("env:SHOP_KEY")]
    cart: Annotated[Any, ks.Scratch(list)]
    reply: Annotated[str, ks.Keep()]


def _search(_: Shop) -> Shop:
    return {"ids": ["reset"], "docs": load(["reset"]), "cart": [1], "order": Order("o1", 3)}


def _more(_: Shop) -> Shop:
    return {"ids": ["pay"], "docs": load(["reset", "pay"])}


def _reply(shop: Shop) -> Shop:
    return {"reply": f"{interrupt('send?')}: {shop['docs'][-1]}"}


def build() -> Any:
    builder: Any = StateGraph(Shop)
    builder.add_node("search", _search)
    builder.add_node("more", _more)
    builder.add_node("reply", _reply)
    builder.add_edge(START, "search")
    builder.add_edge("search", "more")
    builder.add_edge("more", "reply")
    return builder
