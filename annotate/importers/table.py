"""One CSV, TSV, JSON, JSONL or Parquet file, its columns mapped by ``column=field,…`` or by a small TOML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from annotate.importers.base import Blocks, Request, Rows
from annotate.importers.guess import guess_columns, guess_table
from annotate.importers.records import KINDS, ReadOptions, kind_of
from annotate.importers.sources import SourceError, bare_suffix, open_text
from annotate.importers.tally import Tally
from annotate.recipes.files import Group
from annotate.recipes.parse import MappingError, check_fields, parse_map, parse_recipe
from annotate.recipes.run import recipe_blocks, recipe_rows
from annotate.recipes.spec import Expression, FieldRule, Recipe, TableOptions
from db.errors import AnnotateError


class TableImporter:
    name = "table"
    title = "a table: CSV, TSV, JSON, JSONL or Parquet"
    protocol = ""
    options: Mapping[str, str] = {
        "map": "column=field,… or the path of a TOML file; 'guess' takes the guess that --dry-run shows",
        "tiebreak": "the column of a coder whose label counts only where the others differ",
        "pi": "the column with each row's inclusion probability",
        "weight": "the column with each row's design weight",
        "delimiter": "what separates the fields, where it is not found",
        "quoting": "no: quotes are ordinary characters",
        "encoding": "the text's encoding, where it is not UTF-8",
        "gold_separator": "what separates several gold answers in one field",
        "options_separator": "what separates the options in one field",
        "confidence_scale": "the value that means certainty: 1 or 100",
        "confidence_grid": "round confidences to this many steps",
        "labels_only": "yes: there are only labels, no texts; make an item and an empty response for each key",
    }

    def recognises(self, path: Path, start: bytes) -> bool:
        if path.is_dir():
            return False
        try:
            return bare_suffix(path) in KINDS or bool(kind_of(path))
        except SourceError:
            return False

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        for path in request.files:
            recipe = table_recipe(path, request)
            yield from recipe_rows(recipe, (Group(path, {}, {}),), tally)

    def blocks(self, request: Request, tally: Tally) -> Blocks:
        for path in request.files:
            recipe = table_recipe(path, request)
            yield from recipe_blocks(recipe, (Group(path, {}, {}),), tally)


def table_recipe(path: Path, request: Request, columns: Sequence[str] = ()) -> Recipe:
    """The mapping for one table as a recipe of one file; raises AnnotateError where it is missing or wrong.

    ``columns`` are its columns, where the file itself is not to be read for them.
    """
    recipe = _mapping(path, request, columns)
    recipe = replace(recipe, read=_read_options(recipe.read, request), options=_table_options(recipe.options, request))
    fields = _with_tiebreak(recipe.fields, request.option("tiebreak"))
    fields += tuple(_column(target, request.option(target)) for target in ("pi", "weight") if request.option(target))
    check_fields(fields)
    return replace(recipe, fields=fields)


def _mapping(path: Path, request: Request, columns: Sequence[str]) -> Recipe:
    text = request.option("map")
    file_name, _, more = text.partition(",")
    if file_name.endswith(".toml"):
        with open_text(Path(file_name)) as file:
            recipe = parse_recipe(file.read(), file_name)
        if recipe.joins:
            raise AnnotateError(f"{file_name}: joins several files.", "Run it with --recipe.")
        return replace(recipe, fields=(*recipe.fields, *(parse_map(more) if more else ())))
    if not text or text == "guess":
        guess = guess_columns(columns) if columns else guess_table(path, _read_options(ReadOptions(), request))
        if not guess.fields:
            raise MappingError(*_no_guess(path, guess.left))
        if not text:
            hint = f"See the guess with --dry-run, correct it, and give it: --map '{guess.map_text}'"
            raise MappingError(f"{path}: which column is which was not said.", hint)
        text = guess.map_text
    return Recipe("table", "a table", "*", parse_map(text), TableOptions(), ReadOptions())


def _no_guess(path: Path, columns: Sequence[str]) -> tuple[str, str]:
    shown = ", ".join(columns[:12]) + (f" and {len(columns) - 12} more" if len(columns) > 12 else "")
    problem = f"{path}: none of its columns could be guessed. They are: {shown}."
    return problem, "Say which is which, for example --map 'COLUMN=item,COLUMN=response,COLUMN=model'."


def _read_options(given: ReadOptions, request: Request) -> ReadOptions:
    delimiter = request.option("delimiter", given.delimiter).replace("\\t", "\t")
    if len(delimiter) > 1:
        raise AnnotateError(f"The delimiter {delimiter!r} is more than one character.", "Use , ; | or \\t.")
    return replace(
        given,
        delimiter=delimiter,
        quoting=given.quoting and _flag(request, "quoting", True),
        encoding=request.option("encoding", given.encoding),
    )


def _table_options(given: TableOptions, request: Request) -> TableOptions:
    return TableOptions(
        gold_separator=request.option("gold_separator", given.gold_separator),
        options_separator=request.option("options_separator", given.options_separator),
        confidence_scale=_number(request, "confidence_scale") or given.confidence_scale,
        confidence_grid=_number(request, "confidence_grid") or given.confidence_grid,
        labels_only=_flag(request, "labels_only", given.labels_only),
    )


def _flag(request: Request, name: str, default: bool) -> bool:
    text = request.option(name).lower()
    if text not in ("", "yes", "no", "true", "false", "1", "0"):
        raise AnnotateError(f"{name} is {text!r}, expected yes or no.", f"Write {name}=yes.")
    return default if not text else text in ("yes", "true", "1")


def _number(request: Request, name: str) -> int | None:
    text = request.option(name)
    if text and not (text.isdigit() and int(text)):
        raise AnnotateError(f"{name} is {text!r}, expected a whole number above 0.", f"Write {name}=100, say.")
    return int(text) if text else None


def _with_tiebreak(fields: tuple[FieldRule, ...], column: str) -> tuple[FieldRule, ...]:
    """The coder whose labels stand in ``column`` as a tie-breaker; without such a coder the column becomes one."""
    if not column:
        return fields
    coder = next((rule for rule in fields if rule.value.column == column and rule.target.startswith("coder.")), None)
    if coder is None:
        return (*fields, _column(f"tiebreak.{column}", column))
    old, new = coder.target, "tiebreak." + coder.target.removeprefix("coder.")
    family = {rule.target for rule in fields if rule.target == old or rule.target.startswith(f"{old}.")}
    return tuple(
        replace(rule, target=new + rule.target.removeprefix(old)) if rule.target in family else rule for rule in fields
    )


def _column(target: str, column: str) -> FieldRule:
    return FieldRule(target, Expression(column=column))


IMPORTER = TableImporter()
