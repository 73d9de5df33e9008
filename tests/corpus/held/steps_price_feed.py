"""A trader loads prices and names of shares, sets limits, places orders over a feed and books them.

Prices move on while the run lies still; names do not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import keepset as ks


@dataclass
class Feed:
    venue: str

    def place(self, line: str) -> None:
        with Path("orders.txt").open("a", encoding="utf-8") as orders:
            orders.write(f"{self.venue} {line}\n")


def connect_feed() -> Feed:
    return Feed("XETR")


def load_prices(symbols: list[str]) -> dict[str, int]:
    prices = json.loads(Path("prices.json").read_text(encoding="utf-8"))
    return {symbol: prices[symbol] for symbol in symbols}


def load_names(symbols: list[str]) -> dict[str, str]:
    return {symbol: f"{symbol.title()} AG" for symbol in symbols}


def make_folder() -> Path:
    folder = Path("charts")
    folder.mkdir(exist_ok=True)
    return folder


class Trade(TypedDict, total=False):
    symbols: list[str]
    prices: Annotated[dict[str, int], ks.Refetch(load_prices, using="symbols")]
    names: Annotated[dict[str, str], ks.Refetch(load_names, using="symbols")]
    folder: Annotated[Path, ks.Scratch(make_folder)]
    feed: Annotated[Feed, ks.Reopen(connect_feed)]
    limits: dict[str, int]
    placed: int
    audit: list[str]


def load(state: Trade) -> Trade:
    prices = load_prices(state["symbols"])
    (state["folder"] / "chart.txt").write_text(str(prices), encoding="utf-8")
    return {"prices": prices, "names": load_names(state["symbols"]), "audit": ["loaded"]}


def set_limits(state: Trade) -> Trade:
    limits = {symbol: price * 95 // 100 for symbol, price in state["prices"].items()}
    return {"limits": limits, "audit": [*state.get("audit", []), "limits set"]}


def place(state: Trade) -> Trade:
    for symbol, limit in state["limits"].items():
        state["feed"].place(f"{state['names'][symbol]} at {limit}")
    return {"placed": len(state["limits"])}


def book(state: Trade) -> Trade:
    return {"audit": [*state.get("audit", []), "booked"]}


def build() -> ks.Workflow:
    return ks.Workflow(Trade, steps=[load, set_limits, place, book])


INPUT: dict[str, Any] = {"symbols": ["alba", "brio"]}
OUTPUT = ("placed",)


def world() -> None:
    Path("prices.json").write_text(json.dumps({"alba": 1000, "brio": 400}), encoding="utf-8")


def observe() -> list[str]:
    orders = Path("orders.txt")
    return orders.read_text(encoding="utf-8").splitlines() if orders.exists() else []


def between() -> None:
    Path("prices.json").write_text(json.dumps({"alba": 1200, "brio": 390}), encoding="utf-8")


TRUTH: dict[str, str] = {
    "symbols": "needed",
    "prices": "refetch differs",
    "names": "restored",
    "folder": "not needed",
    "feed": "restored",
    "limits": "needed",
    "placed": "needed",
    "audit": "not needed",
}
FIRST = {"symbols": "load", "limits": "set_limits", "placed": "place"}
WHY: dict[str, str] = {
    "symbols": "prices and names are fetched again by them",
    "prices": "set_limits reads them, and they have moved on",
    "names": "place reads them, and they are still the same",
    "folder": "only the first step writes into it",
    "feed": "place speaks over it, and a reopened one does the same",
    "limits": "place reads them, and the prices that they were made of have moved on",
    "placed": "the caller reads it, and the step that makes it is not the last",
    "audit": "each step adds to it and none reads it, nor does the caller",
}
