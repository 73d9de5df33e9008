"""What the demo says about what happened, from what was counted and compared."""

from __future__ import annotations

from typing import Any

from keepset.cli.demo import steps


def killed(found: dict[str, Any]) -> str:
    """Say where the processes were killed, and what came between."""
    if found["killed_in"]:
        point = f"when the step `{found['killed_in']}` had done its work and was not saved yet"
    else:
        point = f"once the step `{found['killed_after']}` was saved"
        position = steps.NAMES.index(found["killed_after"]) + 1
        point += f", before `{steps.NAMES[position]}` began" if steps.NAMES[position:] else ""
    return (
        f"Each process was killed with SIGKILL {point};\n"
        "then the index got new documents, temporary files were lost, and a new process resumed."
    )


def proven(found: dict[str, Any]) -> str:
    """Say what ``proven`` stands on."""
    runs, points = found["proof"]["runs"], len(found["proof"]["points"])
    return (
        f"Proven by {runs} runs: a few without an end, all others killed with SIGKILL at one of"
        f" {points} checkpoints\nand resumed in another process, with all fields or without some,"
        " in the changed index."
    )


def charged(found: dict[str, Any]) -> str:
    """Explain charges that were made twice; empty where there are none."""
    twice = [way for way in ("naive", "contract") if found[way]["charges"] > 1]
    if not twice:
        return ""
    who = "Both runs" if len(twice) > 1 else f"The {twice[0]} run"
    return (
        f"{who} charged the customer more than once: the charge was in the ledger, and the kill"
        " came before a save could say so.\nNo way of saving closes this window. An idempotency"
        " key does: one that is the same for the run and the step,\nwhich the gateway is sent"
        " with each charge and answers from memory the second time."
    )


def retrieved(found: dict[str, Any]) -> str:
    """Say what became of the ids that the search had found."""
    others, kept = found["retrieval"]["others_if_searched_again"], found["retrieval"]["kept"]
    resumed = found["contract"]["resumed_with"]
    if "retrieve" in resumed:
        return "No search had been saved, so the resumed run searched again, in the changed index."
    first = f"Searching again after the restart gives {others} other documents of {kept}; "
    if not resumed:
        return f"{first}nothing was left to do, and the ids are the ones that were kept."
    return f"{first}with the ids kept, the run went on with the same ones."
