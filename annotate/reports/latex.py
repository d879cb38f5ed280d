r"""Tables as LaTeX for \input: booktabs alone, no wider than a page's text, escaped so that any engine sets any text.

Columns of sentences become paragraphs, the type gets smaller where a table is wide, and a table that is longer than a
page goes on in further ones. Letters that pdfLaTeX lacks are set by XeLaTeX and LuaLaTeX, and named by pdfLaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotate.console import visible
from annotate.reports.document import Document, Table
from annotate.reports.long_names import short_names, shortened
from annotate.reports.wrapping import width, wrapped

ROWS = 44
"""Rows of one table environment, at most: what fits on a page."""
LINE = 345.0
"""Points of a line in the class article; a wider page leaves room."""
_SIZES = (("small", 4.85), ("footnotesize", 4.45), ("scriptsize", 4.2), ("tiny", 3.5))  # points of a letter
_LINES = {"small": 44, "footnotesize": 50, "scriptsize": 58, "tiny": 76}  # of a page of that class
_UNEVEN = 1.15  # lines of a paragraph are not full to their end
_TIGHT = 4  # points of \\tabcolsep where a table is wide
_WORD, _RUN, _PIECE = 12, 20, 8
# Size, letters from which on a column's cells are paragraphs, and how wide these are at least: tried in this order.
_TRIES = (
    *(("small", 40.0, 22.0), ("footnotesize", 40.0, 22.0), ("small", 26.0, 16.0), ("footnotesize", 26.0, 16.0)),
    *((size, 9.0, 0.0) for size, _ in _SIZES),
)
_TEX = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}", "\u00a0": "~",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\symbol{34}", "−": r"\(-\)", "–": "--", "—": "---",
    "→": r"\(\to\)", "κ": r"\(\kappa\)", "α": r"\(\alpha\)", "π": r"\(\pi\)", "τ": r"\(\tau\)", "ρ": r"\(\rho\)",
    "ω": r"\(\omega\)", "“": "``", "”": "''", "’": "'", "‘": "`", "…": r"\ldots{}", "[": "{[}", "]": "{]}",
    "×": r"\(\times\)", "±": r"\(\pm\)", "≤": r"\(\le\)", "≥": r"\(\ge\)", "·": r"\(\cdot\)",
}  # fmt: skip
_TIE = "\u00a0"
_JOINT = re.compile(r"(?<=[-_/.:,;@|=+…])(?=\S)")
_INTERVAL = re.compile(r"\[[-+\d.]+, [-+\d.]+\]")
_MINUS = re.compile(r"(?<![^\s\[(+])-(?=\d)")
_LIGATURES = "-`',"  # two of them in a row would be set as one other mark
# Letters that pdfLaTeX sets in each font encoding without a package.
_KNOWN = re.compile("[\x20-\x7eÀ-ÏÑ-ÖØ-Ýßà-ïñ-öø-ýÿĀ-ăĆ-ďĒ-ėĚ-ĥĨ-ĭĹ-ľŁ-ňŌ-ťŨ-űŴ-ž]")
_NAMED = (
    r"\providecommand{\studychar}[1]{\ifdefined\Umathcode\symbol{\string"
    '"#1}'
    r"\else{[}U+#1{]}\fi}% a letter that pdfLaTeX lacks"
)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The type's size, and for each column the share of the line that its paragraphs take; None: as wide as it is."""

    size: str
    shares: tuple[float | None, ...]
    right: tuple[int, ...]
    tight: bool

    def columns(self) -> str:
        sides = ("r" if at in self.right else "l" for at in range(len(self.shares)))
        shown = zip(sides, self.shares, strict=True)
        return "".join(side if share is None else f"p{{{share:.3f}\\linewidth}}" for side, share in shown)

    def lines(self, row: Sequence[str]) -> int:
        """How many lines a row takes, about."""
        points = dict(_SIZES)[self.size]
        widths = ((share, _letters(text) * points) for share, text in zip(self.shares, row, strict=True))
        return max(
            (1 if share is None else 1 + int(_UNEVEN * wide / (share * LINE)) for share, wide in widths), default=1
        )

    def cell(self, at: int, text: str) -> str:
        if self.shares[at] is None:
            return tex(text)
        side = "\\raggedleft" if at in self.right else "\\raggedright"
        return f"{side} {_breakable(text)}"

    def row(self, cells: Sequence[str]) -> str:
        return " & ".join(self.cell(at, text) for at, text in enumerate(cells)) + r" \tabularnewline"


