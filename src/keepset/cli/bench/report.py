"""From figures to the document and the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from keepset.cli import output
from keepset.cli.bench.bars import Bar
from keepset.cli.bench.results import Figures, Life
from keepset.cli.bench.system import SYSTEMS

_LIVES = (
    "system",
    "rounds",
    "file KB",
    "x floor",
    "to disk KB",
    "x raw",
    "save us",
    "x raw ",
    "p99 us",
    "at the end us",
    "open ms",
    "load ms",
    "earlier ms",
)
_WALKS = (
    "a LangGraph graph",
    "steps",
    "rounds",
    "file KB",
    "step us",
    "at the end us",
    "saver alone us",
    "resume ms",
    "history ms",
)
_MICRO = 1_000
_MILLI = 1_000_000
_KB = 1024
DASH = "-"


def document(
    figures: Figures, bars: list[Bar], skipped: Mapping[str, str], about: Mapping[str, Any]
) -> dict[str, Any]:
    """Give the result as its JSON document has it: nanoseconds and bytes.

    Args:
        figures: What was measured.
        bars: What it is held to.
        skipped: System -> why it is left out.
        about: The level, the machine and how long it took.
    """
    return {
        **about,
        "systems": [
            {
                "name": name,
                "title": entry.title,
                "version": entry.version(),
                "skipped": skipped.get(name),
            }
            for name, entry in SYSTEMS.items()
        ],
        "floors": [asdict(floor) for floor in figures.floors],
        "lives": [asdict(life) for life in figures.lives],
        "crowds": [asdict(throng) for throng in figures.throngs],
        "openings": [asdict(opened) for opened in figures.openings],
        "graphs": [asdict(walk) for walk in figures.walks],
        "documents": [asdict(fetched) for fetched in figures.documents],
        "fleets": [asdict(fleet) for fleet in figures.fleets],
        "audits": [asdict(audited) for audited in figures.audits],
        "bars": [{**asdict(bar), "met": bar.met} for bar in bars],
    }


def show(figures: Figures, bars: list[Bar]) -> None:
    """Print the tables."""
    for floor in figures.floors:
        lives = [x for x in figures.lives if _is_over(x, floor.workload, floor.steps)]
        packed = f"{_kb(floor.changed_bytes)} KB changed, {_kb(floor.floor_bytes)} KB as xz -9e"
        output.text(f"{floor.workload}, {floor.steps} steps: {packed}")
        rows = [_row(life, figures, floor.floor_bytes) for life in lives]
        output.table(_LIVES, rows, right=" ".join(_LIVES[1:]))
        output.text()
    if figures.walks:
        _show_walks(figures)
    if figures.fleets:
        _show_fleets(figures)
    if figures.throngs:
        _show_throngs(figures)
    if figures.openings:
        _show_openings(figures)
    if figures.audits:
        _show_audits(figures)
    _show_bars(bars)


def _is_over(life: Life, workload: str, steps: int) -> bool:
    same = "lean" if life.workload == "append_only" else life.workload
    return (same, life.steps) == (workload, steps)


def _row(life: Life, figures: Figures, floor: int) -> list[str]:
    name = SYSTEMS[life.system].title
    name += ", append_only" if life.workload == "append_only" else ""
    name += ", normal" if life.durability == "normal" else ""
    raw = next(
        (
            figures.life("raw", workload, life.steps, life.durability)
            for workload in (life.workload, "lean")
            if figures.life("raw", workload, life.steps, life.durability)
        ),
        None,
    )
    written = life.written_bytes
    return [
        name if life.exact else f"{name} (gave back another state)",
        str(life.rounds),
        _kb(life.disk_bytes),
        _times(life.disk_bytes, floor),
        DASH if written is None else _kb(written),
        _times(written, raw.written_bytes if raw else None),
        _us(life.save),
        _times(life.save, raw.save if raw else None),
        _us(life.save_p99),
        _us(life.save_last),
        _ms(life.open),
        _ms(life.load),
        _ms(life.load_earlier),
    ]


def _show_walks(figures: Figures) -> None:
    rows = [
        [
            SYSTEMS[walk.system].title + ("" if walk.exact else " (ended with another state)"),
            f"{walk.steps:,}",
            str(walk.rounds),
            DASH if walk.disk_bytes is None else _kb(walk.disk_bytes),
            _us(walk.step),
            _us(walk.step_last),
            DASH if walk.replay is None else _us(walk.replay),
            _ms(walk.resume),
            _ms(walk.history),
        ]
        for walk in figures.walks
    ]
    output.table(_WALKS, rows, right=" ".join(_WALKS[1:]))
    output.text()


def _show_fleets(figures: Figures) -> None:
    headings = ("short graphs", "steps", "threads", "KB a thread", "ms a thread")
    rows = [
        [
            SYSTEMS[fleet.system].title + ("" if fleet.exact else " (ended with another state)"),
            str(fleet.steps),
            str(fleet.threads),
            f"{fleet.disk_bytes / fleet.threads / _KB:.1f}",
            _ms(fleet.took),
        ]
        for fleet in figures.fleets
    ]
    output.table(headings, rows, right=" ".join(headings[1:]))
    output.text()


def _show_throngs(figures: Figures) -> None:
    headings = ("8 at one file", "system", "steps/s", "save ms", "p99 ms", "most ms", "evenness")
    rows = [
        [
            throng.part,
            SYSTEMS[throng.system].title,
            f"{throng.steps_per_second:,.0f}",
            _ms(throng.save),
            _ms(throng.save_p99),
            _ms(throng.save_most),
            f"{throng.evenness:.2f}",
            _reasons(throng.refused),
        ]
        for throng in figures.throngs
    ]
    output.table((*headings, "refused"), rows, right="steps/s evenness")
    output.text()


def _show_openings(figures: Figures) -> None:
    output.table(
        ("8 processes open a new store", "stores", "refused"),
        [
            [SYSTEMS[one.system].title, str(one.rounds), _reasons(one.refused)]
            for one in figures.openings
        ],
        right="stores",
    )
    output.text()


def _show_audits(figures: Figures) -> None:
    headings = ("keepset audit", "file MB", "runs", "values", "s", "MB/s", "memory MB")
    rows = [
        [
            "read whole" if one.complete else "not read to its end",
            f"{one.bytes / _MILLI:,.0f}",
            f"{one.runs:,}",
            f"{one.values:,}",
            f"{one.took / _MILLI / _MICRO:.1f}",
            f"{one.bytes / one.took * _MICRO:,.0f}",
            f"{one.peak_bytes / _MILLI:,.0f}",
        ]
        for one in figures.audits
    ]
    output.table(headings, rows, right=" ".join(headings[1:]))
    output.text()


def _show_bars(bars: list[Bar]) -> None:
    output.table(
        ("what", "measured", "bar", "unit", "met"),
        [
            [bar.name, _figure(bar.measured), _limit(bar), bar.unit, _met(bar)]
            for bar in bars
            if bar.measured is not None
        ],
        right="measured bar",
    )
    counted = _counted(bars)
    output.note(", ".join(f"{count} {what}" for what, count in counted))


def _counted(bars: list[Bar]) -> Iterator[tuple[str, int]]:
    for what, met in (("met", True), ("not met", False), ("not measured or judged", None)):
        yield what, sum(bar.met is met for bar in bars)


def _limit(bar: Bar) -> str:
    return f"{'at most' if bar.is_most else 'at least'} {bar.limit:g}"


def _met(bar: Bar) -> str:
    return {True: "yes", False: "no", None: "not judged"}[bar.met]


def _figure(number: float | None) -> str:
    return DASH if number is None else f"{number:.3g}" if number < _MICRO else f"{number:.0f}"


def _reasons(refused: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} x {count}" for reason, count in refused.items()) or "none"


def _kb(size: float) -> str:
    return f"{size / _KB:,.0f}"


def _us(nanoseconds: float) -> str:
    return f"{nanoseconds / _MICRO:,.0f}"


def _ms(nanoseconds: float | None) -> str:
    return DASH if nanoseconds is None else f"{nanoseconds / _MILLI:,.2f}"


def _times(above: float | None, below: float | None) -> str:
    return DASH if above is None or not below else f"{above / below:.2f}"
