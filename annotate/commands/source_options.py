"""The options of commands that read a source where it lies, and of those that take its cells in place of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from annotate.counting.engines import Engine
    from annotate.counting.run import CountRequest
    from db.records import Protocol
    from db.study import Study

Command = TypeVar("Command", bound=Callable[..., Any])
NAMES = ("engine", "engine_options", "format_", "map_", "judge_columns", "more")


def source_options(command: Command) -> Command:
    """Which engine reads a source, and what its columns mean."""
    for option in reversed(
        (
            click.option(
                "--engine",
                default="duckdb",
                show_default=True,
                metavar="duckdb|spark://HOST:PORT|CONNECTION",
                help="What counts: DuckDB here, or Spark; or whose table: duckdb:///FILE, sqlite:///FILE, postgres://…",
            ),
            click.option(
                "--engine-option",
                "engine_options",
                multiple=True,
                metavar="NAME=VALUE",
                help="A setting of the engine, as memory_limit=4GB; may be repeated.",
            ),
            click.option(
                "--format", "format_", default="", metavar="NAME", help="table, ehq or wikiprofile; found out."
            ),
            click.option(
                "--map", "map_", default="", metavar="MAP", help="column=field,… as for annotate import, or 'guess'."
            ),
            click.option(
                "--judge-column",
                "judge_columns",
                multiple=True,
                metavar="COLUMN",
                help="A column of a judge's labels; may be repeated.",
            ),
            click.option(
                "--option", "more", multiple=True, metavar="NAME=VALUE", help="A further option of the format."
            ),
        )
    ):
        command = option(command)
    return command


def cells_option(command: Command) -> Command:
    """The corpus as an engine counted it."""
    text = "Cells that annotate count wrote, as the corpus in place of the study's own responses."
    kind = click.Path(dir_okay=False, path_type=Path)
    return click.option("--cells", type=kind, default=None, metavar="FILE", help=text)(command)


def with_cells(study: Study, cells: Path | None) -> Study:
    """The study, with the cells of a file for its corpus where one is named."""
    if cells is None:
        return study
    from annotate.analysis.counted import CountedStudy
    from annotate.counting.cell_file import read_cells

    return CountedStudy.of(study, read_cells(cells))


def engine_of(options: Mapping[str, Any]) -> Engine:
    """The engine that was asked for."""
    from annotate.counting.engines import open_engine

    return open_engine(options["engine"], dict(_pair("--engine-option", each) for each in options["engine_options"]))


def request_of(source: str, protocol: Protocol, options: Mapping[str, Any], *, items: bool) -> CountRequest:
    """What is to be counted."""
    from annotate.counting.run import CountRequest

    chosen = dict(_pair("--option", each) for each in options["more"])
    columns = [options["map_"], *(f"{column}=judge.{column}" for column in options["judge_columns"])]
    if any(columns):
        chosen["map"] = ",".join(column for column in columns if column)
    return CountRequest(source, protocol, options["format_"], chosen, items)


def _pair(option: str, text: str) -> tuple[str, str]:
    name, given, value = text.partition("=")
    if not given:
        raise click.UsageError(f"{option} {text}: expected NAME=VALUE.")
    return (name if option == "--engine-option" else name.replace("-", "_")), value