_FULL = _Layout("footnotesize", (0.25, 0.68), (), True)
"""The layout of names in full."""


def to_latex(document: Document, name: str, table: Table) -> str:
    r"""Table environments for \input, with a caption and the label ``tab:NAME``; names in full in one of their own."""
    names = short_names(table)
    heads = [shortened(document, cell, names) for cell in table.header]
    cells = [[shortened(document, cell, names) for cell in row] for row in table.rows]
    caption = shortened(document, table.title, names) or name.replace("-", " ")
    note = shortened(document, table.note, names)
    lines = _environments(_layout(heads, cells, table.right), caption, name, heads, cells, note)
    if names:
        lines += _environments(
            _FULL, f"{caption} (names in full)", "", ["in the table", "in full"], _in_full(names), ""
        )
    text = "\n".join(lines) + "\n"
    return f"{_NAMED}\n{text}" if "\\studychar{" in text else text


def _in_full(names: Mapping[str, str]) -> list[list[str]]:
    """What stands in the table, and the name; a name that would fill a page goes on in further rows."""
    rows: list[list[str]] = []
    for full, short in names.items():
        parts = wrapped(full, 100 if any(map(_unknown, full)) else 1000)
        rows += [["" if at else short, part] for at, part in enumerate(parts)]
    return rows


def _environments(
    layout: _Layout, caption: str, name: str, heads: Sequence[str], cells: Sequence[Sequence[str]], note: str
) -> list[str]:
    """As many environments as the rows need pages; ``name``: of the label, "" for none."""
    pages = _pages(layout, caption, heads, cells, note)
    below = f"\\\\[2pt] {{\\footnotesize {tex(note)}}}" if note else ""
    lines: list[str] = []
    for at, rows in enumerate(pages):
        begun = [f"\\caption{{{tex(caption)}}}", *([f"\\label{{tab:{name}}}"] if name else [])]
        begun = [f"{tex(caption)} (continued)\\\\"] if at else begun
        lines += _environment(begun, layout, heads, rows, below if at == len(pages) - 1 else "")
    return lines


def _pages(
    layout: _Layout, caption: str, heads: Sequence[str], cells: Sequence[Sequence[str]], note: str
) -> list[list[Sequence[str]]]:
    """The rows of each page, by the lines that they take."""
    around = (len(caption) + len(note)) // 70 + layout.lines(heads)
    room, used = max(_LINES[layout.size] - around, 1), 0
    pages: list[list[Sequence[str]]] = [[]]
    for row in cells:
        lines = layout.lines(row)
        if pages[-1] and (used + lines > room or len(pages[-1]) == ROWS):
            pages.append([])
            used = 0
        pages[-1].append(row)
        used += lines
    return pages


def _environment(
    begun: Sequence[str], layout: _Layout, heads: Sequence[str], cells: Sequence[Sequence[str]], note: str
) -> list[str]:
    return [
        "\\begin{table}", "\\centering", f"\\{layout.size}", *begun,
        *([f"\\setlength{{\\tabcolsep}}{{{_TIGHT}pt}}"] if layout.tight else []),
        f"\\begin{{tabular}}{{{layout.columns()}}}", "\\toprule", layout.row(heads), "\\midrule",
        *map(layout.row, cells), "\\bottomrule", "\\end{tabular}", *([note] if note else []), "\\end{table}",
    ]  # fmt: skip


