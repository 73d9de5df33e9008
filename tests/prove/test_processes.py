"""Trials in real processes: one is killed and another resumes, and nothing is left of any."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import keepset as ks
from keepset.errors import KeepsetError, StoreError, UsageError
from keepset.prove.proof import FieldProof, Proof, Proven
from keepset.testing import Options, prove
from keepset.testing.experiments import Recipe
from tests.prove import wild

WILD = "tests.prove.wild"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary folders of a proof lie; none may be left there."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def proof_of(name: str, **more: Any) -> Proof:
    """Prove one of the wild workflows for one field, in one process at a time."""
    options = {"jobs": 1, "pins": (), **more}
    return prove(f"{WILD}:{name}", {"word": "w"}, options=Options(**options))


def field_of(proof: Proof, name: str) -> FieldProof:
    return next(one for one in proof.fields if one.name == name)


def _is_there(pid: int) -> bool:
    """Whether a process lives; one that nobody has waited for does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def _until(holds: Any) -> None:
    """Wait for what another process does, and not for a time."""
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end, "it never happened"
        os.sched_yield()


@pytest.mark.parametrize("crash", [True, False])
def test_with_crash_another_process_resumes_that_remembers_nothing(
    crash: bool,  # noqa: FBT001 - a parameter
    temporary: Path,
) -> None:
    del temporary
    found = prove(
        f"{WILD}:two_lives",
        {"word": "w"},
        observe=f"{WILD}:processes",
        options=Options(jobs=1, pins=(), crash=crash, fields=("flag",)),
    )
    strayed = found.strayed or {}
    told = [one.what for one in strayed.get("after begin", ())]
    assert told == (["[0]: another effect"] if crash else [])


HOW = [
    ("leaving_at_once", "exit"),
    ("leaving", "SystemExit in leave"),
    ("interrupted", "exit"),
    ("crashing", "SIGSEGV"),
    ("killed", "SIGKILL"),
    ("hanging", "timeout"),
]


@pytest.mark.parametrize("crash", [False, True])
@pytest.mark.parametrize(("name", "kind"), HOW)
def test_a_process_that_ends_where_a_step_should_is_a_step_that_fails(
    name: str,
    kind: str,
    crash: bool,  # noqa: FBT001 - a parameter
    temporary: Path,
) -> None:
    del temporary
    limit = 1.5 if name == "hanging" else 60
    found = proof_of(name, fields=("flag",), points=("after begin",), crash=crash, timeout=limit)
    first = field_of(found, "flag").first
    assert first is not None
    assert [one.what for one in first.differences] == [kind]


@pytest.mark.parametrize("crash", [False, True])
def test_a_process_that_a_step_forks_does_not_answer_for_the_trial(
    crash: bool,  # noqa: FBT001 - a parameter
    temporary: Path,
) -> None:
    del temporary
    found = proof_of("forking", points=("after begin",), crash=crash)
    assert not found.failure
    assert field_of(found, "word").verdict is Proven.NEEDED


def test_a_trial_that_is_given_up_leaves_no_process_that_it_began(temporary: Path) -> None:
    del temporary
    before = _children_of_all(os.getpid())
    proof_of("hanging_with_a_child", fields=("flag",), points=("after begin",), timeout=1.5)
    _until(lambda: _children_of_all(os.getpid()) <= before and not _sleepers())


def _commands() -> dict[int, str]:
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found[int(path.parent.name)] = path.read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
    return found


def _sleepers() -> list[int]:
    return [pid for pid, line in _commands().items() if "time.sleep(600)" in line]


