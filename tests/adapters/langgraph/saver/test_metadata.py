"""What is said of a checkpoint goes through the detectors, and is read back whatever is said."""

from __future__ import annotations

import gc
import logging
import threading
import uuid
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph")

import keepset as ks
from keepset.errors import PolicyError
from keepset.langgraph import KeepsetSaver
from tests.adapters.langgraph.saver.steps import checkpoint, config, put
from tests.scan.credentials import KINDS, Maker

KEY = KINDS["openai-project"](Maker(11))


@pytest.fixture
def saver() -> Iterator[KeepsetSaver]:
    with KeepsetSaver("memory:") as opened:
        yield opened


def said(saver: KeepsetSaver, metadata: Any) -> Any:
    """Store a checkpoint of which something is said, and read that back."""
    at = saver.put(config("t"), checkpoint(0), metadata, {})
    found = saver.get_tuple(at)
    assert found is not None
    return found.metadata


@pytest.mark.parametrize("source", [KEY, "loop"])
def test_a_secret_in_the_source_of_a_checkpoint_is_in_no_row_and_no_log(
    source: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tmp_path.chmod(0o700)
    with (
        caplog.at_level(logging.WARNING, logger="keepset"),
        ks.open(f"sqlite:///{tmp_path}/runs.db", compression=False) as store,
    ):
        said(KeepsetSaver(store), {"source": source, "step": 0})
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert source not in caplog.text
    assert (source.encode() in stored) is (source == "loop")


def test_a_checkpoint_of_which_something_is_said_under_a_secret_name_is_read_back(
    saver: KeepsetSaver,
) -> None:
    read = said(saver, {"source": "loop", "step": 3, KEY: {"by": "a"}})
    assert KEY not in repr(read)
    assert read["source"] == "loop"
    assert read["step"] == 3
    assert {"by": "a"} in read.values()


@pytest.mark.parametrize("strange", [["r1"], {"r1": 1}, KEY, None])
def test_one_strange_id_of_an_execution_keeps_nobody_from_deleting_another(
    saver: KeepsetSaver, strange: object
) -> None:
    said(saver, {"source": "loop", "step": 0, "run_id": strange})
    other = saver.put(config("u"), checkpoint(0), {"source": "loop", "run_id": "r1"}, {})
    saver.delete_for_runs(["r1"])
    assert saver.get_tuple(other) is None
    assert len(list(saver.list(config("t")))) == 1


def test_an_execution_is_deleted_by_its_id_as_a_text_or_as_a_uuid(saver: KeepsetSaver) -> None:
    execution = uuid.uuid4()
    said(saver, {"source": "loop", "step": 0, "run_id": execution})
    saver.delete_for_runs([str(execution)])
    assert list(saver.list(config("t"))) == []


def test_a_state_that_was_refused_does_not_stay_in_memory(saver: KeepsetSaver) -> None:
    class Held(dict[str, Any]):
        pass

    held = Held(lock=threading.Lock())
    alive = weakref.ref(held)
    with pytest.raises(PolicyError) as caught:
        put(saver, config("t"), 0, held=held)
    del held, caught
    gc.collect()
    assert alive() is None
