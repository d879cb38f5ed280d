"""Figures for print with matplotlib, the extra [figures]: PDF and SVG with their fonts inside, PNG at 300 dots an inch.

Shapes and line styles tell the series apart as well as colours do, so that a figure reads in grey and for every eye. No
date, program or path stands in the files: the same results and versions give the same bytes.
"""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any

from annotate.console import visible
from annotate.reports.document import Document, Figure, Mark, resolve
from annotate.reports.figures import COLOURS
from annotate.reports.wrapping import width, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE, ROW, LINE, REST = (
    6.3,
    0.34,
    0.15,
    0.95,
)  # inches: a page's text, a row, a further line of a label, axis and legend
LABEL = 30
MARKERS = ("s", "o", "D")
DASHES: tuple[Any, ...] = ("-", "-", (0, (4, 1.5)))
METADATA: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}
_STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8,
    "axes.linewidth": 0.6,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "annotate",
    "text.parse_math": False,
    "text.usetex": False,
    "path.simplify": False,
}


def print_figure(document: Document, figure: Figure) -> dict[str, bytes]:
    """The figure by ending: pdf, svg, png. Raises ModuleNotFoundError without the extra."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    labels = [wrapped(visible(document.line(row.label)), LABEL) for row in figure.rows]
    heights = [ROW + LINE * (len(lines) - 1) for lines in labels]
    found: dict[str, bytes] = {}
    with rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        canvas = Canvas(figsize=(WIDE, sum(heights) + REST), layout="constrained")
        FigureCanvasAgg(canvas)
        _draw(canvas.add_subplot(), document, figure, labels, heights)
        for kind, metadata in METADATA.items():
            stream = io.BytesIO()
            title = {"Title": visible(document.line(figure.title))} if kind != "png" else {}
            canvas.savefig(stream, format=kind, dpi=300, metadata={**metadata, **title})
            found[kind] = stream.getvalue()
    return found


def _draw(axes: Axes, document: Document, figure: Figure, labels: list[list[str]], heights: list[float]) -> None:
    middles = [sum(heights[:at]) + each / 2 for at, each in enumerate(heights)]
    for row, y in zip(figure.rows, middles, strict=True):
        spread = 0.09 if len(row.marks) > 1 else 0.0
        for place, mark in enumerate(row.marks):
            _mark(axes, document, mark, y + (place - (len(row.marks) - 1) / 2) * spread)
    axes.set_ylim(sum(heights) or ROW, 0)
    names = ["\n".join(line.rstrip() for line in lines) for lines in labels]
    axes.set_yticks(middles, names)
    axes.set_xlabel(visible(figure.axis))
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="0.85", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    _ends(axes, document, figure, middles)
    _legend(axes, figure)


def _mark(axes: Axes, document: Document, mark: Mark, y: float) -> None:
    value, low, high = (resolve(document.results, path) if path else None for path in (mark.value, mark.low, mark.high))
    if value is None:
        return
    series = mark.series % len(MARKERS)
    if low is not None and high is not None:
        axes.plot([low, high], [y, y], color=COLOURS[series], linestyle=DASHES[series], linewidth=1.2, zorder=2)
        axes.plot([low, high], [y, y], color=COLOURS[series], marker="|", linestyle="", markersize=4.5, zorder=2)
    axes.plot([value], [y], **_look(series), zorder=3)


def _look(series: int) -> dict[str, Any]:
    """The first series is drawn open: it is what stands before anybody looked."""
    colour = COLOURS[series]
    face = "white" if series == 0 else colour
    return {"marker": MARKERS[series], "color": face, "markeredgecolor": colour, "linestyle": "", "markersize": 4.5}


def _ends(axes: Axes, document: Document, figure: Figure, middles: list[float]) -> None:
    ends = [visible(document.line(row.end)) for row in figure.rows]
    if any(ends):
        right = axes.secondary_yaxis("right")
        right.set_yticks(middles, ends)
        right.tick_params(axis="y", length=0)
        right.spines["right"].set_visible(False)


def _legend(axes: Axes, figure: Figure) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **_look(at % len(MARKERS)), label=name) for at, name in enumerate(figure.series)]
    columns = len(handles) if sum(map(width, figure.series)) < 90 else 1
    axes.figure.legend(handles=handles, loc="outside upper left", ncols=columns, frameon=False, handletextpad=0.3)