def _children_of_all(pid: int) -> set[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return {int(one) for one in path.read_text().split()} if path.exists() else set()


@pytest.fixture
def says(tmp_path: Path) -> Path:
    """Where the endless workflow says in which processes it runs."""
    return tmp_path / "says.txt"


def _begin(says: Path, temporary: Path, *options: str) -> subprocess.Popen[str]:
    """Begin a proof that never ends, as a person does, and wait until a trial is under way."""
    environment = {**os.environ, "KEEPSET_TEST_SAYS": str(says), "TMPDIR": str(temporary)}
    command = [sys.executable, "-m", "keepset.cli", "prove", f"{WILD}:endless", "--jobs", "1"]
    process = subprocess.Popen(
        [*command, "--input", "{}", *options],
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    _until(says.exists)
    return process


def test_an_interrupt_ends_everything_at_once_and_leaves_nothing(
    says: Path, temporary: Path
) -> None:
    process = _begin(says, temporary)
    worker, trial = map(int, says.read_text().split())
    os.killpg(process.pid, signal.SIGINT)  # as the terminal sends it, to all in front
    out, told = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert told.strip() == "interrupted"
    assert not _is_there(worker)
    assert not _is_there(trial)


def test_a_proof_that_is_killed_leaves_no_process_and_no_folder(
    says: Path, temporary: Path
) -> None:
    process = _begin(says, temporary)
    worker, trial = map(int, says.read_text().split())
    process.kill()
    process.communicate()
    _until(lambda: not (_is_there(worker) or _is_there(trial)))
    _until(lambda: not list(temporary.iterdir()))


def test_a_worker_that_is_killed_is_told_and_leaves_no_trial(says: Path, temporary: Path) -> None:
    process = _begin(says, temporary, "--json")
    worker, trial = map(int, says.read_text().split())
    os.kill(worker, signal.SIGKILL)
    out, told = process.communicate(timeout=30)
    assert (process.returncode, out) == (StoreError.exit_code, "")
    assert '"code": "prove.worker"' in told
    _until(lambda: not _is_there(trial))


@pytest.mark.parametrize("crash", [False, True])
@pytest.mark.parametrize("what", ["world", "between", "observe"])
def test_a_world_that_fails_in_another_process_is_named_and_gives_no_verdict(
    what: str,
    crash: bool,  # noqa: FBT001 - a parameter
    temporary: Path,
) -> None:
    del temporary
    options = Options(jobs=1, pins=(), crash=crash)
    with pytest.raises(UsageError) as caught:
        prove(f"{WILD}:sound", {"word": "w"}, options=options, **{what: f"{WILD}:broken"})
    assert caught.value.code == "prove.world"
    assert f"broken ({what}) raised ValueError" in caught.value.message
    assert wild.SECRET not in str(caught.value)


def test_a_target_that_cannot_be_imported_is_a_usage_error(temporary: Path) -> None:
    del temporary
    with pytest.raises(UsageError) as caught:
        prove("tests.prove.nowhere:build", {})
    assert caught.value.code == "reference.import"


def test_an_input_that_no_other_process_can_read_is_proven_here() -> None:
    class Local:
        pass

    with pytest.raises(UsageError) as caught:
        prove(wild.sound, {"word": Local()}, options=Options(crash=True))
    assert caught.value.code == "prove.crash"
    found = prove(wild.sound, {"word": "w", "answer": Local()}, options=Options(pins=()))
    assert found.points == ("after count",)


def test_what_other_processes_cannot_be_handed_is_refused_by_name() -> None:
    from keepset.prove.processes import workers  # noqa: PLC0415 - the part below `prove`

    recipe = Recipe(f"{WILD}:sound", ({"word": lambda: None},))
    with pytest.raises(KeepsetError) as caught, workers(recipe.make, jobs=1):
        pass
    assert caught.value.code == "prove.elsewhere"


def test_a_state_of_five_megabytes_is_proven(temporary: Path) -> None:
    del temporary
    found = proof_of("large", crash=True)
    assert {one.name: str(one.verdict) for one in found.fields} == {
        "word": "not needed",
        "text": "needed",
        "numbers": "not needed",
        "answer": "not needed",
    }
    assert field_of(found, "text").size > 5_000_000


def test_the_input_may_be_named_and_is_then_imported_by_each_process(temporary: Path) -> None:
    del temporary
    found = prove(f"{WILD}:sound", f"{WILD}:INPUT", options=Options(jobs=2, pins=()))
    assert field_of(found, "word").verdict == "needed"
    assert "PLANTED" not in str(found)


@pytest.mark.parametrize("crash", [False, True])
def test_what_is_made_of_a_set_is_the_same_in_every_process(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, *, crash: bool
) -> None:
    del temporary
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    found = proof_of("unordered", jobs=4, crash=crash)
    assert (found.is_conclusive, found.unlike, found.volatile) == (True, (), ())
    assert field_of(found, "word").verdict == "needed"


def test_no_file_of_a_trial_holds_a_secret_and_the_verdict_says_what_to_declare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    del temporary
    saved = tmp_path / "saved"
    saved.mkdir()
    monkeypatch.setenv("KEEPSET_TEST_SAVES", str(saved))
    found = proof_of("keyed", crash=True)
    stores = [path for path in saved.iterdir() if ".db" in path.name]
    assert stores
    assert not [path.name for path in stores if wild.SECRET.encode() in path.read_bytes()]
    key = field_of(found, "api_key")
    assert (key.verdict, key.stuck) == ("needed", "secret.withheld")
    assert wild.SECRET not in str(found)


def test_the_files_of_a_trial_hold_a_secret_that_is_stored_on_purpose(tmp_path: Path) -> None:
    """The control of the claim above: what is looked for there would be found."""
    path = tmp_path / "runs.db"
    with ks.open(f"sqlite:///{path}", mode="observe") as store:
        store.run(wild.Keyed, "run").save("begin", {"api_key": wild.SECRET})
    files = list(tmp_path.iterdir())
    assert any(wild.SECRET.encode() in file.read_bytes() for file in files)


def test_in_one_process_a_secret_is_in_memory_and_its_field_is_measured() -> None:
    found = proof_of("keyed")
    key = field_of(found, "api_key")
    assert (key.verdict, key.stuck) == ("needed", "")
    assert key.first is not None
    assert key.first.differences[0].what == "KeyError in use_key"
