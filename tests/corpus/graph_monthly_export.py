"""The month's bookings are exported into a file, and the file is sent to the tax office.

The folder with the file is emptied between the kill and the resume, and the session at the office
has run out by then. Who finds the file gone writes it again, and who finds the session closed opens
another; what the file is made of has to be there.
"""

import shutil
from pathlib import Path
from typing import Any

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict


class Export(TypedDict, total=False):
    month: str
    bookings: list[int]
    file: str
    session: str
    checked: bool
    sent_lines: int
    tmp_total: int
    receipt: str


def collect(export: Export) -> Export:
    with Path("journal.txt").open("a") as journal:
        journal.write("read\n")
    numbers = [len(export["month"]) * factor for factor in (3, 5, 8)]
    return {"bookings": numbers, "tmp_total": sum(numbers)}


def written(export: Export) -> str:
    path = Path(export.get("file", "out/export.csv"))
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(str(number) for number in export["bookings"]))
    return str(path)


def write(export: Export) -> Export:
    return {"file": written(export)}


def sign_in(export: Export) -> Export:
    visit = f"visit-{export['month']}"
    Path("office.txt").write_text(visit)
    return {"session": visit, "checked": Path(written(export)).exists()}


def send(export: Export) -> Export:
    if export.get("session", "none") != Path("office.txt").read_text():
        Path("office.txt").write_text(f"visit-{export['month']}")
    lines = Path(written(export)).read_text().splitlines()
    with Path("journal.txt").open("a") as journal:
        journal.write(f"sent {'+'.join(lines)}\n")
    return {"sent_lines": len(lines)}


def close(export: Export) -> Export:
    return {"receipt": f"{export['month']}: {export['sent_lines']}, {export['tmp_total']} EUR"}


def build() -> Any:
    builder: Any = StateGraph(Export)
    for node in (collect, write, sign_in, send, close):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "collect")
    builder.add_edge("collect", "write")
    builder.add_edge("write", "sign_in")
    builder.add_edge("sign_in", "send")
    builder.add_edge("send", "close")
    return builder


def world() -> None:
    Path("office.txt").write_text("closed")


def observe() -> list[str]:
    return Path("journal.txt").read_text().splitlines() if Path("journal.txt").exists() else []


def between() -> None:
    shutil.rmtree("out", ignore_errors=True)
    Path("office.txt").write_text("closed")


INPUT = {"month": "April"}
OUTPUT = ("receipt",)
TRUTH = {
    "month": "needed",
    "bookings": "needed",
    "file": "not needed",
    "session": "not needed",
    "checked": "not needed",
    "sent_lines": "needed",
    "tmp_total": "needed",
    "receipt": "not needed",
}
FIRST = {
    "month": "__start__",
    "bookings": "collect",
    "sent_lines": "send",
    "tmp_total": "collect",
}
WHY = {
    "month": "the bookings, the session and the receipt are made of it",
    "bookings": "the file is written again from them, since the folder is emptied meanwhile",
    "file": "the usual path is taken where it is missing, and the file is gone anyway",
    "session": "it has run out by then; a new one is opened where it is missing or does not fit",
    "checked": "nothing reads it",
    "sent_lines": "the receipt has the number",
    "tmp_total": "the receipt has it, and only the first node adds up",
    "receipt": "the last node sets it",
}
