"""A mapping under the name of a credential: its leaves are secrets where they look like one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from keepset.codec import Codec, TypeRegistry
from keepset.scan import Scanner

VALUE = "a1b2c3d4e5f6g7h8"


@dataclass
class Token:
    value: str
    expires: str


TYPES = TypeRegistry()
TYPES.register("token/1", Token)
PARTS = Codec(TYPES).parts


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"api_key": {"prod": VALUE}}, ("api_key", "prod")),
        ({"api_keys": {"alice": [VALUE]}}, ("api_keys", "alice", 0)),
        ({"password": {"v": "hunter2!"}}, ("password", "v")),
        ({"password": {"mail": "hunter2!"}}, ("password", "mail")),
        ({"token": {"value": VALUE, "count": 5}}, ("token", "value")),
        ({"secrets": {"github": {"main": VALUE}}}, ("secrets", "github", "main")),
        ({"secrets": [{"github": VALUE}]}, ("secrets", 0, "github")),
        ({"access_token": Token(VALUE, "2026-01-01")}, ("access_token", "value")),
        ({"authorization": {"us": VALUE.encode()}}, ("authorization", "us")),
        ({"connection_string": {"main": "Server=x;Password=hu9;"}}, ("connection_string", "main")),
    ],
)
def test_a_leaf_inherits_the_name_of_a_credential(
    scanner: Scanner, value: Any, path: tuple[str | int, ...]
) -> None:
    found = scanner.leaves(value, ("f",), name="f", parts=PARTS)
    assert [(finding.kind, finding.path) for finding in found] == [("secret.name", ("f", *path))]


@pytest.mark.parametrize(
    "value",
    [
        {"token": {"count": 5}},
        {"token": {"text": " Hello2world", "logprob": -0.25, "bytes": [32, 72]}},
        {"token": {"type": "access_v2", "issuer": "a1b2c3d4e5f6g7h8", "request_id": VALUE}},
        {"token": {"expires": "2026-01-01T10:00:00Z", "refreshed": "20260101T100000Z"}},
        {"token": {"node": "0b9d8c3e-1111-4c5d-9a62-7d3f6a1b2c3d"}},
        {"password": {"changed": "2026-01-01", "rules": "v2.1.0", "owner": "alice1234"}},
        {"password": {"min": "8chars", "reset": "bob42@example.org", "strength": "strong"}},
        {"credentials": {"region": "eu-west-1", "login": "https://a1b2c3d4.example.org/login"}},
        {"credentials": {"backend": "hashicorp-vault", "mode": "read-only", "team": "search"}},
        {"api_key": {"prod": "env:OPENAI_API_KEY", "dev": "${DEV_KEY}", "hint": VALUE}},
        {"secret": {"messages": [{"text": VALUE}], "metadata": {"trace": VALUE}}},
        {"tokenizer": {"revision": VALUE}, "max_tokens": {"gpt": VALUE}},
    ],
)
def test_what_is_only_about_a_credential_is_no_secret(scanner: Scanner, value: Any) -> None:
    assert scanner.leaves(value, ("f",), name="f", parts=PARTS) == []


def test_a_part_alone_is_judged_as_it_is_in_the_whole(scanner: Scanner) -> None:
    value = {"prod": [VALUE]}
    (whole,) = scanner.leaves(value, ("api_key",), name="api_key", parts=PARTS)
    parts = [(("api_key", "prod"), [VALUE]), (("api_key", "prod", 0), VALUE)]
    for path, part in parts:
        assert scanner.leaves(part, path, name="api_key", parts=PARTS) == [whole]
    assert not scanner.leaves(VALUE, ("api_key", "usage", "us"), name="api_key", parts=PARTS)
