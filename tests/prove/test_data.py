"""A proof as JSON: all of it is there, and it fits the schema that is published."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from keepset.prove.data import as_data
from keepset.prove.findings import findings
from keepset.prove.proof import Proof
from tests.cli.prove import flows
from tests.cli.terminal import SCHEMAS

PROOFS = ["ticket", "sound", "unrepeatable", "half_measured", "locked", "stale", "hostile"]


def of(name: str) -> Proof:
    proof: Proof = getattr(flows, name)()
    return proof


def data(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(json.dumps(as_data(of(name)), allow_nan=False))
    return loaded


@pytest.mark.parametrize("name", PROOFS)
def test_a_proof_of_any_kind_fits_the_published_schema(name: str) -> None:
    schema = json.loads((SCHEMAS / "prove.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate({"schema": "keepset.prove/1", "result": data(name)}, schema)


@pytest.mark.parametrize("name", PROOFS)
def test_each_field_has_a_cell_for_each_point_where_something_was_measured(name: str) -> None:
    given = data(name)
    for field in given["fields"]:
        assert [cell["point"] for cell in field["cells"]] in ([], given["points"])
    assert sum(given["counts"].values()) == len(given["fields"])


def test_what_went_wrong_is_told_with_its_point_and_its_kind() -> None:
    fields = {field["name"]: field for field in data("ticket")["fields"]}
    assert fields["charged"]["verdict"] == "needed"
    assert fields["charged"]["first"] == "after find"
    assert fields["charged"]["cells"][0]["differences"][0]["kind"] == "effect"
    assert fields["news"]["verdict"] == "refetch differs"
    assert fields["db"]["verdict"] == "restored"
    assert fields["cache"]["judged"]["bytes_now"] == fields["cache"]["bytes"] > 0


def test_sets_are_in_the_order_of_declaration_however_they_were_found() -> None:
    given = data("ticket")
    names = [field["name"] for field in given["fields"]]
    [group] = next(field for field in given["fields"] if field["name"] == "second")["together"]
    assert group == ["first", "second"]
    assert given["sufficient"] == sorted(given["sufficient"], key=names.index)


def test_findings_are_counted_by_how_bad_they_are() -> None:
    given = data("ticket")
    assert given["errors"] == 2
    assert (
        given["errors"] + given["advice"] == len(given["findings"]) == len(findings(of("ticket")))
    )


def test_what_cannot_be_repeated_is_not_conclusive_and_says_what_differs() -> None:
    given = data("unrepeatable")
    assert not given["conclusive"]
    assert given["sufficient"] is None
    assert given["unlike"] == ["word"]


def test_no_value_of_the_state_is_in_it() -> None:
    assert "why?" not in json.dumps(data("ticket"))
    assert "xxxx" not in json.dumps(data("ticket"))
