"""Recipes: how several files of a published data set become items, responses, judge labels and human labels.

A recipe is a TOML file with file patterns, joins and a closed set of transforms; it can run nothing.
"""

from __future__ import annotations

from annotate.recipes.files import Group, find_groups
from annotate.recipes.library import load_recipe, shipped_recipes
from annotate.recipes.parse import MappingError, parse_map, parse_recipe
from annotate.recipes.run import recipe_blocks, recipe_rows
from annotate.recipes.spec import FAMILIES, FIELDS, Recipe

__all__ = [
    "FAMILIES",
    "FIELDS",
    "Group",
    "MappingError",
    "Recipe",
    "find_groups",
    "load_recipe",
    "parse_map",
    "parse_recipe",
    "recipe_blocks",
    "recipe_rows",
    "shipped_recipes",
]
