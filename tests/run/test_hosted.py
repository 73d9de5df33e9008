"""Runs of a host that names its checkpoints itself: forks, late writes, other writers."""

from __future__ import annotations

from typing import Any

import keepset as ks
from tests.run.hosts import Host
from tests.run.test_integrity import words


def grown(values: dict[str, Any], number: int) -> dict[str, Any]:
    messages = [*values["messages"], {"n": number, "text": words(number)}]
    return {"messages": messages, "draft": words(number), "count": number}


def test_a_line_that_a_host_begins_in_the_past_is_packed_by_itself() -> None:
    with ks.open("memory:") as store:
        host, parent = Host(store), ""
        values: dict[str, Any] = {"messages": []}
        said: dict[str, dict[str, Any]] = {}
        for number in range(100):
            if number == 60:
                parent = "c00040"
                values = said[parent]
            values = grown(values, number)
            host.append(f"c{number:05}", parent, values)
            parent = f"c{number:05}"
            said[parent] = values
        reader = Host(store)
        for own, values in said.items():
            stored = reader.at(own)
            assert stored is not None
            assert stored.values == values
        assert store.verify().problems == ()