def _layout(heads: Sequence[str], cells: Sequence[Sequence[str]], right: tuple[int, ...]) -> _Layout:
    """The fewest columns of paragraphs, then the largest type, in which the table is no wider than a page's text."""
    columns = list(zip(heads, *cells, strict=True))
    widest = [max(map(_letters, column), default=0.0) for column in columns]
    least = [max((_letters(part) for text in column for part in _parts(text)), default=0.0) for column in columns]
    size, points = _SIZES[0]
    if sum(widest) * points + 12 * len(widest) <= LINE:
        return _Layout(size, (None,) * len(widest), right, False)
    for size, longest, comfort in _TRIES:
        points = dict(_SIZES)[size]
        room = (LINE - 2 * _TIGHT * len(widest)) / points
        narrowest = [max(a, min(b, comfort)) for a, b in zip(least, widest, strict=True)]
        shares = _shares(widest, narrowest, room, longest)
        if shares:
            return _Layout(size, tuple(each and each * points / LINE for each in shares), right, True)
    return _Layout(size, tuple(max(0.02, each / sum(widest) * room * points / LINE) for each in widest), right, True)


def _letters(text: str) -> float:
    """The width of a text in letters of the usual width."""
    narrow = sum(mark in " .,;:'!|()[]ijlt" for mark in text)
    wide = sum(mark.isupper() or mark in "mw%+-<>κ" for mark in text)
    named = sum(map(_unknown, text))
    return width(text) - 0.35 * narrow + 0.5 * wide + 1.5 * text.count("…") + 7 * named


def _parts(text: str) -> list[str]:
    """The parts of a paragraph between which a line may break."""
    words = _words(text)
    return [part for word in words for part in (_pieces(word) if _long(word) else (word,))]


def _words(text: str) -> list[str]:
    """The words of a text, its intervals kept whole."""
    shown = " ".join(visible(text).split())
    return _INTERVAL.sub(lambda found: found.group().replace(" ", _TIE), shown).split(" ")


def _pieces(word: str) -> list[str]:
    """A long word at its joints; between them in pieces where it is no word of any language, or none that TeX sets."""
    return [part for run in _JOINT.split(word) for part in _cut(run)]


def _cut(run: str) -> list[str]:
    if any(map(_unknown, run)):
        return list(run)
    step = _PIECE if len(run) > _RUN else len(run)
    return [run[at : at + step] for at in range(0, len(run), step)]


def _unknown(mark: str) -> bool:
    """Whether pdfLaTeX names the letter in place of setting it."""
    return mark not in _TEX and mark not in (_TIE, "−") and not _KNOWN.match(mark)


def _long(word: str) -> bool:
    return _TIE not in word and (len(word) > _WORD or any(map(_unknown, word)))


def _shares(
    widest: Sequence[float], least: Sequence[float], room: float, longest: float
) -> tuple[float | None, ...] | None:
    """Letters for each column wider than ``longest``, which becomes paragraphs; None for the others. Not: no room."""
    if sum(widest) <= room:
        return (None,) * len(widest)
    long = [at for at, each in enumerate(widest) if each > longest]
    left = room - sum(each for each in widest if each <= longest) - sum(least[at] for at in long)
    if not long or left < 0:
        return None
    wishes = {at: (widest[at] - least[at]) ** 0.5 for at in long}
    more = left / (sum(wishes.values()) or 1.0)
    return tuple(least[at] + wishes[at] * more if at in wishes else None for at in range(len(widest)))


def _breakable(text: str) -> str:
    """As ``tex``; long words may break where a name has its joints."""
    words = ("\\allowbreak{}".join(map(tex, _pieces(word))) if _long(word) else tex(word) for word in _words(text))
    return " ".join(words)


def tex(text: str) -> str:
    """Study text as literal LaTeX, for every engine and font encoding."""
    shown = _MINUS.sub("−", " ".join(visible(text).split(" ")))
    return "".join(_mark(mark, shown[at + 1 : at + 2]) for at, mark in enumerate(shown))


def _mark(mark: str, following: str) -> str:
    if mark in _TEX:
        return _TEX[mark]
    if mark == following and mark in _LIGATURES:
        return f"{mark}{{}}"
    return mark if _KNOWN.match(mark) else f"\\studychar{{{ord(mark):04X}}}"
