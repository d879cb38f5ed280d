"""Spark: a standalone cluster by its master's address, or threads of this process (``local[N]``)."""

from __future__ import annotations

import os
import re
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any
from urllib.parse import urlsplit

import ibis
import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from annotate.counting.engines import EngineError, told
from annotate.counting.facts import BLANKS, Expression, Tools
from annotate.counting.sources import Group

ANSWER_SECONDS, EXECUTOR_SECONDS = 5.0, 60.0
_BROKEN, _LOG = "_annotate_broken", "spark.log.level"
_SETTINGS = {
    "spark.app.name": "annotate count",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.csv.parser.columnPruning.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    _LOG: "ERROR",
}


@ibis.udf.scalar.builtin(name="btrim")
def _trim(text: str, characters: str) -> str:  # type: ignore[empty-body]
    """Characters taken away from both ends."""


@ibis.udf.scalar.builtin(name="get_json_object")
def _json(text: str, path: str) -> str:  # type: ignore[empty-body]
    """A member of a JSON text, as text."""


@ibis.udf.scalar.builtin(name="xxhash64", signature=(("string", "string", "string", "int64"), "int64"))
def _hash(item, model, condition, repeat):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """64 bits of a key."""


def _member(text: Expression, key: str) -> Expression:
    if "'" in key:
        raise EngineError(f"A field called {key!r} cannot be read inside JSON text by Spark.", "Make it a column.")
    return _json(text, f"$['{key}']")


class SparkEngine:
    """``options`` are Spark's settings, as spark.executor.memory."""

    name = "spark"
    tools = Tools(trim=_trim, json=_member, hash=_hash)

    def __init__(self, master: str, options: Mapping[str, str]) -> None:
        if master.startswith("spark://"):
            _answers(master)
        os.environ.setdefault("PYARROW_IGNORE_TIMEZONE", "1")
        self._session = _session(master, options)
        self._views = 0
        try:
            if master.startswith("spark://"):
                self._wait_for_executors(master)
            self._ibis = ibis.pyspark.connect(self._session)
        except BaseException:
            self._session.stop()
            raise

    def versions(self) -> dict[str, str]:
        return {"spark": pyspark.__version__, "ibis-framework": ibis.__version__}

    def read(self, group: Group, columns: Sequence[str], *, raw: bool = False) -> Expression:
        frame = self._frame(group, columns)
        values = [F.col(_name(each)) for each in columns]
        if group.kind != "parquet":
            values = [F.when(F.col(_BROKEN).isNull(), value) for value in values]
        if not raw:
            texts = {field.name for field in frame.schema.fields if isinstance(field.dataType, StringType)}
            pairs = zip(columns, values, strict=True)
            values = [_stripped(value) if name in texts else value for name, value in pairs]
        chosen = [value.alias(f"c{at}") for at, value in enumerate(values)]
        return self._view(frame.select(*chosen, F.col("_metadata.file_path").alias("file")))

    def lines(self, group: Group) -> Expression:
        frame = self._session.read.text([_literal_path(str(path)) for path in group.files])
        return self._view(
            frame.select(F.col("value").alias("annotate_line"), F.col("_metadata.file_path").alias("file"))
        )

    def unread(self, group: Group, columns: Sequence[str]) -> dict[str, int]:
        return {}

    def columns(self, name: str) -> tuple[str, ...] | None:
        try:
            there = self._session.catalog.tableExists(name)
        except Exception:  # what can be no name of a table
            return None
        return tuple(self._own(name).columns) if there else None

    def table(self, name: str, columns: Sequence[str]) -> Expression:
        return self._own(name).select(*columns)

    def parts(self, name: str) -> Iterator[Expression]:
        yield self._own(name)

    def run(self, expression: Expression) -> Any:
        try:
            return self._session.sql(self._ibis.compile(expression)).toArrow()
        except Exception as error:  # Py4J wraps what the workers say in errors of its own
            raise _fault(error) from None

    def done(self) -> tuple[int, int] | None:
        """Tasks finished and tasks in all, of the stages that run."""
        tracker = self._session.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        known = [stage for stage in stages if stage is not None]
        total = sum(stage.numTasks for stage in known)
        return (sum(stage.numCompletedTasks for stage in known), total) if total else None

    def close(self) -> None:
        self._session.stop()

    def _own(self, name: str) -> Expression:
        schema, _, own = name.rpartition(".")
        return self._ibis.table(own, database=schema or None)

    def _view(self, frame: DataFrame) -> Expression:
        self._views += 1
        view = f"annotate_source_{self._views}"
        try:
            frame.createOrReplaceTempView(view)
            return self._ibis.table(view)
        except PySparkException as error:
            raise _fault(error) from None

    def _frame(self, group: Group, columns: Sequence[str]) -> DataFrame:
        paths = [_literal_path(str(path)) for path in group.files]
        reader = self._session.read
        if group.kind == "parquet":
            return reader.parquet(*paths)
        names = group.columns if group.kind == "csv" else columns
        schema = StructType([StructField(name, StringType()) for name in (*names, _BROKEN)])
        reader = reader.schema(schema).options(mode="PERMISSIVE", columnNameOfCorruptRecord=_BROKEN)
        if group.kind == "jsonl":
            strict = {"allowSingleQuotes": False, "allowUnquotedFieldNames": False}
            return reader.options(**strict).json(paths)
        return reader.options(
            header=True, sep=group.delimiter, quote='"', escape='"', multiLine=True, maxCharsPerColumn=-1
        ).csv(paths)

    def _wait_for_executors(self, master: str) -> None:
        context: Any = self._session.sparkContext
        end = time.monotonic() + EXECUTOR_SECONDS
        while context._jsc.sc().getExecutorMemoryStatus().size() < 2:  # the driver is one
            if time.monotonic() > end:
                message = f"Spark at {_shown(master)} gave no worker within {EXECUTOR_SECONDS:.0f} seconds."
                raise EngineError(message, "Start workers, or ask for less memory and fewer cores.")
            time.sleep(0.1)


