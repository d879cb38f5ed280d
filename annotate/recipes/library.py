"""Finding a recipe: by the name of a shipped one, or by the path of a user's own file."""

from __future__ import annotations

import difflib
from pathlib import Path

from annotate.importers.sources import open_text
from annotate.recipes.parse import parse_recipe
from annotate.recipes.spec import Recipe
from db.errors import AnnotateError

_FOLDER = Path(__file__).resolve().parent


def shipped_recipes() -> tuple[str, ...]:
    """The names of the recipes that come with the program."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def load_recipe(name_or_path: str | Path) -> Recipe:
    """A shipped recipe by name, or a file by path; raises AnnotateError with what is wrong with it and where."""
    shipped = _FOLDER / f"{name_or_path}.toml"
    path = shipped if str(name_or_path) in shipped_recipes() else Path(name_or_path)
    if not path.is_file():
        near = difflib.get_close_matches(path.stem, shipped_recipes(), n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Shipped: {', '.join(shipped_recipes())}."
        raise AnnotateError(f"There is no recipe {str(name_or_path)!r}: neither a shipped name nor a file.", hint)
    with open_text(path) as text:
        return parse_recipe(text.read(), path.stem if path == shipped else str(path))
