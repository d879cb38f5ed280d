"""Writes the pages that come from the code: ``python docs/generate.py``. A test says when one is out of date."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_generators")]

from command_reference import commands_page  # noqa: E402
from shipped_codebooks import codebooks_page  # noqa: E402
from study_schema import schema_page  # noqa: E402

from tui.keysdoc import keys_markdown  # noqa: E402

PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "codebooks.md": codebooks_page,
    "schema.md": schema_page,
    "keys.md": keys_markdown,
}


def main() -> None:
    """Write each page that has changed, and say which."""
    for name, page in PAGES.items():
        path, text = HERE / name, page()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