def _session(master: str, options: Mapping[str, str]) -> SparkSession:
    """Raises EngineError where Java, or Spark, does not start."""
    builder: Any = SparkSession.builder
    for key, value in (_SETTINGS | dict(options)).items():
        builder = builder.config(key, value)
    with nullcontext() if _LOG in options else _aside():
        try:
            found: SparkSession = builder.master(master).getOrCreate()
        except Exception as error:
            message = f"Spark at {_shown(master)} could not be started ({told(error)})."
            hint = f"Is Java 17 installed, and the master of its version? --engine-option {_LOG}=INFO tells more."
            raise EngineError(message, hint) from None
    return found


@contextmanager
def _aside() -> Iterator[None]:
    """Java, when it starts in here, gets a file that is thrown away for its stderr: it would log over what is shown.

    What goes wrong comes back as an exception.
    """
    try:
        own = os.dup(2)
    except OSError:  # there is no stderr
        yield
        return
    try:
        with tempfile.TemporaryFile() as log:
            os.dup2(log.fileno(), 2)
            yield
    finally:
        os.dup2(own, 2)
        os.close(own)


def _answers(master: str) -> None:
    """Raise EngineError where no address of the master takes a connection."""
    for address in master.removeprefix("spark://").split(","):
        found = urlsplit(f"//{address}")
        try:
            host, port = found.hostname, found.port
        except ValueError:
            host = port = None
        if not host or not port:
            raise EngineError(f"{_shown(master)} is no address of a Spark master.", "Write spark://HOST:PORT.")
        try:
            socket.create_connection((host, port), timeout=ANSWER_SECONDS).close()
            return
        except OSError:
            continue
    raise EngineError(f"Nothing answers at {_shown(master)}.", "Is the master running, and is this its address?")


def _shown(master: str) -> str:
    """An address without user and password."""
    return re.sub(r"//[^@/,]*@", "//", master)


def _fault(error: Exception) -> EngineError:
    text = str(error)
    cause = re.search(r"Caused by: [\w.$]+: ([^\n]+)", text)
    line = cause[1] if cause else told(error)
    return EngineError(f"Spark could not count this: {told(ValueError(line))}", "Check the files and the workers' log.")


def _stripped(value: Column) -> Column:
    return F.nullif(F.btrim(value, F.lit(BLANKS)), F.lit(""))


def _name(value: str) -> str:
    return "`" + value.replace("`", "``") + "`"


def _literal_path(path: str) -> str:
    """A path that Hadoop does not take for a pattern."""
    return re.sub(r"([\\{}\[\]*?,])", r"\\\1", path)
