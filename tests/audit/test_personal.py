"""What `--pii` takes for personal data, and the many numbers that it leaves alone."""

from __future__ import annotations

import hashlib
import json
import random
import sys
import uuid
from collections.abc import Iterator
from pydoc_data.topics import topics

import pytest

from keepset.audit.data import as_data
from keepset.audit.detectors import detectors
from keepset.audit.personal import Personal
from keepset.audit.report import Audit, audited
from keepset.audit.surveying import Around, survey
from keepset.cli.audit.contract import contract_text
from keepset.errors import UsageError
from keepset.readers.ports import Item
from tests.audit.test_survey import Rows, state

PLANTED = [
    ("personal.email", "write to ada@example.org now"),
    ("personal.email", "o'neil.bob+x@mail.example.co.uk"),
    ("personal.phone", "call me at +44 20 7946 0958"),
    ("personal.phone", "phone: (212) 555-0199"),
    ("personal.phone", "212-555-0199"),
    ("personal.phone", "my mobile is 0171 3456789"),
    ("personal.card", "it is 4111 1111 1111 1111, and pay it"),
    ("personal.card", "5500-0000-0000-0004"),
    ("personal.card", "my amex 378282246310005"),
    ("personal.iban", "IBAN DE89370400440532013000"),
    ("personal.iban", "GB82 WEST 1234 5698 7654 32"),
    ("personal.ip", "seen from 93.184.216.34 today"),
    ("personal.ip", "2606:4700:4700::1111"),
    ("personal.ssn", "my ssn is 219-09-9998"),
    ("personal.ssn", "536-90-4399"),
    ("personal.passport", "my passport A12345678"),
    ("personal.wallet", "pay bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"),
    ("personal.wallet", "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"),
]

NAMED = [
    ("personal.phone", "homePhone", "01713456789"),
    ("personal.phone", "phone_number", "2125550199"),
    ("personal.ssn", "ssn", "536904399"),
    ("personal.passport", "passport", "123456789"),
    ("personal.card", "card_number", "4111111111111111"),
    ("personal.ip", "client_ip", "8.8.8.8"),
]

LEFT_ALONE = [
    *("version 119.99.6.200", "127.0.0.1", "10.0.0.0/8", "::1", "a::b", "git@github.com:a/b"),
    *("noreply@github.com", "logo@2x.png", "1732963512", "2026-11-30 10:45:12", "100 20 3000"),
    *("call_0123456789", "number of tokens 1234567890", "took 1732963512 ms", "commit 123456789"),
    *("0.8197530598844929", "4929123412341234", "build 20261130.12345", "4111 1111 1111 1112"),
]


@pytest.fixture(scope="module")
def personal() -> Personal:
    pytest.importorskip("presidio_analyzer", reason="--pii is asked for where it is installed")
    return Personal()


def kinds(personal: Personal, text: str, name: str = "note") -> set[str]:
    return {one.kind for one in personal.see(text, [name])}


def audit(personal: Personal, *items: Item) -> Audit:
    return audited(survey(Rows(*items), "a store", detectors(), around=Around(eyes=(personal,))))


@pytest.mark.parametrize(("kind", "text"), PLANTED)
def test_personal_data_is_found_in_a_text(personal: Personal, kind: str, text: str) -> None:
    assert kind in kinds(personal, text)


@pytest.mark.parametrize(("kind", "name", "text"), NAMED)
def test_a_bare_number_is_what_the_name_that_it_stands_under_says(
    personal: Personal, kind: str, name: str, text: str
) -> None:
    assert kinds(personal, text, name) == {kind}
    if kind != "personal.ip":
        assert kinds(personal, text) == set()


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_only_looks_like_it_is_left_alone(personal: Personal, text: str) -> None:
    assert kinds(personal, text) == set()


def benign() -> Iterator[str]:
    """Give texts as they stand in the state of agents, with no personal data in them."""
    chance = random.Random(5)  # noqa: S311 - the same texts each time
    yield from topics.values()
    for number in range(1_000):
        yield str(uuid.UUID(int=chance.getrandbits(128)))
        yield hashlib.sha256(str(number).encode()).hexdigest()
        yield str(chance.randint(1_600_000_000_000_000, 1_900_000_000_000_000))
        yield str(chance.randint(10**7, 10**18))
        yield f"{chance.randint(0, 20)}.{chance.randint(0, 31)}.{chance.randint(0, 9)}.1"
        yield f"used {chance.randint(1, 10**7)} tokens, {chance.random():.9f} of all"
        yield f"2026-11-30 10:{chance.randint(0, 59):02}:07,123 pid={chance.randint(1, 99999)}"
        yield json.dumps([chance.random() for _ in range(8)])


def test_there_is_nothing_in_documentation_ids_hashes_times_versions_and_counts(
    personal: Personal,
) -> None:
    wrong = [text[:40] for text in benign() if kinds(personal, text)]
    assert wrong == []


def test_it_is_counted_by_kind_and_place_and_no_value_is_told(personal: Personal) -> None:
    users = [{"mail": "ada@example.org", "note": "asks for bob@example.org and eve@example.org"}]
    found = audit(personal, *(state("a", step, "users", users) for step in range(3)))
    places = {(one.code, one.place): one.copies for one in found.findings if "personal" in one.code}
    assert places == {
        ("personal.email", "users[*].mail"): 3,
        ("personal.email", "users[*].note"): 6,
    }
    assert all(one.severity == "warning" for one in found.findings if "personal" in one.code)
    data = as_data(found)
    assert data["fields"][0]["personal"] == {"personal.email": 9}
    assert data["eyes"] == ["pii"]
    assert "example.org" not in json.dumps(data)


def test_an_address_that_is_a_key_is_found_and_a_star_in_its_place(personal: Personal) -> None:
    found = audit(personal, state("a", 0, "users", {"ada@example.org": {"seen": True}}))
    assert [one.place for one in found.findings if one.code == "personal.email"] == ["users.*"]


def test_an_address_as_the_id_of_a_run_is_told(personal: Personal) -> None:
    runs = ("ada@example.org", "bob@example.org", "ticket-3")
    found = audit(personal, *(state(run, 0, "plan", "go on") for run in runs))
    [one] = [one for one in found.findings if one.code == "personal.email"]
    assert (one.surface, one.place, one.copies, one.runs) == ("id", "run", 2, 2)
    assert "ids" in one.hint


def test_the_contract_declares_fields_with_personal_data_as_such(personal: Personal) -> None:
    rows = [state("a", 0, "mail", "ada@example.org"), state("a", 0, "plan", "go on")]
    written = contract_text(audit(personal, *rows))
    assert "mail: Annotated[str, ks.Keep(personal=True)]" in written
    assert "plan: Annotated[str, ks.Keep()]" in written


def test_what_is_in_a_text_does_not_depend_on_what_stands_far_from_it(personal: Personal) -> None:
    far = "all of this is said at length. " * 40
    for kind, text in PLANTED:
        assert kind in kinds(personal, f"{far}\n{text}\n{far}"), text


def test_each_of_many_in_one_text_is_counted_once(personal: Personal) -> None:
    text = " and ".join(f"ada{number}@example.org" for number in range(500))
    assert len(list(personal.see(text, ["note"]))) == 500


def test_without_its_package_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    with pytest.raises(UsageError) as caught:
        Personal()
    assert caught.value.code == "audit.no-pii"
