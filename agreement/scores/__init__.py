"""Scores of a benchmark, computed from totals of per-record features. `base` says what a score is.

Names load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agreement.scores.base import Ratio as Ratio
    from agreement.scores.base import Scope as Scope
    from agreement.scores.base import Score as Score
    from agreement.scores.declared import declared_scores as declared_scores
    from agreement.scores.declared import ehq_scores as ehq_scores
    from agreement.scores.declared import search_facts as search_facts
    from agreement.scores.declared import search_scores as search_scores
    from agreement.scores.ehq import BalancedEhq3 as BalancedEhq3
    from agreement.scores.ehq import Ehq as Ehq
    from agreement.scores.ehq import calibration_bins as calibration_bins
    from agreement.scores.nas import Reasoned as Reasoned
    from agreement.scores.nas import cues as cues
    from agreement.scores.nas import quadrant as quadrant
    from agreement.scores.nas import temporal_cue as temporal_cue
    from agreement.scores.rates import MeanValue as MeanValue
    from agreement.scores.rates import Rate as Rate
    from agreement.scores.rates import Shares as Shares
    from agreement.scores.searching import Accuracy as Accuracy
    from agreement.scores.searching import NoticingActing as NoticingActing
    from agreement.scores.searching import SearchRate as SearchRate
    from agreement.scores.searching import SixOutcomes as SixOutcomes
    from agreement.scores.within import Within as Within

_HOME = {
    "Accuracy": "searching",
    "BalancedEhq3": "ehq",
    "calibration_bins": "ehq",
    "cues": "nas",
    "declared_scores": "declared",
    "Ehq": "ehq",
    "ehq_scores": "declared",
    "MeanValue": "rates",
    "NoticingActing": "searching",
    "quadrant": "nas",
    "Rate": "rates",
    "Ratio": "base",
    "Reasoned": "nas",
    "Scope": "base",
    "Score": "base",
    "search_facts": "declared",
    "search_scores": "declared",
    "SearchRate": "searching",
    "Shares": "rates",
    "SixOutcomes": "searching",
    "temporal_cue": "nas",
    "Within": "within",
}

__all__ = [
    "Accuracy",
    "BalancedEhq3",
    "Ehq",
    "MeanValue",
    "NoticingActing",
    "Rate",
    "Ratio",
    "Reasoned",
    "Scope",
    "Score",
    "SearchRate",
    "Shares",
    "SixOutcomes",
    "Within",
    "calibration_bins",
    "cues",
    "declared_scores",
    "ehq_scores",
    "quadrant",
    "search_facts",
    "search_scores",
    "temporal_cue",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
