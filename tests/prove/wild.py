"""Workflows that other processes import, and that do what no test could do in its own process."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

import keepset as ks

SECRET = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4"


class State(TypedDict, total=False):
    word: str
    flag: bool
    pids: list[int]
    answer: str


MEMORY: list[str] = []
"""Gone with the process that it is of."""


def begin(state: State) -> dict[str, Any]:
    MEMORY.append("begun")
    return {"flag": True, "pids": [os.getpid()], "word": f"{state.get('word', '')}x"}


def note_process(state: State) -> dict[str, Any]:
    with Path("pids.txt").open("a", encoding="utf-8") as file:
        file.write(f"{os.getpid() == state['pids'][0]} {len(MEMORY)}\n")
    return {"answer": state["word"], "pids": []}


def processes() -> list[str]:
    path = Path("pids.txt")
    return path.read_text("utf-8").splitlines() if path.exists() else []


def two_lives() -> ks.Workflow:
    """Notes whether the process that resumes is the one that began, and what it remembers."""
    return ks.Workflow(State, steps=[begin, note_process])


def _is_left_out(state: State) -> bool:
    return "flag" not in state


def leave_at_once(state: State) -> None:
    if _is_left_out(state):
        os._exit(0)


def leave(state: State) -> None:
    if _is_left_out(state):
        sys.exit(3)


def interrupt(state: State) -> None:
    if _is_left_out(state):
        raise KeyboardInterrupt


def crash(state: State) -> None:
    if _is_left_out(state):
        ctypes.string_at(0)


def kill(state: State) -> None:
    if _is_left_out(state):
        os.kill(os.getpid(), signal.SIGKILL)


def hang(state: State) -> None:
    if _is_left_out(state):
        threading.Event().wait()


def hang_with_a_child(state: State) -> None:
    """Begin another process and hang, as a step does that waits for a server."""
    if _is_left_out(state):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        threading.Event().wait()


def fork(_: State) -> None:
    """Let another process do something and end, as old ways to a parallel step do."""
    child = os.fork()
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)


def reply(state: State) -> dict[str, Any]:
    return {"answer": state["word"]}


def _flow(step: Any) -> ks.Workflow:
    return ks.Workflow(State, steps=[begin, step, reply])


def leaving_at_once() -> ks.Workflow:
    return _flow(leave_at_once)


def leaving() -> ks.Workflow:
    return _flow(leave)


def interrupted() -> ks.Workflow:
    return _flow(interrupt)


def crashing() -> ks.Workflow:
    return _flow(crash)


def killed() -> ks.Workflow:
    return _flow(kill)


def forking() -> ks.Workflow:
    return _flow(fork)


def hanging() -> ks.Workflow:
    return _flow(hang)


def hanging_with_a_child() -> ks.Workflow:
    return _flow(hang_with_a_child)


def say_pid_and_hang(_: State) -> None:
    """Tell whoever tests it that a trial is under way, by a file, and never end."""
    path = Path(os.environ["KEEPSET_TEST_SAYS"])
    path.with_suffix(".new").write_text(f"{os.getppid()} {os.getpid()}", "utf-8")
    path.with_suffix(".new").rename(path)
    threading.Event().wait()


def endless() -> ks.Workflow:
    """Hangs in every trial, once it has said which processes it runs in."""
    return ks.Workflow(State, steps=[begin, say_pid_and_hang])


def print_and_reply(state: State) -> dict[str, Any]:
    print("PLANTED on stdout")  # noqa: T201 - it is what this one is for
    os.write(1, b"PLANTED on the descriptor\n")
    print("PLANTED on stderr", file=sys.stderr)  # noqa: T201 - the same
    return reply(state)


def printing() -> ks.Workflow:
    """Prints, in every way there is."""
    print("PLANTED while it is made")  # noqa: T201 - the same
    return _flow(print_and_reply)


def sound() -> ks.Workflow:
    """Nothing is wrong with its contract."""
    return ks.Workflow(Sound, steps=[count, answer])


class Sound(TypedDict, total=False):
    word: str
    size: Annotated[int, ks.Drop()]
    answer: str


def count(state: Sound) -> dict[str, Any]:
    return {"size": len(state["word"])}


def answer(state: Sound) -> dict[str, Any]:
    return {"answer": state["word"].upper()}


class Unsound(TypedDict, total=False):
    word: str
    charged: Annotated[bool, ks.Drop()]


def charge(_: Unsound) -> dict[str, Any]:
    return {"charged": True}


def confirm(state: Unsound) -> dict[str, Any]:
    return {"word": "paid" if state["charged"] else "open"}


def unsound() -> ks.Workflow:
    """Drops what it needs."""
    return ks.Workflow(Unsound, steps=[charge, confirm])


def roll(_: Sound) -> dict[str, Any]:
    words = ["sun", "rain", "snow", "hail", "fog", "storm", "calm", "wind"]
    return {"word": " ".join(words[byte % 8] for byte in Path("/dev/urandom").open("rb").read(24))}


def unrepeatable() -> ks.Workflow:
    """No two runs are alike, whatever is pinned."""
    return ks.Workflow(Sound, steps=[roll, answer])


def gather(_: Sound) -> dict[str, Any]:
    return {"word": " ".join({f"word {number}" for number in range(50)})}


def unordered() -> ks.Workflow:
    """What it makes is in the order of a set of texts, which is another one in each process."""
    return ks.Workflow(Sound, steps=[gather, answer])


INPUT = {"word": "PLANTED"}


class Large(TypedDict, total=False):
    word: str
    text: str
    numbers: list[int]
    answer: int


def read_much(_: Large) -> dict[str, Any]:
    return {"text": "a sentence that comes again. " * 180_000, "numbers": list(range(1_000))}


def measure(state: Large) -> dict[str, Any]:
    return {"answer": len(state["text"])}


def large() -> ks.Workflow:
    """A state of 5 MB."""
    return ks.Workflow(Large, steps=[read_much, measure])


class Keyed(TypedDict, total=False):
    word: str
    api_key: str
    chat: list[str]
    answer: str


def read_key(_: Keyed) -> dict[str, Any]:
    return {"api_key": SECRET, "chat": [f"my key is {SECRET}, help me"]}


def keep_files(_: Keyed) -> dict[str, Any]:
    """Copy all that the trial's folder holds to where the test looks, in the second process."""
    if saved := os.environ.get("KEEPSET_TEST_SAVES"):
        for path in Path.cwd().parent.rglob("*"):
            if path.is_file():
                target = Path(saved) / f"{os.getpid()}-{time.monotonic_ns()}-{path.name}"
                target.write_bytes(path.read_bytes())
    return {}


def use_key(state: Keyed) -> dict[str, Any]:
    return {"answer": f"{state['word']} {len(state['api_key'])}"}


def keyed() -> ks.Workflow:
    """Carries a secret that no rule is declared for, in a field and inside a text."""
    return ks.Workflow(Keyed, steps=[read_key, keep_files, use_key])


def broken() -> list[str]:
    """Fails, with a value in its message."""
    raise ValueError(SECRET)


class Reply(TypedDict, total=False):
    response: dict[str, Any]
    text: str


def complete(_: Reply) -> Reply:
    """Give a whole model response, which a store in strict mode refuses."""
    message = {"role": "assistant", "content": "yes"}
    choices = [{"index": 0, "finish_reason": "stop", "message": message}]
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    made = {"id": "chatcmpl-1", "object": "chat.completion", "model": "fake", "created": 1}
    return {"response": {**made, "choices": choices, "usage": usage}}


def take_out(state: Reply) -> Reply:
    return {"text": state["response"]["choices"][0]["message"]["content"]}


def completion() -> ks.Workflow:
    return ks.Workflow(Reply, steps=[complete, take_out])
