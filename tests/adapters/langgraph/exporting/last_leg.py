"""The last leg, in a process in which keepset cannot be imported: answer, and tell everything.

Run as ``python -I last_leg.py ROOT PLACE``; it prints JSON.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.abc import MetaPathFinder
from typing import Any

_IDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}")


class Uninstalled(MetaPathFinder):
    """Finds no keepset."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        del path, target
        if fullname.partition(".")[0] == "keepset":
            raise ModuleNotFoundError(fullname, name=fullname)


def without_ids(told: object) -> str:
    """A text in which ids, which differ from run to run, are numbers in order of appearance."""
    seen: dict[str, str] = {}
    text = repr(told)
    return _IDS.sub(lambda found: seen.setdefault(found.group(), f"<{len(seen)}>"), text)


def story(graph: Any, at: Any) -> list[Any]:
    """What a user sees of a thread, and of what is inside it."""
    told = []
    for state in graph.get_state_history(at):
        tasks = [
            (one.name, one.error, [asked.value for asked in one.interrupts], one.result)
            for one in state.tasks
        ]
        metadata = sorted((state.metadata or {}).items())
        told.append(
            (state.values, state.next, metadata, tasks, [i.value for i in state.interrupts])
        )
    inside = graph.get_state(at, subgraphs=True)
    return [*told, [(one.name, one.state and one.state.values) for one in inside.tasks]]


def stored(saver: Any, thread: str) -> list[Any]:
    """What the saver gives of a thread, in all namespaces."""
    listed = saver.list({"configurable": {"thread_id": thread}})
    told = [
        (
            one.checkpoint["id"],
            one.config["configurable"]["checkpoint_ns"],
            (one.parent_config or {}).get("configurable", {}).get("checkpoint_id"),
            sorted(one.checkpoint["channel_values"].items()),
            sorted((name, int(v.split(".")[0])) for name, v in _versions(one).items()),
            sorted(one.metadata.items()),
            _written(one.pending_writes),
        )
        for one in listed
    ]
    return sorted(told, key=lambda one: one[0])


def _written(writes: Any) -> list[Any]:
    """What each task wrote, in order; which task comes first depends on their ids."""
    tasks: dict[str, list[Any]] = {}
    for task, channel, value in writes:
        tasks.setdefault(task, []).append((channel, value))
    return sorted(tasks.values(), key=lambda own: _IDS.sub("", repr(own)))


def _versions(one: Any) -> dict[str, str]:
    return {name: str(version) for name, version in one.checkpoint["channel_versions"].items()}


def go(saver: Any) -> dict[str, Any]:
    """Tell what is there, go the last leg, and tell what came of it."""
    from tests.adapters.langgraph.exporting import legs  # noqa: PLC0415 - not before keepset is out

    legs.growing()
    told = {}
    for thread, (make, leg) in legs.WAYS.items():
        graph, at = make(saver), legs.config(thread)
        before = without_ids(story(graph, at))
        leg[2](graph, at)
        told[thread] = [before, without_ids(story(graph, at)), without_ids(stored(saver, thread))]
    return told


def main(root: str, place: str) -> None:
    sys.meta_path.insert(0, Uninstalled())
    sys.path.insert(0, root)
    if place == "control":
        import keepset  # noqa: F401, PLC0415 - has to fail

        return
    if place.startswith("postgresql://"):
        from langgraph.checkpoint.postgres import PostgresSaver  # noqa: PLC0415 - not everywhere

        with PostgresSaver.from_conn_string(place) as saver:
            told = go(saver)
    else:
        from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415 - as above

        with SqliteSaver.from_conn_string(place) as saver:
            told = go(saver)
    assert not [name for name in sys.modules if name.partition(".")[0] == "keepset"]
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
