"""DuckDB, in this process: in memory, or on one of its files."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb
import ibis

from annotate.counting.engines import EngineError, told
from annotate.counting.facts import BLANKS, Expression, Tools
from annotate.counting.sources import Group

_REJECTED = "annotate_rejected"
_LONGEST = 1 << 25
"""Bytes of the longest JSON line; a quarter of it for a row of CSV. DuckDB keeps room for that in each thread."""


@ibis.udf.scalar.builtin(name="trim")
def _trim(text: str, characters: str) -> str:  # type: ignore[empty-body]
    """Characters taken away from both ends."""


@ibis.udf.scalar.builtin(name="json_extract_string")
def _json(text: str, path: str) -> str:  # type: ignore[empty-body]
    """A member of a JSON text, as text."""


@ibis.udf.scalar.builtin(name="json_valid")
def _valid(text: str) -> bool:  # type: ignore[empty-body]
    """Whether a text is JSON."""


@ibis.udf.scalar.builtin(name="hash", signature=(("string", "string", "string", "int64"), "uint64"))
def _hash(item, model, condition, repeat):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """64 bits of a key."""


def _member(text: Expression, key: str) -> Expression:
    name = key.replace("\\", "\\\\").replace('"', '\\"')
    whole = ibis.ifelse(_valid(text), text, ibis.null("string"))
    return _json(whole, f'$."{name}"')


class DuckDBEngine:
    """``database`` '' is memory. ``options`` are DuckDB's settings, as memory_limit and threads."""

    name = "duckdb"
    tools = Tools(trim=_trim, json=_member, hash=_hash)

    def __init__(self, database: str, options: Mapping[str, str]) -> None:
        self._secrets = (database, *(value for name, value in options.items() if _is_secret(name)))
        self._spill = tempfile.mkdtemp(prefix="annotate-duckdb-")
        settings = {
            "temp_directory": self._spill,
            "autoinstall_known_extensions": "false",
            "preserve_insertion_order": "false",
            **options,
        }
        try:
            self._ibis = ibis.duckdb.connect(database or ":memory:", read_only=bool(database), **settings)
        except (duckdb.Error, TypeError, ValueError) as error:
            shutil.rmtree(self._spill, ignore_errors=True)
            raise EngineError(
                f"DuckDB could not be opened ({told(error, *self._secrets)}).", "Check its options."
            ) from None
        self._con: Any = self._ibis.con
        self._views = 0

    def versions(self) -> dict[str, str]:
        return {"duckdb": duckdb.__version__, "ibis-framework": ibis.__version__}

    def read(self, group: Group, columns: Sequence[str], *, raw: bool = False) -> Expression:
        reader = _reader(group, columns)
        plain = [f"{quoted(each)} AS c{at}" for at, each in enumerate(columns)]
        table = self._view(f"SELECT {', '.join(plain)}, filename AS file FROM {reader}")
        if raw:
            return table
        texts = [name for name in table.columns[:-1] if table[name].type().is_string()]
        clean = ", ".join(f"{_stripped(name) if name in texts else name} AS {name}" for name in table.columns)
        return self._view(f"SELECT {clean} FROM {table.get_name()}")

    def lines(self, group: Group) -> Expression:
        return self._view(f"SELECT json::VARCHAR AS annotate_line, filename AS file FROM {_lines(group)}")

    def unread(self, group: Group, columns: Sequence[str]) -> dict[str, int]:
        if group.kind != "csv":
            return {}
        kept = f"store_rejects = true, rejects_table = '{_REJECTED}', rejects_scan = '{_REJECTED}_scan'"
        for table in (_REJECTED, f"{_REJECTED}_scan"):
            self._execute(f"DROP TABLE IF EXISTS {table}")
        every = " + ".join(f"count({quoted(each)})" for each in columns)
        self._execute(f"SELECT {every} FROM {_reader(group, columns, kept)}")
        rows = self._execute(
            f"SELECT s.file_path, count(DISTINCT r.line) FROM {_REJECTED} r JOIN {_REJECTED}_scan s"
            " USING (scan_id, file_id) GROUP BY ALL"
        )
        return {str(path): int(count) for path, count in rows}

    def columns(self, name: str) -> tuple[str, ...] | None:
        schema, _, own = name.rpartition(".")
        query = (
            "SELECT 1 FROM information_schema.tables WHERE (table_name = ? AND table_schema = current_schema())"
            " OR (table_name = ? AND table_schema = ? AND table_catalog = current_database())"
        )
        found = self._con.execute(query, [name, own, schema]).fetchall()
        return tuple(self._own(name).columns) if found else None

    def table(self, name: str, columns: Sequence[str]) -> Expression:
        return self._own(name).select(*columns)

    def parts(self, name: str) -> Iterator[Expression]:
        yield self._own(name)

    def run(self, expression: Expression) -> Any:
        try:
            sql = self._ibis.compile(expression)
            return self._con.sql(sql).to_arrow_table()
        except (duckdb.Error, ibis.common.exceptions.IbisError) as error:
            raise _fault(error, self._secrets) from None

    def done(self) -> tuple[int, int] | None:
        share = self._con.query_progress()
        return (round(share), 100) if share > 0 else None

    def close(self) -> None:
        self._ibis.disconnect()
        shutil.rmtree(self._spill, ignore_errors=True)

    def _view(self, sql: str) -> Expression:
        self._views += 1
        name = f"annotate_source_{self._views}"
        self._execute(f"CREATE TEMP VIEW {name} AS {sql}")
        try:
            return self._known(name)
        except duckdb.Error as error:
            raise _fault(error, self._secrets) from None

    def _own(self, name: str) -> Expression:
        """A table of the database: one of this name, or of this schema.name."""
        schema, _, own = name.rpartition(".")
        query = "SELECT 1 FROM information_schema.tables WHERE table_name = ? AND table_schema = current_schema()"
        plain = not schema or self._con.execute(query, [name]).fetchall()
        return self._known(name) if plain else self._known(own, schema)

    def _known(self, name: str, schema: str | None = None) -> Expression:
        with warnings.catch_warnings():  # ibis 12 calls what DuckDB 2.0 has given another name
            warnings.simplefilter("ignore", DeprecationWarning)
            return self._ibis.table(name, database=schema)

    def _execute(self, sql: str) -> Any:
        try:
            return self._con.execute(sql).fetchall()
        except duckdb.Error as error:
            raise _fault(error, self._secrets) from None


