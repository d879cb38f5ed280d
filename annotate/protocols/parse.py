"""From TOML text to a checked Protocol."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from annotate.protocols.keys import check_keys
from annotate.protocols.rating import parse_rating
from annotate.protocols.scores import parse_scores
from annotate.strict_toml import Table, parse_document
from db.records import MISSING_LABEL, NOT_A_LABEL, Impossible, JudgeRule, LabelRule, Protocol, UnitFilter

_ROOT_KEYS = (
    *("name", "title", "version", "instructions", "label", "rating", "rating_only", "pairwise", "impossible"),
    *("filter", "judge", "score", "skip_reasons", "min_dwell_ms"),
)
_LABEL_KEYS = ("name", "key", "title", "definition", "examples", "edge_cases")
DEFAULT_SKIP_REASONS = ("cannot be judged", "needs expertise that I lack", "in a language that I do not read")
SIDES = ("FIRST", "SECOND")


def parse_protocol(toml_text: str, source: str) -> Protocol:
    """A Protocol from its TOML; ``source`` (a file name or path) is named in every complaint.

    The protocol's name is its ``name`` key, else the file's stem. Raises TomlError, a subclass of AnnotateError.
    """
    root = parse_document(toml_text, source).root()
    root.allow(_ROOT_KEYS)
    rating_only, pairwise = root.flag("rating_only"), root.flag("pairwise")
    labels = _labels(root, rating_only, pairwise)
    names = tuple(label.name for label in labels)
    return Protocol(
        name=root.text("name", Path(source).stem),
        title=root.text("title"),
        version=_at_least(root, "version", 1, 1),
        labels=labels,
        instructions=root.text("instructions", "").strip(),
        digest=hashlib.sha256(toml_text.encode("utf-8")).hexdigest(),
        toml=toml_text,
        rating=parse_rating(root, names, rating_only),
        rating_only=rating_only,
        pairwise=pairwise,
        impossible=tuple(_impossible(table, names) for table in root.tables("impossible")),
        filters=tuple(_filter(table) for table in root.tables("filter")),
        judges=_judges(root, names),
        scores=parse_scores(root, names),
        skip_reasons=root.texts("skip_reasons") or DEFAULT_SKIP_REASONS,
        min_dwell_ms=_at_least(root, "min_dwell_ms", 300, 0),
    )


def _at_least(table: Table, key: str, default: int, least: int) -> int:
    value = table.whole(key, default)
    if value < least:
        table.fail(f"{key!r} is {value}, expected at least {least}.", f"Write {key} = {default}.", key)
    return value


def _labels(root: Table, rating_only: bool, pairwise: bool) -> tuple[LabelRule, ...]:
    pairs = [(_label(table), table) for table in root.tables("label")]
    if rating_only and pairs:
        pairs[0][1].fail("a rating_only protocol asks for no label.", "Remove the [[label]] tables or rating_only.")
    if not rating_only and len(pairs) < 2:
        root.fail("a protocol needs two labels or more.", "Add [[label]] tables, or set rating_only = true.")
    seen: set[str] = set()
    for label, table in pairs:
        if label.name in seen:
            table.fail(f"the label {label.name!r} is there twice.", "Give each label its own name.", "name")
        seen.add(label.name)
    if pairwise and not seen.issuperset(SIDES):
        root.fail("a pairwise protocol needs the labels FIRST and SECOND.", "Name the two sides so.", "pairwise")
    check_keys(pairs)
    return tuple(label for label, _ in pairs)


def _label(table: Table) -> LabelRule:
    table.allow(_LABEL_KEYS)
    name = table.text("name")
    if name in (NOT_A_LABEL, MISSING_LABEL) or name != name.strip():
        table.fail(f"{name!r} cannot be a label's name.", "Use a word such as CORRECT.", "name")
    return LabelRule(
        name=name,
        key=table.text("key").casefold(),
        title=table.text("title", name.replace("_", " ").capitalize()),
        definition=table.text("definition").strip(),
        examples=table.texts("examples"),
        edge_cases=table.texts("edge_cases"),
    )


def _impossible(table: Table, labels: Sequence[str]) -> Impossible:
    table.allow(("label", "field", "values", "reason"))
    values = table.texts("values")
    if not values:
        table.fail("'values' is missing: where is the label impossible?", 'Write values = ["…"].')
    return Impossible(declared(table, "label", labels), table.text("field"), values, table.text("reason"))


def _filter(table: Table) -> UnitFilter:
    table.allow(("field", "values"))
    return UnitFilter(table.text("field"), table.texts("values"))


def _judges(root: Table, labels: Sequence[str]) -> tuple[JudgeRule, ...]:
    judges = root.table("judge")
    if judges is None:
        return ()
    return tuple(_judge(judges, name, labels) for name in judges.data)


def _judge(judges: Table, name: str, labels: Sequence[str]) -> JudgeRule:
    judge = judges.table(name)
    assert judge is not None
    judge.allow(("map",))
    mapping = judge_mapping(judge, labels)
    return JudgeRule(name, mapping, mapping_digest(mapping))


def judge_mapping(judge: Table, labels: Sequence[str]) -> dict[str, str]:
    """``[judge.NAME.map]``: a judge's stripped raw output to a declared label, or to ``(not a label)``."""
    table = judge.table("map")
    if table is None:
        judge.fail(
            "'map' is missing: what does this judge's output mean?", 'Add [judge.NAME.map] with "raw" = "LABEL".'
        )
    for raw in table.data:
        if raw != raw.strip():
            table.fail(f"{raw!r} has blanks around it, but raw labels are stripped.", "Remove the blanks.", raw)
        declared(table, raw, (*labels, NOT_A_LABEL))
    return {raw: table.text(raw) for raw in table.data}


def mapping_digest(mapping: dict[str, str]) -> str:
    """SHA-256 of the canonical JSON of a judge's mapping."""
    canonical = json.dumps(mapping, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def declared(table: Table, key: str, labels: Sequence[str]) -> str:
    """The text under ``key``, refused where it is no declared label."""
    name = table.text(key)
    if name not in labels:
        table.fail(f"{name!r} is not a label of this protocol.", f"Its labels: {', '.join(labels)}.", key)
    return name
