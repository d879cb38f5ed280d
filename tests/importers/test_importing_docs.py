"""The pages on importing and protocols say what the code does: formats, options, fields, and examples that parse."""

from __future__ import annotations

import re
from pathlib import Path

from annotate.importers import format_names, get_importer
from annotate.protocols import parse_protocol
from annotate.protocols.scores import OPTIONS
from annotate.recipes import FAMILIES, FIELDS, parse_recipe, shipped_recipes

DOCS = Path(__file__).resolve().parents[2] / "docs"


def rows(page: str, mark: str) -> list[list[str]]:
    """The cells of the table below a mark."""
    text = (DOCS / page).read_text(encoding="utf-8").split(f"<!-- {mark} -->\n", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


def example(page: str) -> str:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(r"```toml\n(.*?)```", text, re.DOTALL)[0]


def test_every_format_is_on_the_page_with_its_options() -> None:
    table = {cells[0].strip("`"): cells[1:] for cells in rows("importing.md", "formats")}
    assert tuple(table) == format_names()
    for name, (title, options) in table.items():
        importer = get_importer(name)
        assert title == importer.title
        assert options == ("as `table`" if name == "hf_datasets" else ", ".join(importer.options)), name


def test_every_field_is_on_the_page_with_its_meaning() -> None:
    table = {cells[0]: cells[1] for cells in rows("importing.md", "fields")}
    plain = {name.strip("`"): meaning for name, meaning in table.items() if "NAME" not in name}
    assert plain == dict(FIELDS)
    families = [name for name in table if "NAME" in name]
    assert [re.findall(r"`(\w+)\.NAME`", name)[0] for name in families] == list(FAMILIES)
    for name, (family, parts) in zip(families, FAMILIES.items(), strict=True):
        assert re.findall(r"`\.(\w+)`", name) == [part for part in parts if part], family


def test_the_examples_parse() -> None:
    recipe = parse_recipe(example("importing.md"), "example.toml")
    assert len(recipe.fields) == 6
    protocol = parse_protocol(example("protocols.md"), "example.toml")
    assert protocol.label_names == ("CORRECT", "WRONG")
    shipped = (DOCS / "importing.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in shipped for name in shipped_recipes())


def test_every_option_of_a_score_is_on_the_page() -> None:
    text = (DOCS / "protocols.md").read_text(encoding="utf-8")
    for kind, options in OPTIONS.items():
        line = next(line for line in text.splitlines() if f"`{kind}`" in line and line.startswith("|"))
        roles = {"abstain", "hedge", "correct", "wrong"} if kind in ("nas", "kis") else set()
        assert all(f"`{option}`" in line for option in options.keys() - roles), kind
