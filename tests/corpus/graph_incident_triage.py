"""An incident is looked at from three sides at once, then handed to somebody.

Three nodes run in one step: logs, metrics and owners. What they find is put together by the node
after them, and the last one writes the page that goes out.
"""

import operator
from pathlib import Path
from typing import Annotated, Any

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict


class Incident(TypedDict, total=False):
    alert: str
    findings: Annotated[list[str], operator.add]
    severity: int
    on_call: str
    millis: Annotated[int, operator.add]
    draft: str
    paged: str
    runbook: str


def logs(incident: Incident) -> Incident:
    return {"findings": [f"log: {incident['alert']} at 3 hosts"], "millis": 120}


def metrics(incident: Incident) -> Incident:
    return {"severity": 2 if "disk" in incident["alert"] else 4, "millis": 80}


def owners(incident: Incident) -> Incident:
    return {"on_call": "ada" if "disk" in incident["alert"] else "bob", "millis": 5}


def judge(incident: Incident) -> Incident:
    lines = "; ".join(incident["findings"])
    return {
        "draft": f"{incident['on_call']}: {lines}",
        "runbook": f"sev{incident['severity']}/{incident['alert'].split()[0]}",
    }


def page(incident: Incident) -> Incident:
    text = f"{incident['on_call']}, {incident['runbook']}: {len(incident['findings'])} findings"
    with Path("pager.txt").open("a") as pager:
        pager.write(f"{text}\n")
    return {"paged": incident["on_call"], "draft": text}


def build() -> Any:
    builder: Any = StateGraph(Incident)
    for node in (logs, metrics, owners, judge, page):
        builder.add_node(node.__name__, node)
    for side in ("logs", "metrics", "owners"):
        builder.add_edge(START, side)
    builder.add_edge(["logs", "metrics", "owners"], "judge")
    builder.add_edge("judge", "page")
    return builder


def observe() -> str:
    return Path("pager.txt").read_text() if Path("pager.txt").exists() else ""


INPUT = {"alert": "disk is full", "findings": ["monitor: red"]}
OUTPUT = ("paged",)
TRUTH = {
    "alert": "needed",
    "findings": "needed",
    "severity": "needed",
    "on_call": "needed",
    "millis": "not needed",
    "draft": "not needed",
    "paged": "not needed",
    "runbook": "needed",
}
FIRST = {"alert": "__start__", "findings": "__start__", "runbook": "judge"}
WHY = {
    "alert": "all three sides and the judge read it",
    "findings": "the page counts them, and the monitor's one is there from the beginning",
    "severity": "the judge makes the runbook of it, one step after it was set",
    "on_call": "the judge and the page read it",
    "millis": "a sum of times that nothing reads",
    "draft": "the judge's one is overwritten by page, which does not read it",
    "paged": "the last node sets it, after which there is nothing to resume",
    "runbook": "the page that goes out names it",
}
