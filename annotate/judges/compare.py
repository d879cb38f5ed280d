"""Judges side by side: with each other, with themselves when asked again, and with themselves in the other order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from annotate.judges.identity import SWAPPED
from db.errors import AnnotateError
from db.judging import JudgingStore
from db.records import MISSING_LABEL


@dataclass(frozen=True, slots=True)
class Share:
    """``k`` of ``n``; ``share`` is None where n is 0, and ``why`` says so."""

    k: int
    n: int

    @property
    def share(self) -> float | None:
        return self.k / self.n if self.n else None

    @property
    def why(self) -> str:
        return "" if self.n else "no response has both labels"


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """A judge's repeats against each other, over the responses with two labels or more.

    ``unanimous``: responses on which all its repeats say the same. ``pairs``: pairs of repeats that agree.
    ``by_label``: of the responses whose first label is this one, how many are unanimous.
    """

    judge: str
    repeats: int
    unanimous: Share
    pairs: Share
    by_label: Mapping[str, Share]


@dataclass(frozen=True, slots=True)
class PairOfJudges:
    """Two judges on the responses that both replied on (repeat 1); ``table`` counts (first's, second's) labels."""

    first: str
    second: str
    agree: Share
    table: Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class OrderCheck:
    """A judge against itself with the order swapped. For a pair, labels of both are those of the unswapped texts.

    ``favours_first``: of the changed ones, those where the text shown first won both times; likewise ``_second``.
    """

    judge: str
    same: Share
    favours_first: int
    favours_second: int
    table: Mapping[tuple[str, str], int]


def self_agreement(store: JudgingStore, name: str) -> SelfAgreement:
    """How often a judge says the same when it is asked again; '(missing)' replies are left out."""
    known = [list(_said(repeats).values()) for repeats in store.labels(name).values()]
    repeated = [labels for labels in known if len(labels) > 1]
    pairs = [a == b for labels in repeated for a, b in combinations(labels, 2)]
    firsts = sorted({labels[0] for labels in repeated})
    by_label = {first: _unanimous([labels for labels in repeated if labels[0] == first]) for first in firsts}
    most = max((len(labels) for labels in known), default=0)
    return SelfAgreement(name, most, _unanimous(repeated), Share(sum(pairs), len(pairs)), by_label)


def _said(repeats: Mapping[int, str]) -> dict[int, str]:
    return {repeat: label for repeat, label in sorted(repeats.items()) if label != MISSING_LABEL}


def _unanimous(rows: Sequence[Sequence[str]]) -> Share:
    return Share(sum(len(set(row)) == 1 for row in rows), len(rows))


def compare_judges(store: JudgingStore, names: Sequence[str] | None = None) -> tuple[PairOfJudges, ...]:
    """Every pair of judges in the study (or of ``names``)."""
    chosen = tuple(names) if names is not None else store.judge_names()
    labels = {name: first_labels(store, name) for name in chosen}
    return tuple(_pair(a, b, labels[a], labels[b]) for a, b in combinations(chosen, 2))


def first_labels(store: JudgingStore, name: str) -> dict[int, str]:
    """The label of repeat 1, where the judge replied."""
    known = store.labels(name).items()
    return {response: repeats[1] for response, repeats in known if repeats.get(1, MISSING_LABEL) != MISSING_LABEL}


def _pair(first: str, second: str, one: Mapping[int, str], two: Mapping[int, str]) -> PairOfJudges:
    table = Counter((one[response], two[response]) for response in one.keys() & two.keys())
    agree = sum(count for (a, b), count in table.items() if a == b)
    return PairOfJudges(first, second, Share(agree, table.total()), dict(sorted(table.items())))


def order_check(store: JudgingStore, name: str) -> OrderCheck:
    """A judge against its swapped twin, which ``--swap`` made; raises AnnotateError where there is none."""
    if store.judge(name + SWAPPED) is None:
        raise AnnotateError(f"The judge {name!r} was not asked in the other order.", "Run it with --swap.")
    pair = _pair(name, name + SWAPPED, first_labels(store, name), first_labels(store, name + SWAPPED))
    first = pair.table.get(("FIRST", "SECOND"), 0)
    second = pair.table.get(("SECOND", "FIRST"), 0)
    return OrderCheck(name, pair.agree, first, second, pair.table)
