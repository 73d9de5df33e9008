"""What `--deep` finds beside our own detectors, that it counts nothing twice and asks nobody."""

from __future__ import annotations

import json
import os
import platform
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from keepset.audit.data import as_data
from keepset.audit.deep import DEEP, Deep
from keepset.audit.detectors import detectors
from keepset.audit.measured import Measured
from keepset.audit.report import Audit, audited, weighed
from keepset.audit.surveying import Around, survey
from keepset.cli.audit.contract import contract_text
from keepset.cli.audit.page import page
from keepset.errors import UsageError
from keepset.readers.ports import Foreign, Item
from tests.audit import naive
from tests.audit.test_survey import Rows, state

ONLY_DEEP = "CLOJARS_" + "4f7a1c9e2b6d8053" * 3 + "9a8b7c6d5e4f"
"""A planted token of a kind that our own detectors do not know; it opens nothing."""


@pytest.fixture(scope="module")
def deep() -> Deep:
    return Deep()


def audit(deep: Deep | None, *items: Item) -> Audit:
    eyes = () if deep is None else (deep,)
    return audited(survey(Rows(*items), "a store", detectors(), around=Around(eyes=eyes)))


def secrets(found: Audit) -> set[tuple[str, str, str, int]]:
    return {
        (one.code, one.surface, one.place, one.copies)
        for one in found.findings
        if one.code.startswith("secret.")
    }


def test_a_secret_that_only_these_rules_know_is_found_at_its_place(deep: Deep) -> None:
    notes = [{"text": f"deploy it with {ONLY_DEEP} please"}, {"text": "nothing"}]
    rows = [state("a", step, "notes", notes) for step in range(3)]
    assert secrets(audit(None, *rows)) == set()
    found = audit(deep, *rows)
    assert secrets(found) == {(DEEP, "state", "notes[*].text", 3)}
    [one] = [one for one in found.findings if one.code == DEEP]
    assert "clojars" in one.message
    assert one.severity == "error"
    assert ONLY_DEEP not in json.dumps(as_data(found))


def test_a_field_that_is_such_a_secret_does_not_belong(deep: Deep) -> None:
    [field] = audit(deep, state("a", 0, "registry", ONLY_DEEP)).fields
    assert (field.verdict.keep, field.verdict.reason) == (False, DEEP)


def test_whatever_has_a_name_that_is_such_a_secret_is_told_without_it(deep: Deep) -> None:
    value = {ONLY_DEEP: {"text": f"deploy with {ONLY_DEEP}"}, "order": Foreign(ONLY_DEEP, {})}
    found = audit(
        deep,
        state("a", 0, ONLY_DEEP, "a field"),
        state("a", 0, "keys", value),
        state("a", 0, "left", f"<{ONLY_DEEP} object at 0x7f00aa11bb22>"),
        state(ONLY_DEEP, 0, "plan", "a run"),
        replace(state("b", 0, "plan", "inside"), namespace=f"{ONLY_DEEP}:1"),
    )
    everything = "\n".join(
        [
            json.dumps(as_data(found)),
            page(found, ["audit"]),
            contract_text(found),
            repr(found.fields),
        ]
    )
    assert ONLY_DEEP not in everything
    assert {("state", "*"), ("state", "keys.*"), ("state", "keys.*.text"), ("id", "run")} <= {
        (surface, place) for _, surface, place, _ in secrets(found)
    }


def test_a_field_that_only_deep_knows_a_secret_in_is_written_nowhere(deep: Deep) -> None:
    noise = "".join(map(chr, random.Random(3).choices(range(97, 123), k=200_000)))  # noqa: S311 - text that does not pack
    rows = Rows(state("a", 0, "log", f"{noise} {ONLY_DEEP}"), state("a", 0, "plan", "go on"))

    def taken(eyes: tuple[Deep, ...]) -> Measured:
        around = Around(eyes=eyes)
        found = weighed(audited(survey(rows, "s", detectors(), around=around)), rows)
        assert found.measured is not None
        return found.measured

    without, with_it = taken((deep,)), taken(())
    assert without.ours < 1_000 < with_it.ours
    assert without.theirs == len(repr("go on")) < 1_000 < with_it.theirs


