"""What the demo found out, as data and as text. Every figure is measured on what was left."""

from __future__ import annotations

import shlex
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keepset as ks
from keepset.cli import output, program
from keepset.cli.demo import child, experiment, index, naive, sentences, state, steps
from keepset.prove.judged import proven
from keepset.verdict.field import FieldVerdict
from keepset.verdict.sentences import size
from keepset.verdict.table import field_data

if TYPE_CHECKING:
    from collections.abc import Iterable

    from keepset.cli.demo.harness import Story
    from keepset.prove.proof import Proof


_NAME = experiment.__name__
_PROVE = (
    *("prove", f"{_NAME}:build", "--input", f"{_NAME}:INPUT", "--world", f"{_NAME}:world"),
    *("--between", f"{_NAME}:between", "--observe", f"{_NAME}:observe"),
)


def result(
    folder: Path, stories: dict[str, Story], proof: Proof | None, point: str, *, keep: bool
) -> dict[str, Any]:
    """Put together the result of the demo.

    Args:
        folder: Where everything lies.
        stories: The two runs, by way of saving.
        proof: What was measured of the workflow's fields; None where nothing was.
        point: Where each was killed; see `keepset.cli.demo.child`.
        keep: Whether the folder stays, so that there is something to type next.
    """
    contract = stories["contract"]
    verdicts = contract.resumed.events["verdicts"]
    store = folder / child.CONTRACT_FILE
    when, _, step = point.partition(":")
    return {
        "fields": _fields(verdicts["fields"], proof),
        "kept": verdicts["kept"],
        "of": verdicts["of"],
        "naive": _naive(folder, stories["naive"]),
        "contract": _contract(store, contract),
        "killed_after": step if when == "after" else None,
        "killed_in": step if when == "in" else None,
        "retrieval": _retrieval(folder, store),
        "proof": proof and {"points": list(proof.points), "runs": proof.resumes},
        "steps": verdicts["steps"],
        "runs": verdicts["runs"],
        "folder": str(folder),
        "next": _next(store) if keep else [],
    }


def _fields(fields: list[dict[str, Any]], proof: Proof | None) -> list[dict[str, object]]:
    judged = tuple(FieldVerdict(**{**field, "also": tuple(field["also"])}) for field in fields)
    return [field_data(one) for one in (judged if proof is None else proven(judged, proof))]


def _naive(folder: Path, story: Story) -> dict[str, Any]:
    path = folder / child.NAIVE_FILE
    sizes = naive.NaiveSaver(path).sizes()
    return _outcome(story, path, checkpoints=len(sizes), stored=sum(sizes), read_back=())


def _contract(path: Path, story: Story) -> dict[str, Any]:
    with ks.open(f"sqlite:///{path}", role="viewer") as store:
        sizes = store.stats()
        run = store.inspect(child.RUN_ID)
        values = [run.at(checkpoint.id).values for checkpoint in run.history()]
    return _outcome(
        story,
        path,
        checkpoints=sizes.checkpoints,
        stored=sum(count for _, count in sizes.bytes_by_field),
        read_back=(repr(value) for value in values),
    )


def _outcome(
    story: Story, path: Path, *, checkpoints: int, stored: int, read_back: Iterable[str]
) -> dict[str, Any]:
    """Look at what one run left behind."""
    failed = story.resumed.events.get("failed")
    per_step = round(stored / max(1, checkpoints))
    files = sorted(path.parent.glob(f"{path.name}*"))
    key = story.key.encode()
    in_files = sum(file.read_bytes().count(key) for file in files)
    return {
        "store": str(path),
        "killed_by": signal.Signals(-story.killed.code).name,
        "killed_in_process": story.killed.steps,
        "resumed_with": story.resumed.steps,
        "finished": failed is None,
        "failure": f"{failed['error']} in {failed['step']}" if failed else None,
        "charges": story.charges,
        "attempts": story.last["payment"]["attempts"],
        "key_found": in_files + sum(text.count(story.key) for text in read_back),
        "workdir_is_stale": story.workdir == story.old_workdir and not Path(story.workdir).exists(),
        "checkpoints": checkpoints,
        "file_bytes": sum(file.stat().st_size for file in files),
        "bytes_per_step": per_step,
        "bytes_in_all": per_step * len(steps.STEPS) * child.EXAMPLE_RUNS,
    }


def _retrieval(folder: Path, store: Path) -> dict[str, int]:
    """Search again in the index as it is now, and compare with the ids that were kept."""
    with ks.open(f"sqlite:///{store}", role="viewer") as opened:
        run = opened.inspect(child.RUN_ID)
        kept = set(run.at(run.history(1)[0].id).values["doc_ids"])
    with closing(sqlite3.connect(folder / "index.db")) as db:
        again = set(index.search(db, state.QUESTION, steps.WANTED))
    return {"kept": len(kept), "others_if_searched_again": len(again - kept)}


def _next(store: Path) -> list[str]:
    named = ("--store", f"sqlite:///{program.nearest(store)}")
    return [
        shlex.join((*program.words(), *words))
        for words in (
            ("runs", *named),
            ("show", child.RUN_ID, *named),
            ("stats", *named),
            ("check", "keepset.cli.demo.state:Research"),
            _PROVE,
        )
    ]


def show(found: dict[str, Any]) -> None:
    """Print a result for a person."""
    output.text(f"{sentences.killed(found)}\n")
    output.table(
        ("candidate", "keep", "why", "evidence"),
        [
            (f["field"], "yes" if f["keep"] else "no", f["why"], f["evidence"])
            for f in found["fields"]
        ],
    )
    output.text(f"\n{found['kept']} of {found['of']} belong")
    output.text(f"{sentences.proven(found)}\n" if found["proof"] else "")
    output.table(("what happened", "naive", "contract"), _comparison(found))
    output.text(f"\n{sentences.retrieved(found)}")
    if explained := sentences.charged(found):
        output.text(f"{explained}\n")
    if not found["next"]:
        output.text(f"The folder {found['folder']} is removed.")
        return
    output.text(f"The store is {found['contract']['store']}. Type next:")
    for line in found["next"]:
        output.text(f"  {line}")


def _comparison(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    both = (found["naive"], found["contract"])
    product = f"x {found['steps']} steps x {found['runs']:,} runs"
    lines = {
        "resumed with": [", ".join(way["resumed_with"]) or "nothing left to do" for way in both],
        "and then": ["finished" if way["finished"] else way["failure"] for way in both],
        "charges in the ledger": [str(way["charges"]) for way in both],
        "attempts in the state": [str(way["attempts"]) for way in both],
        "API key in the store": [
            f"found {way['key_found']} times" if way["key_found"] else "not found" for way in both
        ],
        "temporary folder": [
            "the old path, which is gone" if way["workdir_is_stale"] else "a new one"
            for way in both
        ],
        "bytes per step": [size(way["bytes_per_step"]) for way in both],
        product: [size(way["bytes_in_all"]) for way in both],
    }
    return [(title, first, second) for title, (first, second) in lines.items()]
