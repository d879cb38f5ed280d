"""Docstrings are plain text with `names` in backticks: shown as such, so that | and * in a formula open no markup."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

CODE = re.compile(r"``?([^`\n]+)``?")


def plain(text: str) -> str:
    """One line as reStructuredText that shows exactly what it says."""
    parts = CODE.split(text)
    return "".join(f"``{part}``" if i % 2 else re.sub(r"([\\*|_`<>])", r"\\\1", part) for i, part in enumerate(parts))


def convert(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Change the lines of one docstring in place."""
    lines[:] = [plain(line.strip()) for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", convert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
