"""Which parts make up which document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.reports.changed_part import changed_part
from annotate.reports.conduct_part import conduct_part
from annotate.reports.document import Document
from annotate.reports.errors_part import attempts_part, errors_part
from annotate.reports.flow_part import flow_part
from annotate.reports.impact_part import impact_part
from annotate.reports.judges_part import judges_part
from annotate.reports.methods_part import checklist_part, methods_part
from annotate.reports.people_part import people_part
from annotate.reports.pieces import Pieces
from annotate.reports.provenance_part import provenance_part
from annotate.reports.scores_part import oneself_part, scores_part
from annotate.reports.study_part import checks_part, head_part, sample_part, short_part


def report_document(results: Mapping[str, Any]) -> Document:
    """The whole report: findings first, then each of them in full, then how they came about, then the checks."""
    pieces = Pieces(results)
    parts = (
        *(head_part, short_part, changed_part),
        *(people_part, oneself_part),
        *(judges_part, scores_part, attempts_part, errors_part, impact_part),
        *(sample_part, flow_part, conduct_part, checks_part, methods_part, checklist_part, provenance_part),
    )
    return Document(tuple(block for part in parts for block in part(pieces)), results)


def agreement_document(results: Mapping[str, Any]) -> Document:
    """Agreement between people and with the judges."""
    pieces = Pieces(results)
    parts = (head_part, short_part, people_part, judges_part, checks_part)
    return Document(tuple(block for part in parts for block in part(pieces)), results)


def impact_document(results: Mapping[str, Any]) -> Document:
    """Score impact alone; ``results`` holds it under ``impact``."""
    return Document(tuple(impact_part(Pieces(results))), results)
