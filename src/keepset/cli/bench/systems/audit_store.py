"""`keepset audit` of a file that LangGraph's saver has written: a fleet of agents, whole.

Each thread is an agent of forty steps with documents, a conversation that grows, a draft that is
written anew, and what its tasks wrote. The saver writes all of it again in each step, so that a
thread is the same from step to step but for what the step changed; no two threads have a text in
common. The file is filled by calls of the saver itself, without waiting for the disk.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.sqlite import SqliteSaver

from keepset.cli.bench.workload import Chain

STEPS = 40
DOCUMENTS = 12
DOCUMENT = 2_000
ANSWER = 1_200
FOUND = 3_000
DRAFT = 1_500
QUESTION = 200
CHARGED = 20
"""The step after which the customer has paid."""

_KILOBYTE = 1024
_FINDINGS = (0, 40)
"""Exit codes of an audit that read everything."""


def fill(job: Mapping[str, Any]) -> dict[str, Any]:
    """Fill a new file until it holds so many bytes of checkpoints."""
    chain, bytes_, threads = Chain(), 0, 0
    begun = perf_counter_ns()
    with SqliteSaver.from_conn_string(job["path"]) as saver:
        saver.setup()
        saver.conn.execute("pragma synchronous = off")
        while bytes_ < job["bytes"]:
            name = f"agent-{threads:06}"
            _run(saver, name, _Agent(chain, threads))
            statement = "select sum(length(checkpoint)) from checkpoints where thread_id = ?"
            ((size,),) = saver.conn.execute(statement, (name,)).fetchall()
            bytes_ += int(size)
            threads += 1
        saver.conn.commit()
    return {"threads": threads, "took": perf_counter_ns() - begun}


class _Agent:
    """One thread's state, step after step."""

    def __init__(self, chain: Chain, number: int) -> None:
        self._chain = chain
        self._number = number
        self._messages: list[AnyMessage] = []
        self._state: dict[str, Any] = {"question": chain.text(QUESTION)}

    def step(self, step: int) -> tuple[dict[str, Any], AnyMessage]:
        """Do a step; give the state after it, and the message that its task wrote."""
        if step == 2:  # noqa: PLR2004 - it has asked and called by then
            ids = [self._id(f"doc-{number}") for number in range(DOCUMENTS)]
            texts = [{"id": one, "text": self._chain.text(DOCUMENT)} for one in ids]
            self._state |= {"doc_ids": ids, "docs": texts}
        message = self._message(step)
        self._messages.append(message)
        self._state |= {
            "messages": list(self._messages),
            "draft": self._chain.text(DRAFT),
            "payment": {"attempts": step // 10, "charged": step > CHARGED},
        }
        return dict(self._state), message

    def _message(self, step: int) -> AnyMessage:
        name = self._id(f"message-{step}")
        usage = {"completion_tokens": 17 * step + self._number, "prompt_tokens": 901 * step}
        about = {"model_name": "model", "finish_reason": "stop", "token_usage": usage}
        kind = step % 4
        if kind == 0:
            return HumanMessage(self._chain.text(QUESTION), id=name)
        if kind == 2:  # noqa: PLR2004 - the answer of the tool that was called in the step before
            called = self._id(f"message-{step - 1}")
            return ToolMessage(self._chain.text(FOUND), tool_call_id=called, id=name)
        if kind == 1:
            call = {"name": "search", "args": {"query": self._chain.text(60)}, "id": name}
            return AIMessage("", id=name, tool_calls=[call], response_metadata=about)
        return AIMessage(self._chain.text(ANSWER), id=name, response_metadata=about)

    def _id(self, what: str) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self._number}/{what}"))


def _run(saver: SqliteSaver, name: str, agent: _Agent) -> None:
    config: Any = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
    for step in range(STEPS):
        state, message = agent.step(step)
        checkpoint = empty_checkpoint()
        checkpoint["id"] = str(uuid6(clock_seq=step))
        checkpoint["channel_values"] = state
        checkpoint["channel_versions"] = dict.fromkeys(state, f"{step:032}.0")
        metadata: Any = {"source": "loop", "step": step, "parents": {}}
        config = saver.put(config, checkpoint, metadata, checkpoint["channel_versions"])
        writes = [("messages", [message]), ("draft", state["draft"])]
        saver.put_writes(config, writes, str(uuid.uuid5(uuid.NAMESPACE_OID, f"{name}/{step}")))


def audit(job: Mapping[str, Any]) -> dict[str, Any]:
    """Read a file whole with the command line, in a process of its own.

    Ask a process for it that has done nothing else: a system may count a program's memory from
    before it was started.
    """
    path = Path(job["path"])
    words = ["-m", "keepset.cli", "audit", str(path), "--all-below", "1TB", "--no-measure"]
    begun = perf_counter_ns()
    with subprocess.Popen([sys.executable, *words, "--json"], stdout=subprocess.PIPE) as process:  # noqa: S603 - our own words
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    took = perf_counter_ns() - begun
    if process.returncode not in _FINDINGS:
        raise RuntimeError(f"the audit ended with {process.returncode}")
    result = json.loads(said)["result"]
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else _KILOBYTE)
    return {
        "took": took,
        "bytes": path.stat().st_size,
        "peak_bytes": peak,
        "runs": result["read"]["runs"],
        "values": result["read"]["values"],
        "complete": result["complete"],
    }
