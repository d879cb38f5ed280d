"""Any other connection that ibis takes, as sqlite:///FILE or postgres://USER@HOST/DB: its tables, counted here.

Only DuckDB and Spark can do all that the expression of counting needs (SHA-256, 64-bit hashes, text that may be no
number). So the engine of the connection gives the mapped columns of its table, batch by batch, and DuckDB counts a copy
of them, which lies in a temporary folder: the same cells and the same draw as of files.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import ibis

from annotate.counting.duckdb_engine import DuckDBEngine, quoted, quoted_text
from annotate.counting.engines import EngineError, told
from annotate.counting.facts import Expression
from annotate.counting.sources import Group

BATCH = 100_000
_PART = "annotate_part"
_COPY = "annotate_copy"


class ConnectionEngine(DuckDBEngine):
    """``url`` is what `ibis.connect` takes. ``options`` are DuckDB's settings, which does the counting."""

    def __init__(self, url: str, options: Mapping[str, str]) -> None:
        self._hidden = _secrets(url)
        self.name = urlsplit(url).scheme
        self._remote: Any = _connected(url, self.name, self._hidden)
        try:
            super().__init__("", options)
        except BaseException:
            _disconnect(self._remote)
            raise
        self._execute(f"ATTACH {quoted_text(str(Path(self._spill, 'copy.duckdb')))} AS {_COPY}")
        self._here = self._of = 0

    def versions(self) -> dict[str, str]:
        with self._telling("tell its version"):
            return {self.name: str(self._remote.version), **super().versions()}

    def read(self, group: Group, columns: Sequence[str], *, raw: bool = False) -> Expression:
        raise self._no_files(group)

    def lines(self, group: Group) -> Expression:
        raise self._no_files(group)

    def columns(self, name: str) -> tuple[str, ...] | None:
        table = self._found(name)
        return None if table is None else tuple(table.columns)

    def table(self, name: str, columns: Sequence[str]) -> Expression:
        """A copy of these columns, made here."""
        self._views += 1
        copy = f"{_COPY}.main.{_PART}_{self._views}"
        batches = self._batches(name, columns)
        for at, _ in enumerate(batches):
            made = f"CREATE TABLE {copy} AS" if at == 0 else f"INSERT INTO {copy}"
            self._execute(f"{made} SELECT * FROM {_PART}")
        chosen = ", ".join(quoted(each) for each in columns)
        return self._view(f"SELECT {chosen} FROM {copy}")

    def parts(self, name: str) -> Iterator[Expression]:
        for _ in self._batches(name, self.columns(name) or ()):
            yield self._view(f"SELECT * FROM {_PART}")

    def done(self) -> tuple[int, int] | None:
        if 0 < self._here < self._of:
            return 100 * self._here // self._of, 100
        return super().done()

    def close(self) -> None:
        _disconnect(self._remote)
        super().close()

    def _batches(self, name: str, columns: Sequence[str]) -> Iterator[None]:
        """Each batch of a table, as the table ``annotate_part`` in DuckDB; the first has no rows, but the types."""
        from pyarrow.lib import Table

        table = self._found(name)
        if table is None:
            raise EngineError(f"The table {name!r} is no longer there.", "Did it change meanwhile?")
        with self._telling(f"give the table {name!r}"):
            wanted = table.select(**{each: _portable(table[each]) for each in columns})
            self._here, self._of = 0, int(self._remote.to_pyarrow(table.count()).as_py())
            self._con.register(_PART, wanted.schema().to_pyarrow().empty_table())
        yield
        with self._telling(f"give the table {name!r}"):
            reader = iter(self._remote.to_pyarrow_batches(wanted, chunk_size=BATCH))
        while True:
            with self._telling(f"give the table {name!r}"):
                batch = next(reader, None)
                if batch is None:
                    break
                self._con.register(_PART, Table.from_batches([batch]))
            yield
            self._here += batch.num_rows
        self._here = 0

    def _found(self, name: str) -> Expression | None:
        """The table of the connection, with its schema before a dot or without."""
        with self._telling("list its tables"):
            if name in self._remote.list_tables():
                return self._remote.table(name)
        schema, dot, own = name.rpartition(".")
        if not dot:
            return None
        try:
            return self._remote.table(own, database=schema)
        except Exception:  # each backend says in its own way that there is none
            return None

    def _no_files(self, group: Group) -> EngineError:
        message = f"{group.files[0]}: {self.name} gives its own tables to count, and reads no files."
        return EngineError(message, "Leave out --engine: DuckDB reads them.")

    @contextmanager
    def _telling(self, what: str) -> Iterator[None]:
        """What a connection's driver raises, in one line without the secrets of the connection."""
        try:
            with warnings.catch_warnings():  # what ibis asks of others, and what they call outdated
                warnings.simplefilter("ignore", DeprecationWarning)
                yield
        except EngineError:
            raise
        except Exception as error:
            message = f"{self.name} could not {what} ({told(error, *self._hidden)})."
            raise EngineError(message, "Can it be read with this connection?") from None


def _connected(url: str, name: str, secrets: Sequence[str]) -> Any:
    """Raises EngineError, also where what ibis needs for this kind of connection is not installed."""
    if name == "sqlite" and not Path(urlsplit(url).netloc + urlsplit(url).path).is_file():
        raise EngineError("There is no such SQLite file.", "Write sqlite:///FOLDER/FILE.db.")
    try:
        return ibis.connect(url)
    except ImportError as error:
        cause: Any = error if error.name else error.__cause__ or error.__context__
        missing = (getattr(cause, "name", None) or "its driver").partition(".")[0]
        hint = f"Install it with: pip install 'ibis-framework[{name.replace('postgresql', 'postgres')}]'"
        raise EngineError(f"Counting a table of {name} needs {missing}, which is not installed.", hint) from None
    except Exception as error:
        message = f"{name} could not be connected to ({told(error, *secrets)})."
        raise EngineError(message, "Is the connection written as ibis.connect takes it, and does it answer?") from None


def _portable(value: Expression) -> Expression:
    """A column as Arrow can carry it: what is no plain value, as a UUID or an address, goes as text."""
    kind = value.type()
    plain = (kind.is_primitive(), kind.is_string(), kind.is_decimal(), kind.is_temporal(), kind.is_nested())
    return value if any(plain) or kind.is_json() else value.cast("string")


def _secrets(url: str) -> tuple[str, ...]:
    """The connection, and what in it may be secret: password and parameters."""
    found = urlsplit(url)
    said = [url, found.netloc.rpartition("@")[0], found.password or "", unquote(found.password or "")]
    return (*said, found.query, *(value for _, value in parse_qsl(found.query)))


def _disconnect(remote: Any) -> None:
    try:
        remote.disconnect()
    except Exception:  # it is on its way out, and not every kind of connection can be closed
        return
