"""Charts of an audit's page as inline SVG: no script, no file, readable in light and in dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from keepset.verdict.sentences import size

Escape = Callable[[str], str]

_WIDTH: Final = 360
_HEIGHT: Final = 200
_LEFT: Final = 58
_RIGHT: Final = 10
_TOP: Final = 10
_BOTTOM: Final = 26
_ROW: Final = 22
_NAMES: Final = 110
_NUMBERS: Final = 68
_LONGEST: Final = 17
COLOURS: Final = 5
"""Lines that can be told apart in one chart."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart.

    Attributes:
        name: What it is of.
        points: Steps and bytes, in order.
    """

    name: str
    points: Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart.

    Attributes:
        name: What it is of.
        value: How long it is.
        said: The value as a person reads it.
        style: A class of the style sheet.
    """

    name: str
    value: float
    said: str
    style: str = "bar"


def figure(title: str, said: str, drawing: str, text: Escape) -> str:
    """Give a chart with its title and what it says, for those who do not see it as well."""
    return (
        f"<figure><figcaption><b>{text(title)}</b><br>"
        f"<span class=soft>{text(said)}</span></figcaption>{drawing}</figure>"
    )


def lines(title: str, several: Sequence[Line], text: Escape) -> str:
    """Draw bytes by step, a line each; five of them at the most."""
    several = several[:COLOURS]
    most = max((y for line in several for _, y in line.points), default=0.0)
    last = max((x for line in several for x, _ in line.points), default=0)
    top, ticks = _ticks(most)
    parts = [_grid(top, ticks, last, text)]
    for number, line in enumerate(several, 1):
        where = [(_x(x, last), _y(y, top)) for x, y in line.points]
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in where)
        named = text(f"{line.name}: {_course(line)}")
        parts.append(f'<polyline class="line c{number}" points="{drawn}"><title>{named}</title>')
        parts.append("</polyline>")
        end = where[-1]
        parts.append(f'<circle class="dot c{number}" cx="{end[0]:.1f}" cy="{end[1]:.1f}" r="3"/>')
    label = text(f"{title}. " + "; ".join(f"{line.name}: {_course(line)}" for line in several))
    key = "".join(
        f'<li><span class="swatch c{number}"></span>{text(line.name)}</li>'
        for number, line in enumerate(several, 1)
    )
    legend = f"<ul class=legend>{key}</ul>" if len(several) > 1 else ""
    return f"{_svg(_HEIGHT, label, ''.join(parts))}{legend}"


def bars(title: str, several: Sequence[Bar], text: Escape) -> str:
    """Draw a bar for each; the longest is as long as there is room."""
    most = max((one.value for one in several), default=0.0) or 1.0
    room = _WIDTH - _NAMES - _NUMBERS
    parts = []
    for number, one in enumerate(several):
        y = number * _ROW + 4
        wide = max(one.value / most * room, 1.0 if one.value else 0.0)
        named = text(f"{one.name}: {one.said}")
        parts.append(
            f"<g><title>{named}</title>"
            f'<text class=name x="{_NAMES - 6}" y="{y + 12}" text-anchor="end">'
            f"{text(_short(one.name))}</text>"
            f'<rect class="{one.style}" x="{_NAMES}" y="{y}" width="{wide:.1f}" height="16"/>'
            f'<text x="{_NAMES + wide + 5:.1f}" y="{y + 12}">{text(one.said)}</text></g>'
        )
    label = text(f"{title}. " + "; ".join(f"{one.name}: {one.said}" for one in several))
    return _svg(len(several) * _ROW + 8, label, "".join(parts))


def _svg(height: int, label: str, inside: str) -> str:
    return (
        f'<svg class=chart viewBox="0 0 {_WIDTH} {height}" role=img aria-label="{label}">'
        f"{inside}</svg>"
    )


def _course(line: Line) -> str:
    first, last = line.points[0], line.points[-1]
    if first == last:
        return size(round(last[1]))
    return f"{size(round(first[1]))} at step {first[0]}, {size(round(last[1]))} at step {last[0]}"


def _grid(top: float, ticks: Sequence[float], last: int, text: Escape) -> str:
    parts = []
    for tick in ticks:
        y = _y(tick, top)
        parts.append(
            f'<line class=grid x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
            f"{text(size(round(tick)))}</text>"
        )
    for step in sorted({0, last // 2, last}):
        x = _x(step, last)
        end = "end" if step == last and last else "middle"
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 8}" text-anchor="{end}">{step:,}</text>')
    return "".join(parts)


def _x(step: int, last: int) -> float:
    room = _WIDTH - _LEFT - _RIGHT
    return _LEFT + (room * step / last if last else 0.0)


def _y(amount: float, top: float) -> float:
    room = _HEIGHT - _TOP - _BOTTOM
    return _TOP + room * (1 - amount / top)


def _ticks(most: float) -> tuple[float, list[float]]:
    """Give the top of an axis and where its lines are: round numbers, few of them."""
    if most <= 0:
        return 1.0, [0.0]
    rough = most / 3
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
    count = math.ceil(most / step)
    return step * count, [step * number for number in range(count + 1)]


def _short(name: str) -> str:
    if len(name) <= _LONGEST:
        return name
    head = _LONGEST // 2
    return f"{name[:head]}…{name[-(_LONGEST - head - 1) :]}"
