"""Findings in few rows: no error is left out, and how many places one row stands for is said."""

from __future__ import annotations

from keepset.audit.finding import AuditFinding, Severity
from keepset.cli.audit.folding import rows


def finding(
    code: str, message: str, place: str = "", severity: Severity = "error", surface: str = "state"
) -> AuditFinding:
    return AuditFinding(severity, code, message, "", surface, place, place, 1, 1)


def secrets(number: int) -> list[AuditFinding]:
    return [
        finding(f"secret.{'name' if n % 2 else 'format'}", f"a secret (kind-{n % 5})", f"f{n}")
        for n in range(number)
    ]


def test_each_place_has_a_row_where_there_is_room() -> None:
    shown, left = rows(secrets(7), 7)
    assert (len(shown), left) == (7, [])
    assert len(rows(secrets(300))[0]) == 300


def test_a_thing_on_several_surfaces_of_a_place_is_one_row() -> None:
    found = [finding("secret.name", "a secret", "key", surface=one) for one in ("state", "write")]
    (row,), _ = rows(found)
    assert row.where == "state, pending writes: key"


def test_many_places_are_one_row_that_says_how_many() -> None:
    found = [finding("secret.format", "a secret (openai)", f"f{n}") for n in range(14)]
    (row,), left = rows(found, 7)
    assert row.where == "state: f0 and 13 more places"
    assert row.message == "a secret (openai)"
    assert left == []


def test_kinds_that_are_still_too_many_are_one_row_with_the_first_of_them() -> None:
    shown, left = rows([*secrets(100), finding("audit.unreadable", "1 value is damaged")], 3)
    assert [row.message for row in shown] == [
        "a secret (kind-0, kind-1, kind-2 and 2 more)", "1 value is damaged",
    ]  # fmt: skip
    assert left == []


def test_no_error_is_left_out_however_little_room_there_is() -> None:
    found = [
        *secrets(3),
        finding("repr.leftover", "the text of an object", "db"),
        finding("audit.unreadable", "broken: a"),
        finding("audit.unreadable", "broken: b"),
        finding("path.temporary", "a temporary path", "workdir", "warning"),
        finding("audit.old", "2 runs are old", severity="advice"),
    ]
    shown, left = rows(found, 1)
    assert [row.severity for row in shown] == ["error"] * 3
    assert shown[2].message == "broken: a, and 1 more of the kind"
    assert [row.severity for row in left] == ["warning", "advice"]
    assert sum(len(row.findings) for row in [*shown, *left]) == len(found)
