"""Making an import ready: format found or given, options checked, files in order."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path

from annotate.importers.base import BlockImporter, Importer, ImportJob, Request
from annotate.importers.registry import get_importer, recognise
from annotate.importers.sources import SourceError
from annotate.importers.tally import Tally
from db.errors import AnnotateError


def prepare(files: Sequence[Path], *, format: str = "", options: Mapping[str, str] | None = None) -> ImportJob:
    """An import of ``files`` by the named format, or by the one that recognises the first of them.

    Raises AnnotateError where there is no such format, file or option.
    """
    if not files:
        raise SourceError("No file was given.", "Name the files to import.")
    for path in files:
        if not path.exists():
            raise SourceError(f"{path}: there is no such file.", "Check the path.")
    importer = get_importer(format) if format else recognise(files[0])
    request = Request(tuple(files), dict(options or {}))
    _check_options(importer, request)
    tally = Tally(importer.sources(request))
    return ImportJob(
        format=importer.name,
        title=importer.title,
        protocol=importer.protocol,
        mapping=dict(request.options),
        rows=importer.rows(request, tally),
        tally=tally,
        blocks=importer.blocks(request, tally) if isinstance(importer, BlockImporter) else None,
    )


def prepare_recipe(recipe: str | Path, files: Sequence[Path]) -> ImportJob:
    """An import by a recipe, shipped (by name) or the user's own (by path); files may be folders."""
    from annotate.recipes import find_groups, load_recipe, recipe_blocks, recipe_rows

    found = load_recipe(recipe)
    groups = find_groups(found, files or [Path.cwd()])
    tally = Tally([path for group in groups for path in group.paths])
    return ImportJob(
        format=f"recipe:{found.name}",
        title=found.title,
        protocol=found.protocol,
        mapping={"recipe": found.name, "sha256": found.digest},
        rows=recipe_rows(found, groups, tally),
        tally=tally,
        blocks=recipe_blocks(found, groups, tally),
    )


def _check_options(importer: Importer, request: Request) -> None:
    for name in request.options:
        if name not in importer.options:
            near = difflib.get_close_matches(name, importer.options, n=1)
            known = ", ".join(importer.options) or "none"
            hint = f"Did you mean {near[0]!r}?" if near else f"Its options: {known}."
            raise AnnotateError(f"The format {importer.name!r} has no option {name!r}.", hint)
