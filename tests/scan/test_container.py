"""What only several parts of one container together give away, also where one part alone is new."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import pytest

from keepset.codec import Codec, TypeRegistry
from keepset.scan import Scanner

VALUE = "a1b2c3d4e5f6g7h8"


@dataclass
class Header:
    name: str
    value: str


TYPES = TypeRegistry()
TYPES.register("header/1", Header)
PARTS = Codec(TYPES).parts


@pytest.mark.parametrize(
    ("value", "element"),
    [
        ({"name": "x-api-key", "value": VALUE}, "value"),
        ({"key": "x-api-key", "value": VALUE}, "value"),
        (["x-api-key", VALUE], 1),
        (("x-api-key", VALUE), 1),
        (OrderedDict(name="x-api-key", value=VALUE), "value"),
        (Header("x-api-key", VALUE), "value"),
    ],
)
def test_a_secret_beside_its_name_is_found_in_the_container_alone_as_in_the_whole(
    scanner: Scanner, value: Any, element: str | int
) -> None:
    assert not scanner.leaves(VALUE, ("h", element), name="h", parts=PARTS)
    alone = scanner.container(value, ("h",), parts=PARTS)
    assert [(finding.kind, finding.path) for finding in alone] == [("secret.name", ("h", element))]
    assert 'Secret("env:' in alone[0].advice
    assert VALUE not in repr(alone)
    assert scanner.leaves(value, ("h",), name="h", parts=PARTS) == alone


def test_a_response_that_a_new_key_completes_is_found_in_the_container(scanner: Scanner) -> None:
    value = {"content": [{"text": "hi"}], "usage": {"input_tokens": 5}, "model": "m"}
    assert not scanner.leaves(value["usage"], ("r", "usage"), name="r", parts=PARTS)
    (finding,) = scanner.container(value, ("r",), parts=PARTS)
    assert (finding.kind, finding.path) == ("response.object", ("r",))
    assert "Extract(" in finding.advice


@pytest.mark.parametrize(
    "value", [[], ["x-api-key"], {}, {"value": VALUE}, {"name": "note", "value": VALUE}, "text", 7]
)
def test_what_says_nothing_together_is_not_reported(scanner: Scanner, value: object) -> None:
    assert not scanner.container(value, ("h",), parts=PARTS)


def test_only_the_container_itself_is_looked_at(scanner: Scanner) -> None:
    inner = {"name": "x-api-key", "value": VALUE}
    assert not scanner.container([inner, [inner]], ("h",), parts=PARTS)
    assert not scanner.container({"a": inner, "api_key": VALUE}, ("h",), parts=PARTS)
