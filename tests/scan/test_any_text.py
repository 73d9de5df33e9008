"""Whatever text is looked at, the detectors give an answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keepset.scan import KnownValues, Scanner, substitutes
from keepset.scan.finding import Finding

SCANNER = Scanner(KnownValues({"known": "a-known-value"}), ("/scratch", "C:\\Temp"))
BEGINNINGS = st.sampled_from(
    [
        *("", "file://", "file:///", "/", "\\", "C:", "C:\\", "http://", "postgres://u:", "sk-"),
        *("Bearer ", "Authorization: ", "-----BEGIN ", "eyJ", "ghp_", "AKIA", "${", "{{", "<", "="),
        *("password=", '{"api_key": "', "%", "%2", "\x00", "\ud800", "a-known-value", "://", "@"),
    ]
)
TEXTS = st.lists(BEGINNINGS | st.text(max_size=6), max_size=6).map("".join)


@given(st.dictionaries(TEXTS, TEXTS | st.lists(TEXTS, max_size=3), max_size=3) | TEXTS)
def test_no_text_makes_a_detector_fail(value: object) -> None:
    found = SCANNER.leaves(value, ("field",), name="field", parts=lambda _: None)
    secrets = [finding for finding in found if finding.kind.startswith("secret.")]

    def mark(finding: Finding) -> object:
        return finding.kind

    substitutes(secrets, value, ("field",), mark, lambda _: None)
    SCANNER.container(value, ("field",), parts=lambda _: None)
    SCANNER.text(repr(value))
    SCANNER.beside({"field": value})
