"""The worked example: what it prints is what happened."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keepset.cli.demo import documents, index, sentences, steps
from keepset.cli.demo.gateway import BusyError, Gateway, charges
from tests.cli.terminal import Said, start

SEVEN = ["question", "doc_ids", "docs", "db", "api_key", "payment", "workdir"]
NO_NETWORK = """
import sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        raise ConnectionRefusedError(f"the demo reached out: {event}")

sys.addaudithook(refuse)
"""


def demo(place: Path, *arguments: str) -> Said:
    """Run the demo without a network, in folders that can be looked at afterwards."""
    for name in ("site", "home", "temp", "here"):
        (place / name).mkdir(exist_ok=True)
    (place / "site" / "sitecustomize.py").write_text(NO_NETWORK)
    surroundings = {
        "PYTHONPATH": os.pathsep.join((str(place / "site"), os.environ.get("PYTHONPATH", ""))),
        "HOME": str(place / "home"),
        "TMPDIR": str(place / "temp"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return start("demo", *arguments, folder=place / "here", environment=surroundings)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def said(place: Path) -> Said:
    return demo(place, "--json")


@pytest.fixture(scope="module")
def found(said: Said) -> Any:
    assert said.code == 0, said.err
    return said.result("demo")


def test_three_of_the_seven_fields_belong_in_the_order_of_the_design(found: Any) -> None:
    assert [field["field"] for field in found["fields"]] == SEVEN
    assert [f["field"] for f in found["fields"] if f["keep"]] == ["question", "doc_ids", "payment"]
    assert (found["kept"], found["of"]) == (3, 7)


def test_what_is_needed_was_proven_and_what_cannot_be_kept_was_detected(found: Any) -> None:
    by_name = {field["field"]: field for field in found["fields"]}
    assert {name: field["evidence"] for name, field in by_name.items()} == {
        "question": "proven",
        "doc_ids": "proven",
        "docs": "proven",
        "db": "detected",
        "api_key": "detected",
        "payment": "proven",
        "workdir": "detected",
    }
    assert found["proof"]["points"] == [
        "after retrieve",
        "after read",
        "after outline",
        "after charge",
    ]
    assert found["proof"]["runs"] > 4 * 7
    assert by_name["docs"]["reason"] == "content.beside-ids"
    assert by_name["db"]["reason"].startswith(("codec.", "handle"))
    assert by_name["api_key"]["reason"].startswith("secret.")
    assert by_name["workdir"]["reason"] == "path.temporary"
    assert by_name["docs"]["bytes_now"] > 100_000
    assert all(f["bytes_kept"] == 0 for f in found["fields"] if not f["keep"])


def test_both_processes_were_killed_after_the_charge_and_resumed_behind_it(found: Any) -> None:
    for way in ("naive", "contract"):
        assert found[way]["killed_by"] == "SIGKILL"
        assert found[way]["killed_in_process"] == ["retrieve", "read", "outline", "charge"]
        assert found[way]["resumed_with"] == ["deliver"]


def test_the_contract_run_charged_once_after_a_retry_and_delivered(found: Any, place: Path) -> None:
    contract = found["contract"]
    assert contract["finished"]
    assert (contract["charges"], contract["attempts"]) == (1, 2)
    folder = place / "here" / "keepset-demo"
    lines = (folder / "ledger.txt").read_text().splitlines()
    assert sum(line.startswith("contract ") for line in lines) == 1
    assert "with statement" in (folder / "contract.answer.txt").read_text()


def test_the_key_is_found_in_the_naive_store_and_not_in_ours(found: Any) -> None:
    assert found["naive"]["key_found"] > 0
    assert found["contract"]["key_found"] == 0


def test_the_naive_run_came_back_with_a_path_that_is_gone(found: Any) -> None:
    assert found["naive"]["workdir_is_stale"]
    assert found["naive"]["failure"] == "FileNotFoundError in deliver"
    assert not found["contract"]["workdir_is_stale"]


def test_searching_again_would_have_given_other_documents(found: Any) -> None:
    assert found["retrieval"]["kept"] == steps.WANTED
    assert found["retrieval"]["others_if_searched_again"] > 0


def test_the_contract_costs_a_small_part_of_the_bytes(found: Any) -> None:
    naive, contract = found["naive"], found["contract"]
    assert contract["bytes_per_step"] * 20 < naive["bytes_per_step"]
    for way in (naive, contract):
        assert way["bytes_in_all"] == way["bytes_per_step"] * found["steps"] * found["runs"]


def test_nothing_is_left_outside_the_folder(found: Any, place: Path) -> None:
    del found
    assert [path.name for path in (place / "here").iterdir()] == ["keepset-demo"]
    assert list((place / "home").iterdir()) == []
    assert list((place / "temp").iterdir()) == []


def test_what_to_type_next_works(found: Any, place: Path) -> None:
    assert len(found["next"]) > 2
    for line in found["next"]:
        done = subprocess.run(
            shlex.split(line), cwd=place / "here", capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("step", ["retrieve", "deliver"])
def test_the_run_resumes_wherever_it_was_killed_and_charges_once(tmp_path: Path, step: str) -> None:
    found = demo(tmp_path, "--json", "--no-prove", "--kill-after", step).result("demo")
    position = steps.NAMES.index(step) + 1
    assert found["contract"]["killed_in_process"] == list(steps.NAMES[:position])
    assert found["contract"]["resumed_with"] == list(steps.NAMES[position:])
    assert found["contract"]["charges"] == 1
    assert found["contract"]["finished"]


def test_people_see_the_table_the_comparison_and_what_to_type_next(tmp_path: Path) -> None:
    said = demo(tmp_path, "--clean")
    assert said.code == 0
    assert "3 of 7 belong" in said.out
    rows = re.findall(r"^(\w+) +(yes|no) ", said.out, re.MULTILINE)
    assert [name for name, _ in rows] == SEVEN
    assert "charges in the ledger" in said.out
    assert "x 5 steps x 1,000 runs" in said.out
    assert list((tmp_path / "here").iterdir()) == []


def test_a_folder_that_holds_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "here" / "mine").mkdir(parents=True)
    (tmp_path / "here" / "mine" / "thesis.txt").write_text("years of work")
    said = demo(tmp_path, "--json", "--folder", "mine", "--clean")
    assert (said.code, said.error()["code"]) == (2, "demo.folder")
    assert (tmp_path / "here" / "mine" / "thesis.txt").read_text() == "years of work"


def test_a_child_whose_parent_is_gone_ends_by_itself(tmp_path: Path) -> None:
    surroundings = {
        **os.environ,
        "KEEPSET_DEMO_FOLDER": str(tmp_path),
        "KEEPSET_DEMO_API_KEY": "a-key-for-nothing",
        "KEEPSET_DEMO_ORDER": "naive",
    }
    index.create(tmp_path / "index.db")
    done = subprocess.run(
        [sys.executable, "-m", "keepset.cli.demo.child", "naive", "after:retrieve"],
        env=surroundings,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    assert b"reached" in done.stdout


def test_there_are_more_than_forty_documents_of_several_kilobytes() -> None:
    library = documents.library()
    assert len([document for document in library if len(document["text"]) >= 4_000]) >= 40
    assert len({document["id"] for document in library}) == len(library)


def test_the_gateway_turns_the_first_call_away_and_writes_the_second(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path, "key")
    with pytest.raises(BusyError):
        gateway.charge("order", 5)
    assert charges(tmp_path, "order") == 0
    gateway.charge("order", 5)
    assert charges(tmp_path, "order") == 1


@pytest.mark.parametrize("folder", ["a folder", "$HOME;x"])
def test_what_to_type_next_works_in_a_folder_whose_name_a_shell_would_take_apart(
    tmp_path: Path, folder: str
) -> None:
    found = demo(tmp_path, "--json", "--no-prove", "--folder", folder).result("demo")
    for line in found["next"]:
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=tmp_path / "here",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_a_kill_between_a_charge_and_its_save_charges_twice_either_way_and_says_so(
    tmp_path: Path,
) -> None:
    found = demo(tmp_path, "--json", "--no-prove", "--kill-in", "charge").result("demo")
    assert (found["killed_after"], found["killed_in"]) == (None, "charge")
    for way in ("naive", "contract"):
        assert found[way]["killed_in_process"] == list(steps.NAMES[:4])
        assert found[way]["resumed_with"] == ["charge", "deliver"]
        assert found[way]["charges"] == 2
    lines = (tmp_path / "here" / "keepset-demo" / "ledger.txt").read_text().splitlines()
    assert sorted(line.split()[0] for line in lines) == ["contract", "contract", "naive", "naive"]
    assert "Both runs charged the customer more than once" in sentences.charged(found)
    assert "was not saved yet" in sentences.killed(found)


def test_a_process_is_killed_once() -> None:
    assert start("demo", "--kill-in", "charge", "--kill-after", "read").code == 2


def outcome(**changed: Any) -> dict[str, Any]:
    """What the sentences look at, of a run that was killed after the charge."""
    way = {"charges": 1, "resumed_with": ["deliver"]}
    return {
        "killed_after": "charge",
        "killed_in": None,
        "naive": way,
        "contract": way,
        "retrieval": {"kept": 40, "others_if_searched_again": 7},
        **changed,
    }


def test_the_sentences_say_only_what_happened() -> None:
    assert sentences.charged(outcome()) == ""
    assert "before `deliver` began" in sentences.killed(outcome())
    assert "the run went on with the same ones" in sentences.retrieved(outcome())
    over = outcome(killed_after="deliver", contract={"charges": 1, "resumed_with": []})
    assert "before" not in sentences.killed(over)
    assert "went on" not in sentences.retrieved(over)
    assert "nothing was left to do" in sentences.retrieved(over)
    early = outcome(
        killed_after=None,
        killed_in="retrieve",
        contract={"charges": 1, "resumed_with": list(steps.NAMES)},
    )
    assert "searched again" in sentences.retrieved(early)
    assert "the same ones" not in sentences.retrieved(early)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="a folder that nobody may write to")
def test_a_folder_that_cannot_be_made_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in ("/proc/x", str(tmp_path / "file" / "x")):
        said = start("demo", "--folder", folder, "--no-prove", "--json")
        assert (said.code, said.error()["code"]) == (2, "demo.folder")
