"""Figures as SVG: points with intervals on one axis. Shapes tell the series apart as well as colours do, so that a
figure reads in grey and for every eye (colours of Okabe and Ito 2008, darkened for thin lines on white)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape as escape_html

from annotate.console import visible
from annotate.reports.document import Document, Figure, Inline, Line, Mark, Name, Ref, resolve
from annotate.reports.wrapping import width, wrapped

WIDTH, TOP, STEP, LINE, FOOT = 720, 38, 34, 16, 40
LETTER = 7.3  # of a label, in units of the figure
LABEL, END = 34, 24  # columns of a label's line, and of what stands at the right
COLOURS = ("#b35900", "#005b8f", "#00684d")
SHAPES = ("square", "circle", "diamond")
DASHES = ("", "", ' stroke-dasharray="6 2.5"')
FONT = "system-ui,sans-serif"
STYLE = (
    "text{font:13px FONT;fill:currentColor}.tick{font-size:11px;opacity:.75}"
    ".grid{stroke:currentColor;opacity:.18}.axis{stroke:currentColor;opacity:.6}"
)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where things stand: the plot between ``left`` and ``right``, the rows' middles, labels on their lines."""

    left: float
    right: float
    low: float
    high: float
    labels: tuple[tuple[str, ...], ...]
    middles: tuple[float, ...]
    bottom: float

    def x(self, value: float) -> float:
        return round(self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left), 2)


def to_svg(document: Document, figure: Figure, *, alone: bool = False, font: str = FONT) -> str:
    """The figure; ``alone``: as a file of its own, else to stand in a page. A row without a number stays empty."""
    low, high, ticks = _scale(document, figure)
    frame = _frame(document, figure, low, high)
    height = frame.bottom + FOOT - 4
    title = escape_html(visible(document.line(figure.title))) if alone else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img" '
        f'aria-label="{escape_html(figure.text, quote=True)}"'
        + (f' width="{WIDTH}" height="{height:g}" color="#1c1e21"><title>{title}</title>' if alone else ">"),
        f"<style>{STYLE.replace('FONT', font)}</style>" if alone else "",
        *_legend(figure),
        *_axis(figure, ticks, frame),
    ]
    for row, lines, y in zip(figure.rows, frame.labels, frame.middles, strict=True):
        parts += _label(lines, frame.left - 14, y)
        parts.append(f'<text x="{frame.right + 16:g}" y="{y + 4:g}">{_line(document, row.end, 40)}</text>')
        spread = 9 if len(row.marks) > 1 else 0
        for place, mark in enumerate(row.marks):
            parts += _mark(document, mark, frame.x, y + (place - (len(row.marks) - 1) / 2) * spread)
    return "".join(parts) + "</svg>"


def _frame(document: Document, figure: Figure, low: float, high: float) -> _Frame:
    """Room for the longest label and for what stands at the right; long labels go on over several lines."""
    labels = tuple(tuple(wrapped(visible(document.line(row.label)), LABEL)) for row in figure.rows)
    widest = max((width(line) for lines in labels for line in lines), default=0)
    end = max((min(width(document.line(row.end)), END) for row in figure.rows), default=0)
    middles, y = [], float(TOP)
    for lines in labels:
        step = max(STEP, LINE * len(lines) + 12)
        middles.append(y + step / 2)
        y += step
    left, right = max(60.0, widest * LETTER + 26), WIDTH - max(24.0, end * LETTER + 28)
    return _Frame(round(left, 1), round(right, 1), low, high, labels, tuple(middles), y + 4)


def _label(lines: Sequence[str], x: float, y: float) -> Iterator[str]:
    first = y + 4 - (len(lines) - 1) * LINE / 2
    for at, line in enumerate(lines):
        text = f'<tspan data-name="">{escape_html(line.rstrip())}</tspan>'
        yield f'<text x="{x:g}" y="{first + at * LINE:g}" text-anchor="end">{text}</text>'


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


def _axis(figure: Figure, ticks: list[float], frame: _Frame) -> Iterator[str]:
    bottom = frame.bottom
    for x, tick in ((frame.x(tick), tick) for tick in ticks):
        yield f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP}" y2="{bottom:g}"/>'
        yield f'<text class="tick" x="{x}" y="{bottom + 15:g}" text-anchor="middle">{tick:g}</text>'
    a, b = frame.x(frame.low), frame.x(frame.high)
    yield f'<line class="axis" x1="{a}" x2="{b}" y1="{bottom:g}" y2="{bottom:g}"/>'
    if figure.axis:
        name = escape_html(visible(figure.axis))
        yield f'<text class="tick" x="{(a + b) / 2:g}" y="{bottom + 31:g}" text-anchor="middle">{name}</text>'


def _legend(figure: Figure) -> Iterator[str]:
    at = 14.0
    for number, name in enumerate(figure.series):
        yield _shape(number, at, 16)
        yield f'<text x="{at + 12:g}" y="20">{escape_html(name)}</text>'
        at += 38 + 6.7 * len(name)


def _mark(document: Document, mark: Mark, x: Callable[[float], float], y: float) -> Iterator[str]:
    value = resolve(document.results, mark.value)
    if value is None:
        return
    ends = [resolve(document.results, path) if path else None for path in (mark.low, mark.high)]
    colour = COLOURS[mark.series % len(COLOURS)]
    if ends[0] is not None and ends[1] is not None:
        a, b = x(ends[0]), x(ends[1])
        dashes = DASHES[mark.series % len(DASHES)]
        yield f'<line x1="{a}" x2="{b}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"{dashes}/>'
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
