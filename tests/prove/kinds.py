"""One workflow with a state of each kind, as the text of a module of a user's."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from keepset.prove.lives import Experiment
from keepset.prove.ports import Script
from keepset.prove.proof import Proof
from keepset.prove.workflows import WorkflowTarget
from keepset.workflow import Workflow
from tests.cli.prove.flows import proven

TYPEDDICT = '''"""Answers tickets."""

from typing import TypedDict

from keepset import Workflow


class Ticket(TypedDict):
    """What a ticket is."""

    question: str  # what was asked
    words: "list[str]"
    cache: list[
        str  # one a word
    ]
    answer: str


def split(state: Ticket) -> dict[str, object]:
    words = state["question"].split()
    return {"words": words, "cache": [word.upper() for word in words]}


def reply(state: Ticket) -> dict[str, object]:
    return {"answer": " ".join(reversed(state["words"]))}
'''
_OTHERS = """

def split(state: Ticket) -> dict[str, object]:
    words = state.question.split()
    return {"words": words, "cache": [word.upper() for word in words]}


def reply(state: Ticket) -> dict[str, object]:
    if not state.words:
        raise LookupError
    return {"answer": " ".join(reversed(state.words))}
"""
_WORKFLOW = """

def build() -> Workflow:
    return Workflow(Ticket, steps=[split, reply])
"""
KINDS = {
    "typeddict": TYPEDDICT + _WORKFLOW,
    "dataclass": """from __future__ import annotations

from dataclasses import dataclass, field

import keepset as ks
from keepset import Workflow


@dataclass(frozen=True)
class Ticket:
    question: str
    words: list[str] = field(default_factory=list)
    cache: list[str] = field(
        default_factory=list,
    )  # a word each
    answer: str = ""
"""
    + _OTHERS
    + _WORKFLOW,
    "pydantic": """import keepset
from keepset import Workflow
from pydantic import BaseModel, Field


class Ticket(BaseModel):
    question: str
    words: list[str] = Field(default_factory=list, max_length=100)
    cache: list[str] = []
    answer: str = Field("", description="what is answered")
"""
    + _OTHERS
    + _WORKFLOW,
    "struct": """import typing

import msgspec
from keepset import Drop, Keep, Workflow


class Base(msgspec.Struct, kw_only=True):
    question: typing.Annotated[str, Keep(personal=True)]
    words: typing.Annotated[list[str], Drop()] = []


class Ticket(Base, kw_only=True):
    cache: typing.Optional[list[str]] = None; answer: str = ""
"""
    + _OTHERS
    + _WORKFLOW,
}


def module_of(folder: Path, name: str, source: str) -> Any:
    """Write a module, and import it."""
    file = folder / f"{name}.py"
    file.write_bytes(source.encode())
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def proof_of(module: Any, state: Any = None) -> Proof:
    """Prove the workflow of such a module, with another class for its state if one is given."""

    def build() -> Workflow:
        return Workflow(state or module.Ticket, steps=[module.split, module.reply])

    is_typed = hasattr(state or module.Ticket, "__required_keys__")
    given: Any = {"question": "one two"}
    begun = given if is_typed else (state or module.Ticket)(**given)
    return proven(Experiment(WorkflowTarget(build), Script((begun,))), ("answer",))