def _is_secret(name: str) -> bool:
    return any(part in name.lower() for part in ("token", "secret", "password", "key"))


def _fault(error: Exception, secrets: Sequence[str]) -> EngineError:
    hint = "Check the file, or leave it out."
    if isinstance(error, duckdb.OutOfMemoryException):
        hint = "Give it more with --engine-option memory_limit=8GB, or a roomier --engine-option temp_directory=DIR."
    return EngineError(f"DuckDB could not count this: {told(error, *secrets)}", hint)


def _paths(group: Group) -> str:
    return "[" + ", ".join(quoted_text(_literal_path(str(path))) for path in group.files) + "]"


def _lines(group: Group) -> str:
    """The JSON of each line, null where it is none."""
    options = f"filename = true, ignore_errors = true, maximum_object_size = {_LONGEST}"
    return f"read_ndjson_objects({_paths(group)}, {options})"


def _reader(group: Group, columns: Sequence[str], rejects: str = "ignore_errors = true") -> str:
    paths = _paths(group)
    if group.kind == "parquet":
        return f"read_parquet({paths}, filename = true)"
    if group.kind == "jsonl":
        types = "{" + ", ".join(f"{quoted_text(each)}: 'VARCHAR'" for each in columns) + "}"
        return (
            f"read_json({paths}, format = 'newline_delimited', columns = {types}, filename = true, "
            f"ignore_errors = true, maximum_object_size = {_LONGEST})"
        )
    types = "{" + ", ".join(f"{quoted_text(each)}: 'VARCHAR'" for each in group.columns) + "}"
    return (
        f"read_csv({paths}, auto_detect = false, header = true, delim = {quoted_text(group.delimiter)}, quote = '\"', "
        f"escape = '\"', columns = {types}, filename = true, max_line_size = {_LONGEST // 4}, "
        f"buffer_size = {_LONGEST}, {rejects})"
    )


def _stripped(name: str) -> str:
    """Blanks at both ends go, and what is empty then is null. Most texts begin and end in ASCII that is none: fast."""
    inner = f"{name} >= '!' AND {name} < chr(127) AND right({name}, 1) >= '!' AND right({name}, 1) < chr(127)"
    return f"CASE WHEN {inner} THEN {name} ELSE nullif(trim({name}, {quoted_text(BLANKS)}), '') END"


def quoted_text(value: str) -> str:
    """A text as a literal of SQL."""
    return "'" + value.replace("'", "''") + "'"


def quoted(value: str) -> str:
    """A name as SQL takes any."""
    return '"' + value.replace('"', '""') + '"'


def _literal_path(path: str) -> str:
    """A path that DuckDB does not take for a pattern."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in path)
