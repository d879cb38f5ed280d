"""The engines that can count: DuckDB in this process, a file of DuckDB's, a Spark cluster, or a table out of another.

A connection string may hold secrets: none is printed, stored, or left in the text of an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from annotate.counting.facts import Expression, Tools
from annotate.counting.sources import Group
from db.errors import AnnotateError

DEFAULT = "duckdb"
_EXTRAS = {"duckdb": "duckdb", "spark": "spark"}
_LONGEST = 300


class EngineError(AnnotateError):
    """An engine that cannot be opened, or that could not do what it was asked."""


class Engine(Protocol):
    """What counting needs of an engine. Tables of `read` have columns c0, c1, … as named, and ``file``."""

    name: str
    tools: Tools

    def versions(self) -> dict[str, str]:
        """Name and version of what does the work."""

    def read(self, group: Group, columns: Sequence[str], *, raw: bool = False) -> Expression:
        """The named columns of a group of files; a record that is not readable has null in all of them.

        Texts are stripped, and null where nothing is left, unless ``raw``.
        """

    def lines(self, group: Group) -> Expression:
        """The lines of JSONL files as they are, in the column ``annotate_line``; those that are no JSON are null."""

    def unread(self, group: Group, columns: Sequence[str]) -> dict[str, int]:
        """Records that the engine leaves out of `read` because they are not readable, by file."""

    def columns(self, name: str) -> tuple[str, ...] | None:
        """Those of a table of the engine's own, None where there is none of that name."""

    def table(self, name: str, columns: Sequence[str]) -> Expression:
        """These columns of such a table."""

    def parts(self, name: str) -> Iterator[Expression]:
        """All columns of such a table: some rows after others, each good until the next are asked for."""

    def run(self, expression: Expression) -> Any:
        """The rows of an expression as a pyarrow table. Raises EngineError."""

    def done(self) -> tuple[int, int] | None:
        """How much of what is running is done, of how much; None where that is not known."""

    def close(self) -> None:
        """Give everything back."""


def open_engine(name: str = DEFAULT, options: Mapping[str, str] | None = None) -> Engine:
    """The engine that was named: ``duckdb``, ``duckdb:///FILE``, ``spark://HOST:PORT`` or ``local[N]`` (Spark in here),
    or any other connection that ibis takes (``sqlite:///FILE``, ``postgres://USER@HOST/DB``), for its tables.

    ``options`` are the engine's own settings. Raises EngineError where there is no such engine, or it does not answer.
    """
    chosen = dict(options or {})
    family = "spark" if name.startswith(("spark://", "local[")) or name == "local" else name.partition(":")[0]
    if family not in _EXTRAS and "://" not in name:
        hint = (
            "Engines: duckdb, duckdb:///FILE.duckdb, spark://HOST:PORT, local[2], or a connection: sqlite:///FILE.db."
        )
        raise EngineError("There is no such engine to count with.", hint)
    try:
        if family not in _EXTRAS:
            from annotate.counting.connection_engine import ConnectionEngine

            return ConnectionEngine(name, chosen)
        if family == "spark":
            from annotate.counting.spark_engine import SparkEngine

            return SparkEngine(name, chosen)
        from annotate.counting.duckdb_engine import DuckDBEngine

        return DuckDBEngine(name.removeprefix("duckdb").removeprefix("://"), chosen)
    except ModuleNotFoundError as error:
        from annotate.installing import how_to_add

        missing = (error.name or "").partition(".")[0]
        hint = f"Install it with: {how_to_add(_EXTRAS.get(family, DEFAULT))}"
        raise EngineError(f"Counting with {family} needs {missing}, which is not installed.", hint) from None


def told(error: Exception, *secrets: str) -> str:
    """The first line of an engine's error, without the connection that it was given."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    for secret in sorted(secrets, key=len, reverse=True):
        line = line.replace(secret, "…") if secret else line
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
