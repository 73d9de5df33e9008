"""An agent that pays an invoice: a human approves, the process is killed, the payment is made once.

    pip install "keepset[langgraph]"
    python examples/langgraph_agent.py

Four processes work on one LangGraph thread, one after the other:

1. The agent calls its tools until it has to pay, and asks a human.
2. A new process gets the answer. It pays, and dies (kill -9) before the payment is in a checkpoint.
3. A new process goes on. The payment's key is in the checkpoint, so the bank does not pay again.
4. A last one looks at what is stored: the money went once, and no key of the bank is there.

The model is a fake one that says what a real one would say; everything else is real.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import uuid
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

import keepset as ks
from keepset.langgraph import KeepsetSaver

THREAD: Any = {"configurable": {"thread_id": "invoice-17"}}
# Before a node runs, the checkpoint that it begins with is stored. With LangGraph's default, async,
# money could move before the payment's key is stored, and a new process would not know the key.
SAFE: Any = {"durability": "sync"}
INVOICES = {"17": {"to": "ACME", "amount": 120}}


class Bank:
    """A bank beside the graph, which pays once for each key that it is given."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "bank.db"
        with closing(sqlite3.connect(self._path)) as db, db:
            db.execute("CREATE TABLE IF NOT EXISTS paid (key TEXT PRIMARY KEY, line TEXT)")

    def pay(self, key: str, to: str, amount: int, api_key: str) -> bool:
        """Pay, and tell whether that was new."""
        assert api_key == os.environ["BANK_KEY"]
        with closing(sqlite3.connect(self._path)) as db, db:
            row = (key, f"{amount} to {to}")
            return db.execute("INSERT OR IGNORE INTO paid VALUES (?, ?)", row).rowcount == 1

    def statement(self) -> list[str]:
        with closing(sqlite3.connect(self._path)) as db:
            return [line for (line,) in db.execute("SELECT line FROM paid")]


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], ks.Keep(), add_messages]
    payment: Annotated[dict[str, Any], ks.Keep()]  # what is to be paid, and under which key
    bank_key: Annotated[str, ks.Secret("env:BANK_KEY")]  # never stored; read again on resume
    bank: Annotated[Bank, ks.Reopen(lambda: Bank(folder()))]  # never stored; opened on resume


def folder() -> Path:
    return Path(os.environ["EXAMPLE_FOLDER"])


def call(name: str, **arguments: Any) -> AIMessage:
    """What a model says when it wants a tool."""
    said = {"name": name, "args": arguments, "id": f"call-{name}"}
    return AIMessage("", tool_calls=[said])


def model(state: State) -> State:
    """Ask the model what to do next."""
    asked = sum(isinstance(message, AIMessage) for message in state["messages"])
    script = [
        call("look_up", invoice="17"),
        call("pay", invoice="17"),
        AIMessage("Invoice 17 is paid."),
    ]
    chat = GenericFakeChatModel(messages=iter(script[asked:]))
    return {"messages": [chat.invoke(state["messages"])]}


def wanted(state: State) -> dict[str, Any]:
    message = state["messages"][-1]
    return (
        dict(message.tool_calls[0]) if isinstance(message, AIMessage) and message.tool_calls else {}
    )


def look_up(state: State) -> State:
    """A tool that reads."""
    invoice = INVOICES[wanted(state)["args"]["invoice"]]
    return {"messages": [ToolMessage(json.dumps(invoice), tool_call_id="call-look_up")]}


def approve(state: State) -> State:
    """Ask a human before money moves, and fix the payment's key before it does."""
    invoice = INVOICES[wanted(state)["args"]["invoice"]]
    if interrupt(f"Pay {invoice['amount']} to {invoice['to']}?") != "yes":
        return {"payment": {}}
    return {"payment": {**invoice, "key": uuid.uuid4().hex}}


def pay(state: State) -> State:
    """A tool that acts. It may run twice; the bank pays once, since the key is the same."""
    payment = state["payment"]
    if not payment:
        return {"messages": [ToolMessage("A human said no.", tool_call_id="call-pay")]}
    new = state["bank"].pay(payment["key"], payment["to"], payment["amount"], state["bank_key"])
    print(f"   the bank {'pays' if new else 'has paid this already'}")
    if "kill" in sys.argv:
        print("   kill -9", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    return {"messages": [ToolMessage("paid", tool_call_id="call-pay")]}


def agent() -> Any:
    builder: Any = StateGraph(State)
    for node in (model, look_up, approve, pay):
        builder.add_node(node.__name__, node)
    tools = {"look_up": "look_up", "pay": "approve"}
    builder.add_edge(START, "model")
    builder.add_conditional_edges(
        "model", lambda state: tools.get(wanted(state).get("name", ""), END), [*tools.values(), END]
    )
    builder.add_edge("look_up", "model")
    builder.add_edge("approve", "pay")
    builder.add_edge("pay", "model")
    return builder.compile()


def work(step: str) -> None:
    """Do what one of the processes does."""
    with KeepsetSaver(f"sqlite:///{folder()}/runs.db") as saver:
        graph = saver.bind(agent())  # the one line that a user changes
        if step == "begin":
            given = {"bank_key": os.environ["BANK_KEY"], "bank": Bank(folder())}
            question = [HumanMessage("Please pay invoice 17.")]
            out = graph.invoke({"messages": question, **given}, THREAD, **SAFE)
            print("   the human is asked:", out["__interrupt__"][0].value)
        elif step == "answer":
            graph.invoke(Command(resume="yes"), THREAD, **SAFE)
        elif step == "go on":
            print("   it stopped before:", *graph.get_state(THREAD).next)
            out = graph.invoke(None, THREAD, **SAFE)
            print("   the agent says:", out["messages"][-1].text)


def start(title: str, *arguments: str) -> None:
    print(title, flush=True)
    done = subprocess.run([sys.executable, __file__, *arguments], check=False)
    if done.returncode not in (0, -signal.SIGKILL):
        sys.exit(done.returncode)


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        secret = f"sk-live-{uuid.uuid4().hex}"
        os.environ.update(EXAMPLE_FOLDER=made, BANK_KEY=secret)
        start("1. An agent works until it has to pay.", "begin")
        start("2. A new process gets the human's answer.", "answer", "kill")
        start("3. Another one goes on where it stopped.", "go on")
        files = b"".join(path.read_bytes() for path in Path(made).glob("runs.db*"))
        print("4. What came of it:")
        print("   payments:", *Bank(Path(made)).statement())
        print("   the bank's key is in the store:", "yes" if secret.encode() in files else "no")


if __name__ == "__main__":
    work(sys.argv[1]) if len(sys.argv) > 1 else main()
