"""A proof as JUnit's XML, read as a CI reads it."""

from __future__ import annotations

from xml.etree.ElementTree import Element, fromstring

import pytest

from keepset.cli.prove.junit import junit
from tests.cli.prove import flows


def suite(name: str) -> Element:
    root = fromstring(junit(getattr(flows, name)()))  # noqa: S314 - we wrote it a moment ago
    [found] = root.findall("testsuite")
    return found


def results(name: str) -> dict[str, str]:
    """How each case ended."""
    return {
        case.attrib["name"]: next((child.tag for child in case), "passed")
        for case in suite(name).findall("testcase")
    }


def test_there_is_a_case_for_each_field_and_point() -> None:
    proof = flows.ticket()
    cases = suite("ticket").findall("testcase")
    assert len(cases) == len(proof.fields) * len(proof.points)
    assert {case.attrib["classname"] for case in cases} == {"Ticket"}
    assert "question after find" in results("ticket")


def test_a_case_fails_where_the_contract_is_wrong_and_only_there() -> None:
    found = results("ticket")
    assert found["news after find"] == "passed"
    assert found["news after read"] == "failure"
    assert found["charged after confirm"] == "failure"
    assert {name.split()[0] for name, how in found.items() if how == "failure"} == {
        "news",
        "charged",
    }


def test_a_failure_says_what_went_wrong_with_its_code() -> None:
    failure = suite("ticket").find("testcase[@name='charged after find']/failure")
    assert failure is not None
    assert "[prove.dropped-but-needed]" in failure.attrib["message"]
    assert "2 instead of 1" in (failure.text or "")


def test_what_is_inconclusive_is_skipped_and_says_why() -> None:
    assert set(results("unrepeatable").values()) == {"skipped"}
    assert results("half_measured")["weather after start"] == "skipped"
    skipped = suite("unrepeatable").find("testcase/skipped")
    assert skipped is not None
    assert "runs differ in word" in skipped.attrib["message"]


def test_a_field_that_breaks_a_resume_fails_at_the_point_where_it_does() -> None:
    assert results("stale")["token after login"] == "failure"


@pytest.mark.parametrize("name", ["ticket", "unrepeatable", "stale", "half_measured"])
def test_the_counts_are_those_of_the_cases(name: str) -> None:
    found, attributes = list(results(name).values()), suite(name).attrib
    assert attributes["tests"] == str(len(found))
    assert attributes["failures"] == str(found.count("failure"))
    assert attributes["skipped"] == str(found.count("skipped"))


def test_names_that_xml_cannot_hold_are_escaped() -> None:
    names = [case.attrib["name"] for case in suite("hostile").findall("testcase")]
    assert f"{flows.HOSTILE} after begin" in names
    assert "a\\x1b[31m\\nb after begin" in names