def test_what_our_own_detectors_know_is_counted_once(deep: Deep) -> None:
    known = {"github": naive.KEY, "chat": f"my key is {naive.KEY}, and {naive.METADATA_KEY}"}
    alone, both = (
        audit(None, state("a", 0, "config", known)),
        audit(deep, state("a", 0, "config", known)),
    )
    assert secrets(alone) == secrets(both) != set()


def test_beside_a_known_secret_in_a_text_another_one_is_found(deep: Deep) -> None:
    text = f"first {naive.KEY} and then {ONLY_DEEP} as well"
    kinds = {code for code, *_ in secrets(audit(deep, state("a", 0, "chat", text)))}
    assert kinds == {"secret.format", DEEP}


def test_a_secret_that_stands_in_a_text_twice_is_counted_twice(deep: Deep) -> None:
    text = f"{ONLY_DEEP} is the same as {ONLY_DEEP}"
    assert secrets(audit(deep, state("a", 0, "chat", text))) == {(DEEP, "state", "chat", 2)}


def test_a_rule_that_asks_for_a_name_sees_the_one_that_a_value_stands_under(deep: Deep) -> None:
    value = "k3d8s0q2x7v1b9n4m6c5z0l2j8h1g3f7"
    assert [one.detail for one in deep.see(value, ["adafruit_io"])] == [
        "betterleaks.adafruit-api-key"
    ]
    assert list(deep.see(value, ["note"])) == []


def test_ids_hashes_and_times_are_no_secrets_to_it(deep: Deep) -> None:
    benign = [
        *("d3b07384-d113-4ec6-a558-0b6f2c1d9e77", "2026-11-30T10:45:12.123456+00:00"),
        *("da39a3ee5e6b4b0d3255bfef95601890afd80709", "1732963512123", "3.12.7.final.0"),
        "call_9fJq2LxT0bVc8RkWmZ1sYhNd",
    ]
    assert secrets(audit(deep, state("a", 0, "ids", benign))) == set()


def test_without_its_package_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", None)
    with pytest.raises(UsageError) as caught:
        Deep()
    assert caught.value.code == "audit.no-deep"
    assert "pip install" in (caught.value.hint or "")


GUARDED = """
import ctypes, os, socket, struct, sys
from keepset.audit.deep import Deep
number = {"x86_64": 41, "aarch64": 198}[os.uname().machine]
# Load the number of the system call; if it is socket(2) end the process, else let it pass.
rules = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x80000000), (0x06, 0, 0, 0x7FFF0000)]
code = b"".join(struct.pack("HBBI", *rule) for rule in rules)
kept = ctypes.create_string_buffer(code, len(code))
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("rules", ctypes.c_void_p)]
given = Filter(len(rules), ctypes.cast(kept, ctypes.c_void_p))
system = ctypes.CDLL(None, use_errno=True)
assert system.prctl(38, 1, 0, 0, 0) == 0
assert system.prctl(22, 2, ctypes.byref(given), 0, 0) == 0
if sys.argv[1] == "control":
    socket.socket()
print(len(list(Deep().see("with " + sys.argv[2], ["note"]))))
"""


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in {"x86_64", "aarch64"},
    reason="the filter of system calls is Linux's, by numbers of these machines",
)
def test_no_socket_is_opened_and_no_file_is_written(tmp_path: Path) -> None:
    surroundings = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    surroundings.pop("XDG_CACHE_HOME", None)

    def guarded(how: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", GUARDED, how, ONLY_DEEP],
            env=surroundings,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    looked = guarded("look")
    assert (looked.returncode, looked.stdout.strip()) == (0, "1"), looked.stderr
    assert [one for one in tmp_path.rglob("*") if "coverage" not in one.name] == []
    # The control: a process that asks for a socket is ended there and then.
    assert guarded("control").returncode < 0
