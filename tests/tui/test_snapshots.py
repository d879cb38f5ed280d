"""What the desk looks like: every cell's text and style, at two sizes in each theme.

After a change that is meant: ``ANNOTATE_WRITE_SNAPSHOTS=1 pytest tests/tui/test_snapshots.py``, then look at the diff.
"""

from __future__ import annotations

import os
import string
from pathlib import Path

import pytest

from tests.tui.seat import seated

SNAPSHOTS = Path(__file__).with_name("snapshots")
ITEM = {
    "question": "Who designed the Nine Arch Bridge in Demodara?",
    "context": "The bridge carries the main line between Ella and Demodara. " * 12,
    "text": "It was designed by Harold Cuthbert Marwood.\n日本語 🙂 café עברית hidden\u200bhere",
    "gold": ["Harold Cuthbert Marwood", "H. C. Marwood"],
    "rationale": "Its principal materials were brick, cement and stone.",
}


def snapshot(app):
    """The screen as text: its lines, then for each cell a letter that stands for its style, then the legend."""
    strips = app.screen._compositor.render_strips()
    letters: dict[str, str] = {}
    names = iter(string.ascii_letters + string.digits)
    lines, styles = [], []
    for strip in strips:
        lines.append(strip.text.rstrip())
        row = ""
        for segment in strip:
            told = str(segment.style or "")
            if told not in letters:
                letters[told] = next(names)
            row += letters[told] * segment.cell_length
        styles.append(row)
    legend = [f"{letter}  {told}" for told, letter in letters.items()]
    return "\n".join([*lines, "", *styles, "", *legend]) + "\n"


def compare(name, seen):
    """With what is kept under this name; or keep it."""
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("ANNOTATE_WRITE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(seen, encoding="utf-8", newline="")
    assert seen == path.read_bytes().decode("utf-8")


@pytest.mark.parametrize("theme", ["dark", "light", "high-contrast", "terminal"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
async def test_looks(make_study, theme, size):
    study = make_study([ITEM, {}, {}], "alignment")
    async with seated(study, size=size, theme=theme) as seat:
        await seat.press("f", "d", "c", "7")
        seen = snapshot(seat.app)
    compare(f"{size[0]}x{size[1]}-{theme}", seen)
