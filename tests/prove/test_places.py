"""A place is named, and what may be data in it is not."""

from __future__ import annotations

import pytest

from keepset.prove.places import shown


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("charges",), "charges"),
        (("ledger", "ada", 0, "amount_cents"), "ledger.ada[0].amount_cents"),
        (("usage", "prompt_tokens"), "usage.prompt_tokens"),
        (("keys", "sk-proj-aB3dE5fG7hJ9kL1mN3pQ5"), "keys.*"),
        (("keys", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"), "keys.*"),
        (("people", "ada@example.org", "phone"), "people.*.phone"),
        (("by_id", "4f1a2b3c"), "by_id.*"),
    ],
)
def test_a_key_that_is_no_plain_name_is_a_star(path: tuple[str | int, ...], text: str) -> None:
    assert shown(path) == text


def test_below_what_was_observed_the_field_goes_without_saying() -> None:
    assert shown(("world", "charges"), "what observe gave") == "charges"
    assert shown(("world",), "what observe gave") == "what observe gave"
