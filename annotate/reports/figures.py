"""Figures as SVG: points with intervals on one axis. Shapes tell the series apart as well as colours do, so that a
figure reads in grey and for every eye (colours of Okabe and Ito 2008, darkened for thin lines on white)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from html import escape as escape_html

from annotate.console import visible
from annotate.reports.document import Document, Figure, Inline, Line, Mark, Name, Ref, resolve

WIDTH, LEFT, RIGHT, TOP, STEP, FOOT = 720, 190, 120, 38, 34, 40
COLOURS = ("#b35900", "#005b8f", "#00684d")
SHAPES = ("square", "circle", "diamond")
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:currentColor}.tick{font-size:11px;opacity:.75}"
    ".grid{stroke:currentColor;opacity:.18}.axis{stroke:currentColor;opacity:.6}"
)


def to_svg(document: Document, figure: Figure, *, alone: bool = False) -> str:
    """The figure; ``alone``: as a file of its own, else to stand in a page. A row without a number stays empty."""
    low, high, ticks = _scale(document, figure)
    height = TOP + STEP * len(figure.rows) + FOOT

    def x(value: float) -> float:
        return round(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT), 2)

    title = escape_html(document.line(figure.title)) if alone else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape_html(figure.text, quote=True)}"'
        + (f' width="{WIDTH}" height="{height}" color="#1c1e21"><title>{title}</title>' if alone else ">"),
        f"<style>{STYLE}</style>" if alone else "",
        *_legend(figure),
        *_axis(figure, ticks, x, height, low, high),
    ]
    for at, row in enumerate(figure.rows):
        y = TOP + STEP * at + STEP // 2
        parts.append(f'<text x="{LEFT - 14}" y="{y + 4}" text-anchor="end">{_line(document, row.label, 24)}</text>')
        parts.append(f'<text x="{WIDTH - RIGHT + 16}" y="{y + 4}">{_line(document, row.end, 40)}</text>')
        spread = 9 if len(row.marks) > 1 else 0
        for place, mark in enumerate(row.marks):
            parts += _mark(document, mark, x, y + (place - (len(row.marks) - 1) / 2) * spread)
    return "".join(parts) + "</svg>"


def _values(document: Document, figure: Figure) -> list[float]:
    paths = (p for row in figure.rows for mark in row.marks for p in (mark.value, mark.low, mark.high) if p)
    return [float(value) for path in paths if (value := resolve(document.results, path)) is not None]


def _scale(document: Document, figure: Figure) -> tuple[float, float, list[float]]:
    """From, to, and round ticks between: the data with a little room, or 0 to 1 where there are none."""
    values = _values(document, figure) or [0.0, 1.0]
    low, high = min(values), max(values)
    span = high - low or 0.1
    rough = span * 1.1 / 5
    magnitude = 10.0 ** math.floor(math.log10(rough))
    step = next(m * magnitude for m in (1, 2, 5, 10) if m * magnitude >= rough)
    first, last = math.floor((low - span * 0.04) / step), math.ceil((high + span * 0.04) / step)
    ticks = [round(step * at, 10) for at in range(first, last + 1)]
    return ticks[0], ticks[-1], ticks


def _axis(
    figure: Figure, ticks: list[float], x: Callable[[float], float], height: int, low: float, high: float
) -> Iterator[str]:
    bottom = height - FOOT + 4
    for tick in ticks:
        yield f'<line class="grid" x1="{x(tick)}" x2="{x(tick)}" y1="{TOP}" y2="{bottom}"/>'
        yield f'<text class="tick" x="{x(tick)}" y="{bottom + 15}" text-anchor="middle">{tick:g}</text>'
    yield f'<line class="axis" x1="{x(low)}" x2="{x(high)}" y1="{bottom}" y2="{bottom}"/>'
    if figure.axis:
        middle = (x(low) + x(high)) / 2
        name = escape_html(visible(figure.axis))
        yield f'<text class="tick" x="{middle}" y="{bottom + 31}" text-anchor="middle">{name}</text>'


def _legend(figure: Figure) -> Iterator[str]:
    at = 14.0
    for number, name in enumerate(figure.series):
        yield _shape(number, at, 16)
        yield f'<text x="{at + 12}" y="20">{escape_html(name)}</text>'
        at += 30 + 7.2 * len(name)


def _mark(document: Document, mark: Mark, x: Callable[[float], float], y: float) -> Iterator[str]:
    value = resolve(document.results, mark.value)
    if value is None:
        return
    ends = [resolve(document.results, path) if path else None for path in (mark.low, mark.high)]
    colour = COLOURS[mark.series % len(COLOURS)]
    if ends[0] is not None and ends[1] is not None:
        a, b = x(ends[0]), x(ends[1])
        yield f'<line x1="{a}" x2="{b}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"/>'
        for end in (a, b):
            yield f'<line x1="{end}" x2="{end}" y1="{y - 4}" y2="{y + 4}" stroke="{colour}" stroke-width="2"/>'
    yield _shape(mark.series, x(value), y)


def _shape(series: int, x: float, y: float) -> str:
    colour, shape = COLOURS[series % len(COLOURS)], SHAPES[series % len(SHAPES)]
    if shape == "square":  # open: it is what stands before anybody looked
        box = f'x="{x - 4.5:g}" y="{y - 4.5:g}" width="9" height="9"'
        return f'<rect {box} fill="none" stroke="{colour}" stroke-width="2"/>'
    if shape == "circle":
        return f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{colour}"/>'
    points = ((0, -6), (6, 0), (0, 6), (-6, 0))
    return f'<polygon points="{" ".join(f"{x + a:g},{y + b:g}" for a, b in points)}" fill="{colour}"/>'


def _line(document: Document, line: Line, most: int) -> str:
    text = document.line(line)
    if len(text) > most:
        return f'<tspan data-name="">{escape_html(visible(text[: most - 1]) + "…")}</tspan>'
    return "".join(_inline(document, inline) for inline in line)


def _inline(document: Document, inline: Inline) -> str:
    text = escape_html(visible(document.text(inline)))
    if isinstance(inline, Ref):
        return f'<tspan data-ref="{escape_html(inline.path, quote=True)}" data-kind="{inline.kind}">{text}</tspan>'
    return f'<tspan data-name="">{text}</tspan>' if isinstance(inline, Name) else text
