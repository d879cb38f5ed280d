"""The majority of several judges as a judge of its own, over their labels as the study maps them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from db.errors import AnnotateError
from db.judging import JudgingStore, StoredReply, Subject
from db.records import MISSING_LABEL, NOT_A_LABEL

NO_MAJORITY = "NO MAJORITY"


class MajorityRule:
    """A label counts when *more than half of all* the judges gave it; else the raw text is NO MAJORITY, no label.

    What is missing or no label is no vote, but its judge still counts in the half. The score is the judges' median
    where all gave one. A response is judged once each of the judges has a row for it.
    """

    kind = "majority"
    version = "1"
    raw_labels: tuple[str, ...] = ()

    def __init__(self, store: JudgingStore, names: Sequence[str]) -> None:
        self._names = tuple(dict.fromkeys(names))
        if len(self._names) < 2:
            raise AnnotateError("A majority needs two judges or more.", "Write --majority A,B,C.")
        for name in self._names:
            if store.judge(name) is None:
                known = ", ".join(store.judge_names()) or "none yet"
                raise AnnotateError(f"There is no judge {name!r} in the study.", f"Its judges: {known}.")
        self._labels = {name: store.labels(name) for name in self._names}
        self._scores = {name: store.scores(name) for name in self._names}

    @property
    def origin(self) -> Mapping[str, object]:
        return {"of": list(self._names)}

    def cannot_judge(self, subject: Subject) -> str:
        lacking = [name for name in self._names if subject.response_id not in self._labels[name]]
        return f"not judged by {lacking[0]} yet" if lacking else ""

    def judge(self, subjects: Sequence[Subject], repeat: int) -> Sequence[StoredReply]:
        return [self._row(subject.response_id, repeat) for subject in subjects]

    def _row(self, response: int, repeat: int) -> StoredReply:
        given = {name: self._given(name, response, repeat) for name in self._names}
        votes = Counter(label for label in given.values() if label not in (MISSING_LABEL, NOT_A_LABEL))
        top, count = votes.most_common(1)[0] if votes else ("", 0)
        raw = top if 2 * count > len(self._names) else NO_MAJORITY
        scores = [self._scores[name][response] for name in self._names if response in self._scores[name]]
        score = float(median(scores)) if len(scores) == len(self._names) else None
        return StoredReply(response, repeat, raw=raw, score=score, extra={"votes": given})

    def _given(self, name: str, response: int, repeat: int) -> str:
        return self._labels[name][response].get(repeat, MISSING_LABEL)
