"""How the site is built: ``python -m sphinx -W -n docs OUT``. Nothing is fetched, when built or when read."""

from __future__ import annotations

import sys
from pathlib import Path
from re import fullmatch

from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_extensions")]

from annotate import __version__  # noqa: E402

project = "annotate"
author = "the authors of annotate"
project_copyright = author
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "mathml", "plain_docstrings"]
exclude_patterns = ["build", "_*", "examples"]

smartquotes = False  # "--n" stays what is typed

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
html_math_renderer = "mathml"  # formulas without a script: browsers and screen readers read MathML

autodoc_typehints = "none"  # docstrings say shapes, units and ranges
autodoc_preserve_defaults = True
autodoc_default_options = {"member-order": "bysource"}
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"annotate {release}"
html_static_path = ["_static"]
html_css_files = ["annotate.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"source_repository": "", "navigation_with_keys": True}


def complete_index(app: Sphinx, name: str, source: list[str]) -> None:
    """A pattern on the front page that matches nothing is no mistake, and a page that it does not name comes last."""
    if name != "index":
        return
    lines = source[0].splitlines()
    named = [line for line in lines if fullmatch(r"[\w*-]+(/\*)?", line)]
    lines = [line for line in lines if not line.endswith("*") or line not in named or any(HERE.glob(f"{line}.md"))]
    known = {path for line in named for path in HERE.glob(f"{line}.md")} | {HERE / "index.md"}
    more = sorted(path.stem for path in HERE.glob("*.md") if path not in known)
    tree = ["", "```{toctree}", ":caption: More", ":hidden:", "", *more, "```"] if more else []
    source[0] = "\n".join([*lines, *tree])


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", complete_index)
