"""Findings about runs, the store as a whole, and what is paid for more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from keepset.audit.finding import AuditFinding
from keepset.audit.judging import Judged
from keepset.audit.survey import DAY, OLDER, Survey
from keepset.verdict.sentences import size

UNREADABLE: Final = "audit.unreadable"
ENCRYPTED: Final = "encrypted"
STALE: Final = 30
"""Days after which an unfinished run is told of."""

_OLD: Final = ("under a year", OLDER)
_KNOWN: Final = (
    *("builtins", "datetime", "decimal", "uuid", "pathlib", "collections", "enum", "ipaddress"),
    *("re", "zoneinfo", "langchain_core", "langgraph", "langchain"),
)
"""Packages whose types hosts store by themselves."""
_TELLING: Final = 0.05
_MUCH: Final = 0.2
_SMALL: Final = 100_000
_NAMED: Final = 3


def unreadable(found: Survey) -> Iterator[AuditFinding]:
    """Tell what could not be read, one finding for a reason."""
    counts, runs = Counter[str](), Counter[str]()
    for one in found.tally.fields.values():
        for why, count in one.unreadable.items():
            counts[why] += count
            runs[why] = max(runs[why], one.runs)
    for why, count in counts.items():
        if why == ENCRYPTED:
            yield AuditFinding(
                "advice",
                "audit.encrypted",
                f"{_values(count)} encrypted: nothing is said of them",
                "Audit a copy that is decrypted to see what is in them.",
                copies=count,
                runs=runs[why],
                total=f"unreadable.{why}",
            )
            continue
        yield AuditFinding(
            "error",
            UNREADABLE,
            f"{_values(count)} not to be read: {why}",
            "A resume of these runs fails or goes on without the value: look at them by hand.",
            copies=count,
            runs=runs[why],
            total=f"unreadable.{why}",
        )
    for code, count in found.tally.failed.items():
        yield AuditFinding(
            "error",
            UNREADABLE,
            f"runs that could not be read to their end [{code}]",
            "Check the store for damage, and audit it again.",
            copies=count,
            runs=count,
        )


def of_runs(found: Survey) -> Iterator[AuditFinding]:
    """Tell of runs that wait for long, and of old ones."""
    runs = found.tally.runs
    waits = (found.now - runs.oldest) / DAY if runs.oldest is not None else 0.0
    if runs.unfinished and waits >= STALE:
        yield AuditFinding(
            "warning",
            "audit.unfinished",
            f"{_runs(runs.unfinished)} unfinished; the oldest waits for {waits:,.0f} days",
            "Finish, drain or delete them before the code that they need is gone.",
            copies=runs.unfinished,
            runs=runs.unfinished,
            bytes=runs.unfinished_bytes,
            is_counted=True,
        )
    old = [runs.ages[age] for age in _OLD if age in runs.ages]
    if old:
        number, weight = sum(one for one, _ in old), sum(one for _, one in old)
        yield AuditFinding(
            "advice",
            "audit.old",
            f"{_runs(number)} 180 days old and more",
            "Decide how long data is kept, and delete what is older.",
            copies=number,
            runs=number,
            bytes=weight,
            is_counted=True,
        )


def of_the_store(found: Survey) -> Iterator[AuditFinding]:
    """Tell of rows that belong to nothing, deleted data in the file, and what a load imports."""
    for table, rows in found.orphans.items():
        if rows:
            yield AuditFinding(
                "warning",
                "audit.orphans",
                f"rows of {table} that belong to no checkpoint",
                "Nothing reads them: delete them.",
                copies=rows,
                is_counted=True,
            )
    if found.overview.free:
        yield AuditFinding(
            "warning",
            "audit.deleted-bytes",
            f"{size(found.overview.free)} of the file are pages of deleted data",
            "What was in them can still be read there: VACUUM the file.",
            copies=1,
            bytes=found.overview.free,
            is_counted=True,
        )
    types = Counter[str]() if found.is_ours else imported(found)
    foreign = {name: n for name, n in types.items() if name.partition(".")[0] not in _KNOWN}
    if foreign:
        named = ", ".join(sorted(foreign, key=lambda name: -foreign[name])[:_NAMED])
        more = f" and {len(foreign) - _NAMED} more" if len(foreign) > _NAMED else ""
        yield AuditFinding(
            "warning",
            "audit.imports",
            f"a load imports and calls {named}{more}",
            "State is tied to where code lies, and data decides what is called: register types.",
            copies=sum(foreign.values()),
            total="types",
        )


def imported(found: Survey) -> Counter[str]:
    """Count what a load of all values would import and call, by type."""
    types = Counter[str]()
    for one in found.tally.fields.values():
        types.update(one.types)
    return types


def costs(found: Survey, fields: Sequence[Judged]) -> Iterator[AuditFinding]:
    """Tell what is paid for without need: metadata of responses, what is written again."""
    total = sum(found.tally.value_bytes.values())
    inside = metadata(found)
    weight = sum(inside.values())
    if total and weight >= _TELLING * total:
        yield AuditFinding(
            "warning",
            "audit.response-metadata",
            f"{_about(found)}{weight / total:.0%} of all bytes are metadata of model responses "
            "inside messages",
            "Keep the content alone: Keep(without=…) names what is left out.",
            bytes=weight,
            weight="metadata",
        )
    yield from _rewritten(found, total, fields)
    yield from _repeated(found, total, fields)


def _rewritten(found: Survey, total: int, fields: Sequence[Judged]) -> Iterator[AuditFinding]:
    same = sum(one.tally.same_bytes for one in fields)
    if same < max(_SMALL, _MUCH * total):
        return
    worst = max(fields, key=lambda one: one.tally.same_bytes)
    yield AuditFinding(
        "warning",
        "audit.rewritten",
        f"{_about(found)}{same / total:.0%} of all bytes are rewritten unchanged, "
        f"most of them {worst.name}",
        "Store what changed in a step, not the whole state.",
        copies=sum(one.tally.same for one in fields),
        bytes=same,
        total="same.values",
        weight="same",
    )


def _repeated(found: Survey, total: int, fields: Sequence[Judged]) -> Iterator[AuditFinding]:
    again = sum(one.again for one in fields)
    if again < max(_SMALL, _TELLING * total):
        return
    worst = max(fields, key=lambda one: one.again)
    about = "" if found.tally.repeats.is_exact else "about "
    about = about if found.tally.is_whole else "at least "
    yield AuditFinding(
        "advice",
        "audit.repeated",
        f"{about}{again / total:.0%} of all bytes are values that an earlier run has as well, "
        f"most of them {worst.name}",
        "Store a reference where the same content serves many runs.",
        bytes=again,
    )


def _about(found: Survey) -> str:
    return "" if found.tally.is_whole else "about "


def metadata(found: Survey) -> Counter[str]:
    """Add up the bytes of response metadata, by the key that it stands under."""
    inside = Counter[str]()
    for one in found.tally.fields.values():
        inside.update(one.metadata)
    return inside


def _values(number: int) -> str:
    return "1 value is" if number == 1 else f"{number:,} values are"


def _runs(number: int) -> str:
    return "1 run is" if number == 1 else f"{number:,} runs are"
