"""Chat-style responses, JSONL or JSON: messages with roles, the assistant's last one being the response.

Besides ``messages`` (or ``conversations``) a record can name its id, its model and other columns; these are mapped as
in a table: ``map=annotator_1=coder.Ann,category=stratum.category``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from annotate.importers.base import Request, Rows
from annotate.importers.conversation import exchange, turns
from annotate.importers.each import each_record
from annotate.importers.records import ReadOptions, Record, kind_of, read_records
from annotate.importers.shape import need
from annotate.importers.tally import Tally
from annotate.recipes.compiled import Joined
from annotate.recipes.parse import check_fields, parse_map
from annotate.recipes.rows import Mapper
from annotate.recipes.spec import Expression, FieldRule, Recipe, TableOptions
from db.records import ImportRow

_MESSAGES = ("messages", "conversations", "conversation")
_FOUND = {"question": "question", "context": "context", "response": "response", "reason": "reason"}
_USUAL = {"item": ("id", "item", "item_id", "question_id"), "model": ("model",)}


class ChatImporter:
    name = "chat"
    title = "chat messages with roles (JSONL or JSON)"
    protocol = ""
    options: Mapping[str, str] = {
        "map": "further columns: column=field,…",
        "model": "the model, where no column says it",
    }

    def recognises(self, path: Path, start: bytes) -> bool:
        if path.is_dir() or start.startswith((b"PK", b"PAR1")):
            return False
        said = b'"role"' in start or b'"from"' in start
        return said and any(f'"{name}"'.encode() in start for name in _MESSAGES)

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        for source, path in enumerate(tally.paths):
            build = _Build(request, source)
            yield from each_record(read_records(path, ReadOptions(kind=kind_of(path))), tally, source, build)


class _Build:
    """Turns a record's messages into columns, and maps these and the record's own."""

    def __init__(self, request: Request, source: int) -> None:
        self._request, self._source = request, source
        self._mapper: Mapper | None = None

    def __call__(self, record: Record) -> Iterator[ImportRow]:
        name = next((name for name in _MESSAGES if name in record.data), "messages")
        found = exchange(turns(need(record.data, name, list)))
        rest = {column: value for column, value in record.data.items() if column != name}
        columns = {
            "question": found.question,
            "context": found.context,
            "response": found.response,
            "reason": found.thought,
        }
        joined = Record(record.row, {**rest, **columns})
        mapper = self._mapper = self._mapper or Mapper(self._recipe(rest))
        yield from mapper.rows(Joined(joined, {}, {}, {None: self._source}))

    def _recipe(self, rest: Mapping[str, object]) -> Recipe:
        rules = {rule.target: rule for rule in parse_fields(self._request.option("map"))}
        for target, column in _FOUND.items():
            rules.setdefault(target, FieldRule(target, Expression(column=column)))
        for target, usual in _USUAL.items():
            named = next((name for name in usual if name in rest), None)
            if named is not None:
                rules.setdefault(target, FieldRule(target, Expression(column=named)))
        if self._request.option("model"):
            rules["model"] = FieldRule("model", Expression(const=self._request.option("model")))
        check_fields(rules.values())
        return replace(_EMPTY, fields=tuple(rules.values()))


def parse_fields(text: str) -> tuple[FieldRule, ...]:
    """Further columns; question and response come from the messages and need not be among them."""
    if not text:
        return ()
    own = ",question=question,response=response"
    return tuple(rule for rule in parse_map(text + own) if rule.target not in ("question", "response"))


_EMPTY = Recipe("chat", "chat messages", "*", (), TableOptions(), ReadOptions())
IMPORTER = ChatImporter()
