"""An interviewer asks three questions, one a pass of a loop, and scores the candidate.

The state is a dataclass: a field that is left out has its default again. A hard question follows a
good answer. The candidate's papers are fetched once, before the first question, for a fee.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


@dataclass
class Interview:
    candidate: str
    language: str = "en"
    asked: int = 0
    level: str = "easy"
    papers: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    last_answer: str = ""
    locked: bool = False
    score: int = 0
    pause: int = 5


def prepare(interview: Interview) -> dict[str, Any]:
    if not interview.locked:
        with Path("archive.txt").open("a") as archive:
            archive.write(f"papers of {interview.candidate}\n")
    papers = [f"{interview.candidate}: cv", f"{interview.candidate}: letter"]
    return {"papers": papers, "locked": True, "pause": 5, "language": "en"}


def ask(interview: Interview) -> dict[str, Any]:
    paper = interview.papers[interview.asked % len(interview.papers)]
    answer = interrupt(f"{interview.level} question {interview.asked + 1} on {paper}")
    return {
        "last_answer": f"{interview.level}: {answer} ({paper}, {interview.language})",
        "asked": interview.asked + 1,
    }


def rate(interview: Interview) -> dict[str, Any]:
    good = "well" in interview.last_answer
    return {
        "answers": [*interview.answers, interview.last_answer],
        "level": "hard" if good else "easy",
        "score": interview.score + (2 if good else 1),
    }


def more(interview: Interview) -> str:
    return "ask" if interview.asked < 3 else "report"


def report(interview: Interview) -> dict[str, Any]:
    with Path("archive.txt").open("a") as archive:
        archive.write(f"{interview.candidate}: {interview.score}, pause {interview.pause}\n")
    return {"level": "done", "last_answer": "", "pause": 0}


def build() -> Any:
    builder: Any = StateGraph(Interview)
    for node in (prepare, ask, rate, report):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", "ask")
    builder.add_edge("ask", "rate")
    builder.add_conditional_edges("rate", more, ["ask", "report"])
    return builder


def observe() -> list[str]:
    return Path("archive.txt").read_text().splitlines() if Path("archive.txt").exists() else []


INPUT = {"candidate": "Lee"}
ANSWERS = ["well, yes", "no", "well, maybe"]
OUTPUT = ("score", "answers")
TRUTH = {
    "candidate": "needed",
    "language": "not needed",
    "asked": "needed",
    "level": "needed",
    "papers": "needed",
    "answers": "needed",
    "last_answer": "needed",
    "locked": "not needed",
    "score": "needed",
    "pause": "not needed",
}
FIRST = {
    "candidate": "__start__",
    "asked": "ask",
    "level": "rate",
    "papers": "prepare",
    "answers": "rate",
    "last_answer": "ask",
    "score": "rate",
}
WHY = {
    "candidate": "the class has no default for it, and papers and report name it",
    "language": "ask reads it, but what it holds is the class's default",
    "asked": "without it a question is asked again, and the loop has a pass more",
    "level": "from the second pass on: it is hard then, and the default is easy",
    "papers": "each question is on one of them, and they are fetched before the loop",
    "answers": "the list goes on from what was there, and the caller reads it",
    "last_answer": "rate goes by it, one step after the answer has come",
    "locked": "only prepare reads it, and prepare does not run again once it is set",
    "score": "the sum goes on from what was there, and the caller reads it",
    "pause": "report reads it, but what it holds until then is the class's default",
}
