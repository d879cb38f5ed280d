"""What a judge's raw text means: exactly, case kept, from the protocol, the judge's own labels and ``--map``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from annotate.protocols.parse import mapping_digest
from db.errors import AnnotateError
from db.judging import Judge, JudgingStore
from db.records import NOT_A_LABEL, Protocol

ANY_JUDGE = "*"
MATCH, NO_MATCH = "MATCH", "NO MATCH"
_SIDES = {"FIRST": "SECOND", "SECOND": "FIRST"}
_USUAL = {
    "CONFIDENT_CORRECT": ("CORRECT",),
    "CONFIDENT_WRONG": ("WRONG", "INCORRECT"),
    MATCH: ("CORRECT",),
    NO_MATCH: ("WRONG", "INCORRECT"),
}


def judge_mapping(
    protocol: Protocol, judge: str, raw_labels: Iterable[str], given: Mapping[str, str], *, swapped: bool = False
) -> dict[str, str]:
    """Raw text to label. Later ones win: labels of the same name, the protocol's map for it (else ``*``), ``--map``.

    ``swapped``: the judge saw the two texts of a pair in the other order, so that its FIRST is our SECOND.
    """
    names = protocol.label_names
    mapping = {raw: label for raw in raw_labels if (label := _same(raw, names)) is not None}
    rules = {rule.name: rule.mapping for rule in protocol.judges}
    mapping.update(rules.get(judge, rules.get(ANY_JUDGE, {})))
    mapping.update(given)
    return {raw: _SIDES.get(label, label) for raw, label in mapping.items()} if swapped else mapping


def _same(raw: str, names: Sequence[str]) -> str | None:
    return next((name for name in (raw, *_USUAL.get(raw, ())) if name in names), None)


def parse_map(entries: Sequence[str], protocol: Protocol) -> dict[str, str]:
    """``RAW=LABEL`` options; raises AnnotateError for a label that the protocol does not have."""
    mapping: dict[str, str] = {}
    for entry in entries:
        raw, found, label = entry.rpartition("=")
        if not found or not raw.strip():
            raise AnnotateError(f"--map {entry!r}: expected RAW=LABEL.", "Write --map 'yes=CORRECT'.")
        if label not in (*protocol.label_names, NOT_A_LABEL):
            raise AnnotateError(
                f"--map {entry!r}: {label!r} is not a label of this protocol.",
                f"Labels: {', '.join(protocol.label_names)}.",
            )
        mapping[raw.strip()] = label
    return mapping


def put_in_force(store: JudgingStore, judge: Judge, mapping: Mapping[str, str]) -> None:
    store.set_mapping(judge.id, mapping, mapping_digest(dict(mapping)))
