"""Which parts make up which document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.reports.conduct_part import conduct_part
from annotate.reports.document import Document
from annotate.reports.impact_part import impact_part
from annotate.reports.judges_part import judges_part
from annotate.reports.people_part import people_part
from annotate.reports.pieces import Pieces
from annotate.reports.study_part import checks_part, head_part, sample_part, short_part


def report_document(results: Mapping[str, Any]) -> Document:
    """The whole report: findings first, then how the numbers came about, then each of them, then the checks."""
    pieces = Pieces(results)
    parts = (head_part, short_part, sample_part, conduct_part, impact_part, judges_part, people_part, checks_part)
    return Document(tuple(block for part in parts for block in part(pieces)), results)


def agreement_document(results: Mapping[str, Any]) -> Document:
    """Agreement between people and with the judges."""
    pieces = Pieces(results)
    parts = (head_part, short_part, people_part, judges_part, checks_part)
    return Document(tuple(block for part in parts for block in part(pieces)), results)


def impact_document(results: Mapping[str, Any]) -> Document:
    """Score impact alone; ``results`` holds it under ``impact``."""
    return Document(tuple(impact_part(Pieces(results))), results)
