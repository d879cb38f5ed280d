"""Tables of a report in terminals of several widths: every number whole, every row accounted for."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from annotate.reports.document import Table
from annotate.reports.terminal_table import grids

MODELS = ("GPT-5 mini (simulated)", "Grok 4 Fast (simulated)", "a-model-with-a-very-long-name-of-forty-cells")
SCORES = ("NAS with search", "KIS without search")
HEADER = ("model", "score", "judge", "people [95 %]", "change [95 %]", *(f"P(rank {rank})" for rank in range(1, 9)))


def rows() -> list[tuple[str, ...]]:
    found = []
    for at, model in enumerate(MODELS):
        for place, score in enumerate(SCORES):
            number = 0.1 * at + 0.01 * place
            spread = f"[{number - 0.05:.3f}, {number + 0.05:.3f}]"
            ranks = (f"{rank / 10 + number / 100:.2f}" for rank in range(8))
            found.append(
                (model, score, f"{number:.3f}", f"{number + 0.5:.3f} {spread}", f"{number:+.4f} {spread}", *ranks)
            )
    return found


def drawn(width: int) -> str:
    block = Table((), tuple((head,) for head in HEADER), (), tuple(range(2, len(HEADER))))
    cells = [[Text(cell) for cell in row] for row in rows()]
    out = io.StringIO()
    console = Console(file=out, width=width, markup=False, highlight=False, color_system=None)
    for grid in grids(block, [Text(head) for head in HEADER], cells, width):
        console.print(grid)
    return out.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_no_number_is_broken_and_none_is_lost(width: int) -> None:
    text = drawn(width)
    assert max(map(len, text.splitlines())) <= width
    for row in rows():
        for cell in row[2:]:
            value, _, interval = cell.partition(" ")
            for piece in filter(None, (value, interval)):
                assert any(piece in line for line in text.splitlines()), (piece, width)


def test_a_table_that_fits_stays_one() -> None:
    text = drawn(400)
    assert text.count("people [95 %]") == 1
    assert "0.500 [-0.050, 0.050]" in text


def test_a_name_is_said_once_for_the_rows_that_share_it() -> None:
    assert drawn(400).count(MODELS[0]) == 1
    narrow = drawn(80)  # once in each of the parts that the table falls into
    assert narrow.count("GPT-5 mini") == narrow.count("\n model")
