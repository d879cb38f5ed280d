"""The tables of a study file, read from a new one; what each column means is in study_schema.toml beside this file."""

from __future__ import annotations

import contextlib
import io
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HEAD = """\
# The study file, table by table

Written by `python docs/generate.py` from a new study file, so that it is the schema that the program makes (format
{version}). What the tables are for, how logs are chained and what `annotate verify` proves:
[study-file.md](study-file.md).

Times (`…_utc`) are ISO 8601 with milliseconds and Z. A JSON column holds one object or one list. `id` is a number that
means nothing outside the file; `uid` and `public_id` are random and are what the logs name. All tables are STRICT. Read
a study with any SQLite program; write it with annotate alone, or `annotate verify` will say so.
"""
WORDS = Path(__file__).with_suffix(".toml")
Words = Mapping[str, Mapping[str, str]]


def schema_page() -> str:
    """The whole page, as Markdown. Raises KeyError where a table or a column has no words."""
    from db.study import open_study

    words = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    with (
        tempfile.TemporaryDirectory() as folder,
        open_study(_new_study(Path(folder) / "study.db"), read_only=True) as study,
    ):
        version = study.connection.execute("PRAGMA user_version").fetchone()[0]
        tables = list(_tables(study.connection, words))
    return "\n".join([HEAD.format(version=version), *tables]) + "\n"


def _new_study(path: Path) -> Path:
    from annotate.__main__ import run

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        if run(["init", str(path)]) != 0:
            raise RuntimeError(said.getvalue())
    return path


def _tables(connection: Any, words: Words) -> Iterator[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    for (name,) in connection.execute(query).fetchall():
        yield f"## `{name}`\n\n{words.get(name, {}).get('_') or _missing(name)}\n"
        yield "| column | type | meaning |"
        yield "|---|---|---|"
        for column in connection.execute(f"PRAGMA table_info({name})").fetchall():
            yield _row(connection, name, column, words)
        yield ""
    views = connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall()
    yield from (f"## `{name}` (view)\n\n{words[name]['_']}\n" for (name,) in views)


def _row(connection: Any, table: str, column: Any, words: Words) -> str:
    name, kind, required, key = column[1], column[2], column[3] or column[5], column[5]
    meaning = words[table].get(name) or words["common"].get(name) or _missing(f"{table}.{name}")
    targets = {row[3]: f"{row[2]}.{row[4]}" for row in connection.execute(f"PRAGMA foreign_key_list({table})")}
    marks = [f"→ `{targets[name]}`"] if name in targets else []
    marks += ["key"] if key else [] if required else ["may be empty"]
    return f"| `{name}` | {kind} | {meaning}{' (' + ', '.join(marks) + ')' if marks else ''} |"


def _missing(name: str) -> str:
    raise KeyError(f"{WORDS.name} does not say what {name} is")
