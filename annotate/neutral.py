"""Cells that a spreadsheet would run as formulas, made harmless."""

from __future__ import annotations

import re

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[-+]?[\d,.]+(?:[eE][-+]?\d+)?")


def neutral(text: str) -> str:
    """The text, with an apostrophe before it where a spreadsheet would take it for a formula; numbers stay."""
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text
