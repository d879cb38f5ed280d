"""How many terminal cells safe text takes, and cutting it to fit. Widths are Rich's, so that Textual agrees."""

from __future__ import annotations

from rich.cells import cell_len, get_character_cell_size, set_cell_size

width = cell_len
character_width = get_character_cell_size


def fit(text: str, cells: int) -> str:
    """``text`` in at most ``cells`` cells; an ellipsis says that some of it is missing."""
    if cells <= 0:
        return ""
    return text if cell_len(text) <= cells else set_cell_size(text, cells - 1).rstrip() + "…"


def pad(text: str, cells: int) -> str:
    """``text`` in exactly ``cells`` cells."""
    shown = fit(text, cells)
    return shown + " " * (cells - cell_len(shown))
