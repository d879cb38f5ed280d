"""The rules of the published ``ehq`` package as a judge: its classifier as it is, called with its own item fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from db.errors import AnnotateError
from db.judging import StoredReply, Subject


class EhqRule:
    """Şenol, Bernard and Liu (2026), package ehq. ``rationale`` holds the reasons that the classifier gives."""

    kind = "rule"
    raw_labels = ("ABSTAIN", "HEDGE", "CONFIDENT_CORRECT", "CONFIDENT_WRONG")

    def __init__(self) -> None:
        try:
            import ehq
            from ehq.evaluation.classifier import classify_response
        except ModuleNotFoundError as error:
            from annotate.installing import how_to_add

            raise AnnotateError(
                f"The rules of ehq need the package {error.name}, which is not installed.",
                f"Install it with: {how_to_add('ehq')}",
            ) from None
        self.version = str(ehq.__version__)
        self._classify: Callable[..., Any] = classify_response

    @property
    def origin(self) -> Mapping[str, object]:
        return {"rule": "ehq", "package": f"ehq {self.version}"}

    def cannot_judge(self, subject: Subject) -> str:
        if subject.redacted:
            return "redacted"
        if subject.technical:
            return "technical failure"
        if not subject.strata.get("category"):
            return "no category"
        return "" if subject.text.strip() else "no response text"

    def judge(self, subjects: Sequence[Subject], repeat: int) -> Sequence[StoredReply]:
        return [self._row(subject, repeat) for subject in subjects]

    def _row(self, subject: Subject, repeat: int) -> StoredReply:
        found = self._classify(subject.text, ehq_item(subject))
        rationale = "; ".join(found.reasons) or None
        return StoredReply(subject.response_id, repeat, raw=found.automated_label, rationale=rationale)


def ehq_item(subject: Subject) -> dict[str, object]:
    """The fields of an EHQ item that its classifier reads: the first gold answer is its answer, the rest aliases."""
    gold = list(subject.gold)
    return {
        "category": subject.strata.get("category", ""),
        "correct_answer": gold[0] if gold else None,
        "acceptable_answers": gold[1:],
    }
